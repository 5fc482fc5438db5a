//! Reads of pages with raw bit errors: which senses follow under each member, and what they take.

use crate::driver::{Act, Stage, account};
use crate::parts::*;
use crate::watch::Watch;
use tailcut_core::address::BusyUnit;
use tailcut_core::flash::{FlashCommand, SenseTotals, Senses};
use tailcut_core::nand::blocks::Past;
use tailcut_core::nand::errors::config::{DecodeUnit, ErrorsConfig, RetryPlace};
use tailcut_core::nand::errors::draw::Errors;
use tailcut_core::policy::read_retry::{
    Aim, FailedView, ReadRetryConfig, ReadRetryPolicy, rif, rp_controller, sentinel, swift_read,
    swift_read_plus, walk,
};
use tailcut_ldpc::{CODEWORD_BITS, Table};
use tailcut_units::{Occupant, Span};

const DAY: u64 = 86_400_000_000_000;
/// Time of a prediction.
const PREDICT: u64 = 2_500;
const RIF: rif::Config =
    rif::Config { deviation: 0.0, predict: Span(PREDICT), threshold: None, overlap: false };
const CONTROLLER: rp_controller::Config =
    rp_controller::Config { deviation: 0.0, predict: Span(PREDICT), threshold: None };

/// A flash whose data have this age. Neither their blocks nor their pages differ, so that with V_REF at its
/// default all pages can be decoded at 3 days (100 errors of a codeword, of the limit of 300) and none at 90
/// (700 errors).
fn parts(retry: ReadRetryConfig, days: u64, iteration: u64) -> Parts {
    parts_of(retry, days, ErrorsConfig { iteration: Span(iteration), ..ErrorsConfig::alike() })
}

/// The same of a flash with these errors.
fn parts_of(retry: ReadRetryConfig, days: u64, config: ErrorsConfig) -> Parts {
    let mut parts = Parts::new();
    parts.ecc.decode = Span(0);
    let retry = ReadRetryPolicy::new(&retry, &parts.context()).expect("a member with legal values");
    let errors = Errors::new(&config, 2, 8, CODEWORD_BITS as u64, 1);
    let senses =
        Senses::new((errors, &config), &Table::shipped(), retry, 0.0, (u64::from(CODEWORDS), 16 * CODEWORDS));
    let past = Past { retention: days * DAY, retention_from: days * DAY, ..Past::default() };
    parts.senses = Some((senses, past));
    parts
}

fn played(parts: &Parts, commands: &[FlashCommand]) -> (Stage, Vec<usize>) {
    let mut stage = Stage::new(parts);
    let mut watch = Watch::new(parts);
    let ids = commands.iter().map(|cmd| stage.ask(0, *cmd)).collect();
    stage.play();
    watch.look(&stage);
    watch.conclude(&stage);
    (stage, ids)
}

fn totals(stage: &Stage) -> SenseTotals {
    stage.flash.counters().senses.clone()
}

/// The totals of this number of reads, one after the other, over all pages of a plane in turn.
fn after_reads(parts: &Parts, reads: u32) -> SenseTotals {
    let mut stage = Stage::new(parts);
    for i in 0..reads {
        stage.ask(stage.now, FlashCommand { block: i % BLOCKS, page: i / BLOCKS % 8, ..read(0) });
        stage.play();
    }
    totals(&stage)
}

#[test]
fn new_data_are_sensed_once_under_every_member() {
    for name in ReadRetryConfig::MEMBERS {
        let (stage, ids) = played(&parts(member(name), 3, 0), &[read(0)]);
        let predict = if ["rif", "rp-controller"].contains(name) { PREDICT } else { 0 };
        assert_eq!(stage[ids[0]].end(), READ + predict, "{name}");
        let mut causes = vec![("command", COMMAND), ("array", SENSE), ("transfer", PAGE)];
        if predict > 0 {
            causes.push(("predict", predict));
        }
        assert_eq!(stage[ids[0]].account(), account(&causes), "{name}");
        assert!(!stage[ids[0]].fails, "{name}");
    }
}

/// Times of a page that fails at the default of V_REF and can be decoded at its optimum.
#[test]
fn old_data_are_sensed_again_as_each_member_says() {
    let sentinel = sentinel::Config {
        hits: 1.0,
        calibrated: 1.0,
        miss: 0.0,
        deviation: 0.0,
        cells: 0.25,
        extra_read: true,
    };
    let inferred = sentinel::Config { extra_read: false, ..sentinel };
    // The optimum is 5.9 steps away. The first entry leaves 400 errors of a codeword, the second 200.
    let walk = walk::Config { stride: 1.5, ..Default::default() };
    // The third entry is the first near the optimum.
    let table = walk::Config { table: vec![0.5, 12.0, 5.5, 5.9], ..walk.clone() };
    let cases = [
        ("none", member("none"), 1, 0, 0, true),
        ("retry-ideal", member("retry-ideal"), 1, 0, 0, false),
        ("retry-one", member("retry-one"), 2, 0, 0, false),
        ("swift-read", member("swift-read"), 2, 0, 0, false),
        ("sentinel", ReadRetryConfig::Sentinel(sentinel), 3, 0, 0, false),
        ("sentinel, inferred", ReadRetryConfig::Sentinel(inferred), 2, 0, 0, false),
        ("walk", ReadRetryConfig::Walk(walk), 3, 0, 0, false),
        ("walk, table", ReadRetryConfig::Walk(table), 4, 0, 0, false),
        ("rp-controller", ReadRetryConfig::RpController(CONTROLLER), 2, 0, PREDICT, false),
        ("rif", ReadRetryConfig::Rif(RIF), 1, 1, PREDICT, false),
        ("rif, overlap", ReadRetryConfig::Rif(rif::Config { overlap: true, ..RIF }), 1, 1, 0, false),
    ];
    for (name, retry, senses, in_die, predict, fails) in cases {
        let (stage, ids) = played(&parts(retry, 90, 0), &[read(0)]);
        let done = &stage[ids[0]];
        let again = senses - 1;
        assert_eq!(done.array.len() as u64, senses, "{name}");
        // Only a quarter of the page crosses the channel if its known cells are asked for.
        let left_out = if name == "sentinel" { PAGE * 3 / 4 } else { 0 };
        assert_eq!(done.end(), senses * READ + in_die * SENSE + predict - left_out, "{name}");
        let all = [
            ("command", COMMAND),
            ("array", SENSE),
            ("transfer", PAGE),
            ("predict", predict),
            ("retry.array", (again + in_die) * SENSE),
            ("retry.transfer", again * (COMMAND + PAGE) - left_out),
        ];
        let causes: Vec<_> = all.into_iter().filter(|&(_, ns)| ns > 0).collect();
        assert_eq!(done.account(), account(&causes), "{name}");
        assert_eq!(done.fails, fails, "{name}");
        let t = totals(&stage);
        assert_eq!((t.pages, t.again, t.in_die), (senses, again, in_die), "{name}");
        assert_eq!((t.needless, t.missed), (0, 0), "{name}");
        let uncorrectable = stage.flash.channel_time().uncorrectable;
        assert_eq!(uncorrectable, (again + u64::from(fails)) * PAGE - left_out, "{name}");
    }
}

#[test]
fn a_table_takes_the_place_of_strides() {
    let new = |table: Vec<f64>| {
        let walk = ReadRetryConfig::Walk(walk::Config { table, ..Default::default() });
        ReadRetryPolicy::new(&walk, &Parts::new().context())
    };
    let aims = |table: Vec<f64>| {
        let policy = new(table).expect("it is legal");
        let aim = move |senses| policy.next(&FailedView { senses }).map(|sense| sense.aim);
        (1..).map_while(aim).collect::<Vec<_>>()
    };
    assert_eq!(aims(vec![0.5, 3.0, 1.0]), [8, 48, 16].map(Aim::Moved));
    assert_eq!(aims(Vec::new()), (1..=30).map(|n| Aim::Moved(16 * n)).collect::<Vec<_>>());
    for table in [vec![0.0; 61], vec![f64::NAN], vec![-1.0], vec![1.0, 100.5], vec![f64::INFINITY]] {
        let refused = new(table).expect_err("it is refused");
        assert!(refused.starts_with("policy.read_retry.walk.table"), "{refused}");
    }
}

/// The page needs three senses. The die begins the third when the second ends, and a fourth that is not needed.
#[test]
fn a_pipelined_walk_senses_while_data_are_transferred() {
    // Decoding takes no time, or the data that fail are in the decoder for longer than a sense takes.
    for (iteration, drop) in [(0, 1_000), (0, 500_000), (5_000, 1_000), (5_000, 500_000)] {
        let walk = walk::Config { stride: 1.5, pipelined: true, drop: Span(drop), ..Default::default() };
        let mut parts = parts(ReadRetryConfig::Walk(walk), 90, iteration);
        parts.ecc.queue = 8;
        let (stage, ids) = played(&parts, &[read(0)]);
        let done = &stage[ids[0]];
        let spent =
            |name: &str| -> u64 { done.account().iter().filter(|(n, _)| n == name).map(|(_, ns)| ns).sum() };
        let (failed, decoded) = (spent("retry.decode") / 2, spent("ecc_queue") + spent("decode"));
        // The first sense is unchanged.
        let second = READ + failed + COMMAND + SENSE;
        let third = second + SENSE.max(PAGE + failed);
        assert_eq!(done.end(), third + PAGE + decoded);
        assert_eq!(done.array.len(), 3, "one sense is dropped");
        assert_eq!(spent("array") + spent("retry.array"), third - READ - 2 * failed - COMMAND - PAGE + SENSE);
        let t = totals(&stage);
        assert_eq!((t.pages, t.again, t.dropped), (3, 2, 1));
        // The die is kept until the fourth sense has ended, or is dropped, after the data of the third are decoded.
        let kept = done.end().max((third + SENSE).min(done.end() + drop));
        assert_eq!(stage.flash.units_taken()[0], kept - failed, "{iteration} {drop}");
        let sensed = stage.flash.planes_taken()[0];
        assert_eq!(sensed, 3 * SENSE + SENSE.min(kept - third), "{iteration} {drop}");
    }
}

/// Further senses of less time have more errors.
#[test]
fn a_shorter_sense_takes_less_time_and_has_more_errors() {
    let of = |shorter: f64, more_errors: f64| {
        let walk = walk::Config { stride: 1.5, shorter, more_errors, ..Default::default() };
        let (stage, ids) = played(&parts(ReadRetryConfig::Walk(walk), 90, 0), &[read(0)]);
        (stage[ids[0]].end(), totals(&stage).pages)
    };
    assert_eq!(of(0.25, 0.0), (3 * READ - 2 * (SENSE / 4), 3));
    // 200 errors of a codeword of 4.5 KiB, and of the limit of 300, after the third sense.
    assert_eq!(of(0.25, 10.0).1, 3);
    assert!(of(0.25, 40.0).1 > 3);
}

/// A codeword that fails takes all iterations, and one that is not decoded none.
#[test]
fn the_decoder_takes_as_long_as_the_errors_need() {
    let limit = 20;
    let first = |retry| {
        let (stage, ids) = played(&parts(retry, 90, 1_000), &[read(0)]);
        let spent =
            |name: &str| stage[ids[0]].account().iter().filter(|(n, _)| n == name).map(|(_, ns)| ns).sum();
        let all: [u64; 3] = ["retry.decode", "decode", "predict"].map(spent);
        all
    };
    let [failed, decoded, _] = first(member("retry-one"));
    // Four codewords follow each other into the decoder every 1,000: the last is decoded after all.
    assert_eq!(failed, 4 * limit * 1_000 - 3_000);
    // 55 errors: two or three iterations.
    assert!((2_000..=4_000).contains(&decoded), "{decoded}");
    let [failed, _, predicted] = first(ReadRetryConfig::RpController(CONTROLLER));
    assert_eq!((failed, predicted), (0, PREDICT));
    let [failed, _, predicted] = first(ReadRetryConfig::Rif(RIF));
    assert_eq!((failed, predicted), (0, PREDICT));
}

/// The pages of a read of two planes, and of two reads that were sensed together, fail one by one.
#[test]
fn pages_fail_one_by_one() {
    // At 16 days about half of the pages fail.
    let some = |cmds: &[FlashCommand], join: bool| {
        let mut parts = parts(member("retry-one"), 16, 0);
        if join {
            parts = parts.joining(&[Occupant::UserRead], 2);
        }
        (0..BLOCKS)
            .flat_map(|block| (0..8).map(move |page| (block, page)))
            .map(|(block, page)| {
                let cmds: Vec<_> = cmds.iter().map(|cmd| FlashCommand { block, page, ..*cmd }).collect();
                let (stage, ids) = played(&parts, &cmds);
                assert!(ids.iter().all(|&id| !stage[id].fails));
                totals(&stage).again
            })
            .collect::<Vec<_>>()
    };
    let wide = FlashCommand { planes: 0b11, codewords: 2 * CODEWORDS, ..read(0) };
    let (one, joined) = (some(&[wide], false), some(&[read(0), on(1, 0, read(0))], true));
    for again in [0, 1, 2] {
        assert!(one.contains(&again), "{again} of two pages: {one:?}");
    }
    // The same pages fail, however they are read together.
    assert_eq!(one, joined);
}

/// Each page meets the same errors in its first sense under every member, and the same in its second one, whoever
/// orders it, at the same V_REF. The time in the decoder tells the errors of the last sense.
#[test]
fn schemes_meet_the_same_errors() {
    let sentinel = sentinel::Config {
        hits: 1.0,
        calibrated: 1.0,
        deviation: 0.0,
        extra_read: true,
        ..Default::default()
    };
    let inferred = sentinel::Config { extra_read: false, ..sentinel.clone() };
    let exact = swift_read::Config { deviation: 0.0 };
    let tracking = swift_read_plus::Config { deviation: 0.0, ..Default::default() };
    // Times in the decoder of all pages, and whether the page was sensed again.
    let played_by = |retry: ReadRetryConfig| {
        // About half of the pages fail.
        let parts = parts(retry, 16, 1_000);
        let pages = (0..BLOCKS).flat_map(|block| (0..8).map(move |page| (block, page)));
        let outcome = |(block, page)| {
            let (stage, ids) = played(&parts, &[FlashCommand { block, page, ..read(0) }]);
            let account = stage[ids[0]].account();
            let decoded = account.iter().find(|(cause, _)| cause == "decode").map(|&(_, ns)| ns);
            let totals = totals(&stage);
            (totals.again + totals.in_die > 0, decoded)
        };
        pages.map(outcome).collect::<Vec<_>>()
    };
    let expected = played_by(member("retry-one"));
    let again = expected.iter().filter(|(again, _)| *again).count();
    assert!((8..24).contains(&again), "{again} of 32 pages fail at first");
    for retry in [
        ReadRetryConfig::SwiftRead(exact),
        ReadRetryConfig::SwiftReadPlus(tracking),
        ReadRetryConfig::Sentinel(sentinel),
        ReadRetryConfig::Sentinel(inferred),
    ] {
        let name = format!("{retry:?}");
        assert_eq!(played_by(retry), expected, "{name}");
    }
    // A predictor that lets all pages pass, and one that lets none.
    for (threshold, all) in [(1024, false), (0, true)] {
        let threshold = Some(threshold);
        for retry in [
            ReadRetryConfig::Rif(rif::Config { threshold, ..RIF }),
            ReadRetryConfig::RpController(rp_controller::Config { threshold, ..CONTROLLER }),
        ] {
            let name = format!("{retry:?}");
            for (got, expected) in played_by(retry).into_iter().zip(&expected) {
                assert!(got.0 || !all, "{name}");
                assert!(got.0 != expected.0 || got.1 == expected.1, "{name}: {got:?}, {expected:?}");
            }
        }
    }
}

/// At the correction limit the predictor errs as it does with the real decoder: `tailcut ldpc predict` has an accuracy
/// of 0.635 there, with 1,500 pages of four codewords.
#[test]
fn predictions_err_as_often_as_with_the_decoder() {
    for retry in [ReadRetryConfig::Rif(RIF), ReadRetryConfig::RpController(CONTROLLER)] {
        let parts = parts(retry, 17, 0);
        let t = after_reads(&parts, 4_000);
        assert!(t.needless > 100 && t.missed > 100 && t.predicted == 4_000, "{t:?}");
        let accuracy = 1.0 - (t.needless + t.missed) as f64 / t.predicted as f64;
        assert!((0.59..0.68).contains(&accuracy), "{accuracy}: {t:?}");
    }
}

/// The first inference of V_REF is right for 83 % of the pages, and the second for 94 %: 1.17 + 0.06 retries.
#[test]
fn sentinel_misses_as_often_as_it_says() {
    let inferred = sentinel::Config { extra_read: false, ..Default::default() };
    let retries =
        after_reads(&parts(ReadRetryConfig::Sentinel(inferred), 90, 0), 4_000).again as f64 / 4_000.0;
    assert!((retries - 1.23).abs() < 0.02, "{retries}");
}

/// Each page of a read infers for itself: of reads of two pages, 1 - 0.83^2 repeat one at least, and 2 x 0.83 x 0.17 one
/// alone.
#[test]
fn each_page_of_a_read_infers_for_itself() {
    let inferred = sentinel::Config { extra_read: false, calibrated: 1.0, ..Default::default() };
    let parts = parts(ReadRetryConfig::Sentinel(inferred), 90, 0);
    let mut stage = Stage::new(&parts);
    let (reads, mut counts) = (3_000u32, [0u32; 3]);
    for i in 0..reads {
        let before = totals(&stage).again;
        let (block, page) = (i % BLOCKS, i / BLOCKS % 8);
        let cmd = FlashCommand { planes: 0b11, codewords: 2 * CODEWORDS, block, page, ..read(0) };
        stage.ask(stage.now, cmd);
        stage.play();
        // Both are sensed a second time; those whose inference was wrong a third time.
        counts[(totals(&stage).again - before - 2) as usize] += 1;
    }
    let share = |n: u32| f64::from(n) / f64::from(reads);
    let (one, two) = (share(counts[1]), share(counts[2]));
    // Three standard errors.
    assert!((one - 0.2822).abs() < 0.025 && (two - 0.0289).abs() < 0.01, "{one}, {two}");
}

/// A read that fails waits before those that came while it was decoded, or behind them.
#[test]
fn a_retry_waits_where_its_place_says() {
    for retry_place in [RetryPlace::Back, RetryPlace::Front] {
        let config = ErrorsConfig { iteration: Span(1_000), retry_place, ..ErrorsConfig::alike() };
        let parts = parts_of(member("retry-one"), 90, config);
        // All fail. The data of the first are in the decoder when the second is sensed; the third waits.
        let mut stage = Stage::new(&parts);
        let ids = [0, 1, 2].map(|page| stage.ask(0, FlashCommand { page, ..read(0) }));
        stage.play();
        let (second, third) = (stage[ids[0]].array[1].0, stage[ids[2]].array[0].0);
        assert_eq!(second < third, retry_place == RetryPlace::Front, "{retry_place:?}: {second}, {third}");
        // The order of arrival holds among reads that are sensed again.
        assert!(stage[ids[1]].array[1].0 < stage[ids[2]].array[1].0, "{retry_place:?}");
    }
}

/// The time in the decoder follows a table by the error rate, of a codeword or of a page.
#[test]
fn the_decoder_takes_the_times_of_a_table() {
    for (decode_unit, share) in [(DecodeUnit::Codeword, 1), (DecodeUnit::Page, 4)] {
        let decode_times = vec![Span(0), Span(254_000 * share)];
        let config = ErrorsConfig { decode_times, decode_unit, ..ErrorsConfig::alike() };
        let (stage, ids) = played(&parts_of(member("retry-one"), 90, config), &[read(0)]);
        let spent = |name: &str| -> u64 {
            stage[ids[0]].account().iter().filter(|(cause, _)| cause == name).map(|(_, ns)| ns).sum()
        };
        // Four codewords follow each other every 1,000: the last of those that fail is decoded after all.
        assert_eq!(spent("retry.decode"), 4 * 254_000 - 3_000, "{decode_unit:?}");
        // 55 errors of some 300.
        assert!((30_000..70_000).contains(&spent("decode")), "{decode_unit:?}: {}", spent("decode"));
    }
}

/// V_REF is tracked by groups of blocks of one plane, and changes once a page is decoded with it.
#[test]
fn swift_read_plus_tracks_by_group() {
    // Groups of three of four blocks: the last block of a plane is alone in its group.
    let tracking = swift_read_plus::Config { deviation: 0.5, group: 3 };
    let parts = parts(ReadRetryConfig::SwiftReadPlus(tracking), 60, 0);
    let of = |plane: u32, block, page| FlashCommand { planes: 1 << plane, block, page, ..read(0) };
    let mut stage = Stage::new(&parts);
    let mut again = Vec::new();
    for (plane, block, page) in [(0, 3, 0), (1, 0, 0), (1, 2, 5), (1, 3, 0), (0, 3, 7), (0, 0, 0), (0, 1, 1)]
    {
        let before = totals(&stage).again;
        let now = stage.now;
        stage.ask(now, of(plane, block, page));
        stage.play();
        again.push(totals(&stage).again - before);
    }
    assert_eq!(again, [1, 1, 0, 1, 0, 1, 0]);
}

/// A read that begins while the data of a page's second sense are in the decoder does not know its V_REF yet.
#[test]
fn swift_read_plus_tracks_what_is_decoded() {
    let tracking = swift_read_plus::Config { deviation: 0.5, group: 3 };
    let parts = parts(ReadRetryConfig::SwiftReadPlus(tracking), 60, 20_000);
    let of = |block| FlashCommand { block, ..read(0) };
    let mut alone = Stage::new(&parts);
    let first = alone.ask(0, of(0));
    alone.play();
    let second_sense = alone[first].array[1].0;
    let mut stage = Stage::new(&parts);
    let first = stage.ask(0, of(0));
    let second = stage.ask(second_sense + 1, of(1));
    stage.play();
    assert!(stage[second].array[0].0 < stage[first].end(), "it is sensed before the first page is decoded");
    assert_eq!(totals(&stage).again, 2);
    stage.ask(stage.now, of(2));
    stage.play();
    assert_eq!(totals(&stage).again, 2);
}

/// V_REF of each plane of a read is tracked when its page is decoded: here one plane at once, and one after a retry.
#[test]
fn swift_read_plus_tracks_planes_apart() {
    let tracking = swift_read_plus::Config { deviation: 0.5, group: 3 };
    let mut stage = Stage::new(&parts(ReadRetryConfig::SwiftReadPlus(tracking), 60, 0));
    let of = |planes: u32, page| {
        let codewords = planes.count_ones() * CODEWORDS;
        FlashCommand { planes, codewords, page, ..read(0) }
    };
    let mut again = Vec::new();
    // The first plane is known then, the second is not.
    for cmd in [of(0b01, 0), of(0b11, 1), of(0b11, 2), of(0b10, 3)] {
        let before = totals(&stage).again;
        stage.ask(stage.now, cmd);
        stage.play();
        again.push(totals(&stage).again - before);
    }
    assert_eq!(again, [1, 1, 0, 0]);
}

/// A pipelined read above a suspended program: the unit is closed and opened while the die senses ahead, other reads
/// get the number of the read while its last sense is being dropped, and the program resumes after all.
#[test]
fn a_pipelined_read_above_a_suspended_program() {
    let walk = walk::Config { stride: 1.5, pipelined: true, drop: Span(500_000), ..Default::default() };
    let old = parts(ReadRetryConfig::Walk(walk), 90, 0);
    let parts =
        Parts { senses: old.senses, ecc: old.ecc, ..Parts::under("read-priority", "never", "inter-phase") };
    let mut stage = Stage::new(&parts);
    let mut watch = Watch::new(&parts);
    let program = stage.ask(0, program(0));
    let first = stage.ask(10_000, read(0));
    let erases = false;
    for (at, act) in [
        (90_000, Act::Close { unit: BusyUnit(0), erases }),
        (95_000, Act::Open { unit: BusyUnit(0), erases }),
    ] {
        stage.act(at, act);
    }
    // The data of the first read are decoded at 102,300: the next ones get its number, on this unit and another.
    let later = [(103_000, 1), (103_000, 0), (104_000, 0)].map(|(at, unit)| stage.ask(at, read(unit)));
    stage.play();
    watch.look(&stage);
    watch.conclude(&stage);
    let end = stage[first].end();
    assert!((98_000..103_000).contains(&end), "{end}");
    assert!(
        stage[later[1]].granted() >= stage[first].array.last().unwrap().1 + SENSE,
        "the sense ahead has ended"
    );
    assert!(later.iter().all(|&read| stage[program].end() > stage[read].end()), "the program resumes last");
    assert_eq!(totals(&stage).dropped, 4);
}
