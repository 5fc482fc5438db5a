//! Tests what the drive does about each kind of failure, in small exact scenarios.
//!
//! Drives without and with parity hold bytes. Every byte that is read is compared with what was
//! written, and every read that ends without data must lie in what the drive tells as lost.

use std::collections::BTreeSet;
use std::ops::Range;
use tailcut_core::address::{Lpn, Ppa};
use tailcut_core::device::config::DeviceConfig;
use tailcut_core::device::{Device, InMemory, OpKind, StepEvent};
use tailcut_core::ftl::config::CopyMode;
use tailcut_core::ftl::map::Mapping;
use tailcut_core::nand::errors::config::{CODEWORD, ErrorsConfig};
use tailcut_testkit::Host;
use tailcut_testkit::rig::{NEVER, Rig, UNIT, both, never, rows, stripes, traffic, with};
use tailcut_testkit::swarm::member;
use tailcut_units::{HostOp, SimTime, Span, Status};

/// The place of unit 0 after it is written and flushed on a drive without faults.
fn next_place(config: &DeviceConfig) -> (u32, u32, u32, u32) {
    let mut rig = Rig::new(&never(config.clone()));
    rig.write(0, 7);
    rig.flush();
    rig.place(0)
}

#[test]
fn a_failed_program_is_made_again_elsewhere_and_its_block_is_retired() {
    for (name, config) in both() {
        let (die, plane, block, page) = next_place(&config);
        let mut rig = Rig::new(&with(config, &[format!("program={die}.{plane}.{block}.{page}")]));
        assert_eq!(rig.write(0, 7), Status::Ok, "{name}");
        assert_eq!(rig.flush(), Status::Ok, "{name}");
        let c = rig.device.counters();
        assert_eq!(c.program_failures, 1, "{name}");
        assert_ne!(rig.place(0), (die, plane, block, page), "{name}");
        rig.read_right(0);
        // The extent is emptied, and no spare block can replace the bad one.
        let extent = (0..rig.device.shape().layout.extents())
            .find(|&x| {
                let (lane, index) = rig.device.shape().layout.lane_of(x);
                let planes = rig.device.shape().layout.planes_of(lane);
                index == block && planes.contains(&(die * rig.device.shape().layout.planes + plane))
            })
            .expect("the block is in an extent");
        let (grown, spare, retired) = rig.blocks();
        let each = u64::from(rig.device.shape().layout.blocks_per_extent());
        assert_eq!((grown, spare, retired), (1, each - 1, 1), "{name}");
        // It is never programmed again.
        rig.churn(20_000, |d| d.counters().erases > 200);
        assert!(rig.is_empty(extent), "{name}");
        assert_eq!(rig.read_all(), 0, "{name}");
        assert_eq!(rig.device.counters().program_failures, 1, "{name}");
    }
}

#[test]
fn a_bad_block_is_replaced_while_there_are_spares_and_then_retired() {
    // Plane 1 of die 0 has two factory-bad blocks, so that plane 0 has two spare blocks: a third
    // bad block there takes its extent out of use.
    let mut faults = vec!["bad=0.1.3".to_string(), "bad=0.1.9".to_string()];
    faults.extend([2, 4, 6].map(|block| format!("erase=0.0.{block},cycle=1")));
    let mut rig = Rig::new(&with(rows(), &faults));
    assert_eq!(rig.blocks(), (0, 2, 0));
    rig.churn(60_000, |d| d.counters().erase_failures == 3);
    let c = rig.device.counters().clone();
    assert_eq!((c.blocks_replaced, rig.blocks()), (2, (3, 1, 1)), "the other plane's block is a spare");
    assert_eq!(rig.read_all(), 0);
    assert_eq!(rig.device.read_only_since(), None);

    // Extents of one block have no spares: every bad block is an extent less.
    let mut rig = Rig::new(&with(stripes(), &["erase=1.1.4".to_string(), "erase=2.0.5,cycle=2".to_string()]));
    rig.churn(60_000, |d| d.counters().erase_failures == 2);
    assert_eq!((rig.device.counters().blocks_replaced, rig.blocks()), (0, (2, 0, 2)));
    assert_eq!(rig.read_all(), 0);
}

#[test]
fn a_page_that_cannot_be_read_once() {
    for (name, config) in both() {
        let parity = name == "stripes";
        let text = Rig::new(&never(config.clone())).page_text(5);
        let direct = Rig::new(&never(config.clone())).read_right(5);
        let mut rig = Rig::new(&with(config, &[format!("{text},once")]));
        let first = if parity { rig.read_right(5) } else { rig.read_lost(5) };
        assert_eq!(rig.device.counters().read_failures, 1, "{name}");
        if parity {
            assert!(first.latency > direct.latency + 3_000, "{name}: {first:?}");
            // The read that has failed took as long as one that succeeds.
            let interface = 900 + 1_100 + 500 + 1_280;
            assert_eq!(first.retried, direct.latency - interface, "{name}");
            assert_eq!(rig.device.counters().rebuilt_units, 1);
        }
        let again = rig.read_right(5);
        assert_eq!((again.latency, again.retried), (direct.latency, 0), "{name}");
        assert_eq!(rig.device.lost_ranges(), [], "{name}");
        assert_eq!(rig.device.copies().lost_units(), 0, "{name}");
    }
}

/// Reads of two planes, all of whose pages need a second sense. One page cannot be read: the other of its read is sensed
/// again all the same.
#[test]
fn a_fault_of_one_plane_leaves_the_retries_of_the_others() {
    let mut config = rows();
    config.errors = Some(ErrorsConfig::alike());
    (config.ecc.codeword, config.policy.read_retry) = (CODEWORD, member("retry-one"));
    config.age.retention = Some(Span(90 * 86_400_000_000_000));
    let row = u64::from(config.geometry.planes) * config.geometry.page * u64::from(config.geometry.dies());
    let senses = |faults: &[String]| {
        let mut host = Host::new(&with(config.clone(), faults));
        host.device.fill(4 * row);
        for at in 0..4 {
            host.submit(at * 10_000_000, HostOp::Read, at * row, row as u32);
        }
        host.drain();
        let failed = host.done.iter().filter(|d| d.status != Status::Ok).count();
        (host.device.flash_counters().senses.clone(), failed)
    };
    let pages = 4 * row / config.geometry.page;
    let (all, failed) = senses(&[NEVER.to_string()]);
    assert_eq!((all.uncorrectable, all.again, failed), (pages, pages, 0), "{all:?}");
    let (others, failed) = senses(&["page=0.1.0.0".to_string()]);
    assert_eq!((others.uncorrectable, others.again, failed), (pages, pages - 1, 1), "{others:?}");
}

#[test]
fn a_page_that_cannot_be_read_until_it_is_erased() {
    let lpn = 5;
    // Without parity its unit is lost until it is overwritten.
    let text = Rig::new(&never(rows())).page_text(lpn);
    let mut rig = Rig::new(&with(rows(), std::slice::from_ref(&text)));
    for _ in 0..3 {
        rig.read_lost(lpn);
        let lost = rig.device.lost_ranges();
        assert!(lost.iter().any(|r| r.contains(&(u64::from(lpn) * UNIT))), "{lost:?}");
    }
    assert_eq!(rig.device.counters().media_errors, 3);
    let lost = rig.read_all();
    assert_eq!(lost, 2, "a page of the row has two units");
    assert_eq!(rig.write(lpn, 9), Status::Ok);
    rig.read_right(lpn);
    rig.flush();
    rig.read_right(lpn);
    assert_eq!(rig.read_all(), 1);

    // With parity it is computed, and then rewritten elsewhere.
    let direct = Rig::new(&never(stripes())).read_right(lpn);
    let text = Rig::new(&never(stripes())).page_text(lpn);
    let mut rig = Rig::new(&with(stripes(), &[text]));
    let before = rig.ppa(lpn);
    let first = rig.read_right(lpn);
    assert!(first.latency > direct.latency && first.retried > 0, "{first:?}");
    assert_eq!((rig.device.counters().rebuilt_units, rig.device.counters().stripes_rewritten), (1, 1));
    assert_eq!((rig.device.copies().lost_units(), rig.device.lost_ranges()), (0, vec![]));
    assert_ne!(rig.ppa(lpn), before);
    let again = rig.read_right(lpn);
    assert_eq!((again.retried, rig.device.counters().rebuilt_units), (0, 1));
    assert_eq!(rig.read_all(), 0);
}

#[test]
fn a_page_that_cannot_be_read_after_many_reads() {
    for (name, config) in both() {
        let text = Rig::new(&never(config.clone())).page_text(5);
        let mut rig = Rig::new(&with(config, &[format!("{text},reads=4")]));
        for read in 0..4 {
            assert_eq!(rig.read_right(5).retried, 0, "{name}: read {read}");
        }
        match name {
            "rows" => rig.read_lost(5),
            _ => rig.read_right(5),
        };
        assert_eq!(rig.device.counters().read_failures, 1, "{name}");
    }
}

#[test]
fn two_unreadable_members_of_a_stripe_are_lost_and_overwriting_ends_it() {
    let clean = Rig::new(&never(stripes()));
    let texts = [clean.page_text(6), clean.page_text(7)];
    assert_eq!(6 / 3, 7 / 3, "stripes have three data units");
    let mut rig = Rig::new(&with(stripes(), &texts));
    rig.submit(HostOp::Read, 6 * UNIT, 2 * UNIT as u32, &[]);
    let got = rig.drain().remove(0);
    assert_eq!((got.status, got.data.len()), (Status::MediaError, 0));
    assert_eq!(rig.only_loss(), 6 * UNIT..8 * UNIT);
    rig.read_lost(6);
    rig.read_lost(7);
    rig.read_right(8);
    assert_eq!(rig.read_all(), 2);
    rig.write(6, 1);
    rig.flush();
    rig.read_right(6);
    assert_eq!(rig.only_loss(), 7 * UNIT..8 * UNIT);
    rig.read_lost(7);
    rig.write(7, 2);
    rig.flush();
    assert_eq!((rig.device.lost_ranges(), rig.read_all()), (vec![], 0));
}

#[test]
fn a_collection_mends_what_it_cannot_read_or_tells_it_as_lost() {
    let mut controller = stripes();
    controller.ftl.gc.copy = CopyMode::Controller;
    let drives = [("rows", rows()), ("copybacks", stripes()), ("stripes through the controller", controller)];
    for (name, config) in drives {
        let clean = Rig::new(&never(config.clone()));
        // All pages of unit 5's block but one in four: the collection meets some.
        let (die, plane, block, _) = clean.place(5);
        let texts: Vec<String> = (0..config.geometry.pages)
            .step_by(4)
            .map(|page| format!("page={die}.{plane}.{block}.{page}"))
            .collect();
        let mut rig = Rig::new(&with(config, &texts));
        let extent = rig.extent(5);
        let each = rig.device.shape().layout.units_per_extent;
        let start = rig.device.medium().unit(Ppa(extent * each)).expect("it is filled").oob;
        let gone = |d: &Device<(), InMemory>| {
            d.medium().unit(Ppa(extent * each)).is_none_or(|unit| unit.oob != start)
        };
        rig.churn(60_000, gone);
        let c = rig.device.counters().clone();
        assert!(c.read_failures > 0, "{name}: {c:?}");
        let lost = rig.device.lost_ranges();
        if name == "rows" {
            assert!(!lost.is_empty() && c.mended_units == 0, "{name}: {c:?}");
            assert!(rig.read_all() > 0);
        } else {
            assert!(lost.is_empty() && c.mended_units > 0, "{name}: {c:?}");
            assert_eq!(rig.read_all(), 0, "{name}");
        }
    }
}

#[test]
fn a_part_of_a_unit_that_cannot_be_read_is_kept() {
    let text = Rig::new(&never(rows())).page_text(5);
    let mut rig = Rig::new(&with(rows(), &[text]));
    let at = 5 * UNIT;
    assert_eq!(rig.one(HostOp::Write, at + 512, 1024, &[3; 1024]).status, Status::Ok);
    for flushed in [false, true] {
        if flushed {
            assert_eq!(rig.flush(), Status::Ok);
            // Unit 4 is on the same page.
            let lost = [at - UNIT..at + 512, at + 1536..at + UNIT];
            assert_eq!(rig.device.lost_ranges(), lost);
        }
        let part = rig.one(HostOp::Read, at + 512, 1024, &[]);
        assert_eq!((part.status, part.data), (Status::Ok, vec![3; 1024]), "flushed: {flushed}");
        for (from, bytes) in [(0, 512), (1536, 512), (0, 4096), (3584, 512)] {
            let got = rig.one(HostOp::Read, at + from, bytes, &[]);
            assert_eq!((got.status, got.data.len()), (Status::MediaError, 0), "{from}, flushed: {flushed}");
        }
    }
    // With parity the rest is computed.
    let text = Rig::new(&never(stripes())).page_text(5);
    let mut rig = Rig::new(&with(stripes(), &[text]));
    let mut should = rig.should(5);
    should[512..1536].fill(3);
    rig.written.insert(5, should);
    assert_eq!(rig.one(HostOp::Write, at + 512, 1024, &[3; 1024]).status, Status::Ok);
    rig.read_right(5);
    rig.flush();
    rig.read_right(5);
    assert_eq!(rig.read_all(), 0);
}

/// The dead part by its text, and the lanes' planes that it covers.
fn dead_parts(config: &DeviceConfig) -> [(&'static str, Range<u32>); 3] {
    let g = &config.geometry;
    let of_channel = g.dies() / g.channels * g.planes;
    [
        ("plane=1.0@2ms", g.planes..g.planes + 1),
        ("die=1@2ms", g.planes..2 * g.planes),
        ("channel=1@2ms", of_channel..2 * of_channel),
    ]
}

fn is_on(rig: &Rig, ppa: Ppa, planes: &Range<u32>) -> bool {
    let layout = &rig.device.shape().layout;
    layout.planes_of(layout.lane_at(ppa)).any(|plane| planes.contains(&plane))
}

#[test]
fn a_drive_with_parity_keeps_the_data_of_a_dead_plane() {
    // The planes of a die are in different groups here, so a dead die or channel is one plane of each.
    for (text, planes) in dead_parts(&stripes()) {
        let mut config = with(stripes(), &[text.to_string()]);
        config.ftl.over_provisioning = Some(0.6);
        let mut rig = Rig::new(&config);
        let units = rig.units();
        let on = |rig: &Rig| (0..units).filter(|&lpn| is_on(rig, rig.ppa(lpn), &planes)).count();
        assert!(on(&rig) > 0 && rig.device.copies().dead_planes() == 0);
        while rig.device.copies().dead_planes() == 0 {
            rig.step(&mut Vec::new());
        }
        assert_eq!(rig.now, SimTime(2_000_000), "{text}");
        assert_eq!(rig.device.last_death(), Some(rig.now));
        assert_eq!(rig.device.copies().dead_planes(), planes.len() as u32, "{text}");
        assert!(rig.device.copies().lost_units() > 0 && rig.device.lost_ranges().is_empty(), "{text}");
        rig.drain();
        assert_eq!((rig.device.copies().lost_units(), on(&rig)), (0, 0), "{text}");
        assert_eq!(rig.device.read_only_since(), None, "{text}");
        assert_eq!(rig.read_all(), 0, "{text}");
        rig.churn(20_000, |d| d.counters().erases > 100);
        rig.flush();
        assert_eq!((rig.read_all(), on(&rig)), (0, 0), "{text}");
    }
}

/// Two planes of one group die, the first of its lanes last.
#[test]
fn dead_lanes_of_one_group_are_replaced_by_different_lanes() {
    let mut config = never(stripes());
    config.ftl.over_provisioning = Some(0.75);
    let mut rig = Rig::new(&config);
    let stripes = rig.device.shape().stripes.clone().expect("the drive has parity");
    for offset in [2, 0] {
        let plane = stripes.lane(1, offset);
        rig.device.kill_planes(plane..plane + 1).expect("the drive is prepared");
        rig.drain();
        assert_eq!(rig.device.copies().lost_units(), 0, "all is written again");
    }
    assert_eq!(rig.device.read_only_since(), None);
    for stripe in 0..stripes.count {
        let lane = |unit| match rig.device.whereabouts(unit) {
            Mapping::Flash(ppa) => rig.device.shape().layout.lane_at(ppa),
            other => panic!("{unit:?} is at {other:?}"),
        };
        let lanes: BTreeSet<u32> = stripes.members(stripe).map(lane).collect();
        assert_eq!(lanes.len() as u32, stripes.width, "stripe {stripe} lies on the lanes {lanes:?}");
    }
}

#[test]
fn a_drive_without_parity_loses_what_was_on_a_dead_die_and_writes_round_it() {
    for (text, planes) in dead_parts(&rows()) {
        let mut config = with(rows(), &[text.to_string()]);
        config.ftl.over_provisioning = Some(0.7);
        let mut rig = Rig::new(&config);
        // The lane is a die: a dead plane makes it useless.
        let on: Vec<u32> = (0..rig.units()).filter(|&lpn| is_on(&rig, rig.ppa(lpn), &planes)).collect();
        while rig.device.copies().dead_planes() == 0 {
            rig.step(&mut Vec::new());
        }
        rig.drain();
        assert_eq!(rig.device.read_only_since(), None, "{text}");
        assert_eq!(rig.read_all() as usize, on.len(), "{text}");
        for &lpn in &on {
            assert_eq!(rig.write(lpn, 5), Status::Ok);
        }
        rig.flush();
        assert_eq!(rig.device.lost_ranges(), [], "{text}");
        assert_eq!(rig.read_all(), 0, "{text}");
        assert!((0..rig.units()).all(|lpn| !is_on(&rig, rig.ppa(lpn), &planes)), "{text}");
    }
}

#[test]
fn rewriting_is_as_fast_as_it_may_be() {
    let mut took = Vec::new();
    for rate in [None, Some(4_000_000u64), Some(1_000_000)] {
        let mut config = with(stripes(), &["plane=1.0@2ms".to_string()]);
        config.faults.rebuild_rate = rate;
        let mut rig = Rig::new(&config);
        while rig.device.copies().dead_planes() == 0 {
            rig.step(&mut Vec::new());
        }
        let lost = rig.device.copies().lost_units();
        while rig.device.copies().lost_units() > 0 {
            rig.step(&mut Vec::new());
        }
        let ns = (rig.now - SimTime(2_000_000)).0;
        took.push(ns);
        if let Some(rate) = rate {
            let least = (lost - 1) * UNIT * 1_000_000_000 / rate;
            assert!(ns >= least, "{lost} units in {ns} ns, at {rate}");
            assert!(ns < least + least / 10 + 5_000_000, "{lost} units in {ns} ns, at {rate}");
        }
    }
    assert!(took[0] < took[1] && took[1] < took[2], "{took:?}");
}

#[test]
fn a_drive_without_room_reads_on_and_says_so() {
    for (name, config) in both() {
        let blocks = config.geometry.blocks;
        let texts: Vec<String> = (0..blocks).map(|block| format!("erase=0.0.{block}")).collect();
        let mut rig = Rig::new(&with(config, &texts));
        rig.churn(60_000, |d| d.read_only_since().is_some());
        let since = rig.device.read_only_since().expect("it has no room");
        assert!(since <= rig.now && since > SimTime(0), "{name}");
        assert_eq!(rig.device.block_report().expect("blocks can fail").spare_extents, 0, "{name}");
        for op in [HostOp::Write, HostOp::Trim, HostOp::Flush] {
            let bytes = if op == HostOp::Flush { 0 } else { 3 * UNIT as u32 };
            let data = if op == HostOp::Write { vec![1; bytes as usize] } else { vec![] };
            assert_eq!(rig.one(op, 0, bytes, &data).status, Status::ReadOnly, "{name}: {op:?}");
        }
        assert_eq!(rig.device.read_only_since(), Some(since), "{name}");
        assert_eq!(rig.read_all(), 0, "{name}");
        rig.blocks();
    }
}

/// The commands that a drive becomes read-only under, many at once: all of them end.
#[test]
fn nothing_hangs_when_a_drive_becomes_read_only() {
    for (name, mut config) in both() {
        config.faults.erase = Some(0.1);
        for buffered in [true, false] {
            let mut config = config.clone();
            if !buffered {
                if name == "stripes" {
                    continue;
                }
                config.policy.buffer = member("none");
                config.policy.flush = member("immediate");
            }
            let mut host = Host::new(&config);
            host.device.fill(host.device.host_bytes());
            let digest = traffic(&mut host, 1, 60_000, |d| d.read_only_since().is_some());
            assert!(digest.refused > 0 && host.device.read_only_since().is_some(), "{name}");
            let (ended, refused) = (host.done.len(), digest.refused);
            let more = traffic(&mut host, 2, 300, |_| false);
            assert_eq!(host.done.len(), ended + 300, "{name}");
            assert!(more.refused > refused, "{name}");
        }
    }
}

fn run(config: &DeviceConfig, seed: u64, n: u32) -> (Host, u64) {
    let device = Device::new(config, seed, ()).unwrap_or_else(|e| panic!("{e}"));
    let mut host = Host { device, done: Vec::new() };
    host.device.fill(host.device.host_bytes());
    let digest = traffic(&mut host, 7, n, |_| false).digest;
    (host, digest)
}

/// Rates of zero leave a drive that cannot fail. A drive with faults is prepared for them, whether
/// they come true or not:
///
/// - A read keeps its extent from being erased until its data are decoded, and a reconstruction keeps
///   that of its unit: erases may begin later. The drive without parity erases no extent with reads
///   under way here, so nothing differs. On the drive with parity the first difference is an erase.
/// - A drive whose programs can fail keeps a free extent more, and so collects earlier.
#[test]
fn faults_that_never_happen_change_only_when_erases_begin() {
    for (name, config) in both() {
        let mut zero = config.clone();
        let f = &mut zero.faults;
        (f.program, f.erase, f.read, f.page) = (Some(0.0), Some(0.0), Some(0.0), Some(0.0));
        let plain = run(&config, 1, 6_000);
        assert!(plain.0.device.counters().erases > 50, "{name}");
        assert_eq!(run(&zero, 1, 6_000).1, plain.1, "{name}: rates of zero");
        for text in [NEVER, "plane=0.0@1000s", "erase=0.0.3@1000s"] {
            let prepared = with(config.clone(), &[text.to_string()]);
            if name == "rows" {
                let (host, digest) = run(&prepared, 1, 6_000);
                assert_eq!(digest, plain.1, "{name}: {text}");
                assert_eq!(host.device.counters(), plain.0.device.counters(), "{name}: {text}");
                continue;
            }
            let (steps, later) = (steps(&config), steps(&prepared));
            let first = steps.iter().zip(&later).find(|(a, b)| (a.op, a.step, a.at) != (b.op, b.step, b.at));
            let (erase, _) = first.expect("an erase waits for a read to be decoded");
            assert_eq!(erase.kind, OpKind::Erase, "{name}: {text}");
            let begins =
                later.iter().find(|e| e.kind == OpKind::Erase && e.unit == erase.unit && e.at > erase.at);
            assert!(begins.is_some(), "{name}: {text}");
        }
    }
}

/// The steps of all operations of a run.
fn steps(config: &DeviceConfig) -> Vec<StepEvent> {
    let mut host = Host::observed(config, Vec::new());
    host.device.fill(host.device.host_bytes());
    traffic(&mut host, 7, 6_000, |_| false);
    host.device.into_observer()
}

fn failing(mut config: DeviceConfig) -> DeviceConfig {
    let f = &mut config.faults;
    (f.program, f.erase, f.read, f.page) = (Some(0.001), Some(0.001), Some(0.01), Some(0.01));
    config
}

#[test]
fn failures_depend_on_the_seed_alone() {
    for (name, config) in both() {
        let config = failing(config);
        let (host, digest) = run(&config, 1, 6_000);
        let (again, same) = run(&config, 1, 6_000);
        let (_, other) = run(&config, 2, 6_000);
        assert_eq!((digest, host.device.counters()), (same, again.device.counters()), "{name}");
        assert_ne!(digest, other, "{name}");
        let c = host.device.counters();
        assert!(c.program_failures > 0 && c.read_failures > 0, "{name}: {c:?}");
    }
}

/// Commands one after the other: both schedules program the same pages.
#[test]
fn schedules_that_program_the_same_pages_meet_the_same_failures() {
    for (name, mut config) in both() {
        config.faults.program = Some(0.004);
        let failures = |schedule: &str| {
            let mut config = config.clone();
            config.policy.schedule = member(schedule);
            let mut rig = Rig::new(&config);
            rig.churn(600, |d| d.counters().host_units_written == 600);
            rig.flush();
            let places: Vec<Mapping> =
                Lpn(0).run(rig.units()).map(|lpn| rig.device.whereabouts(lpn)).collect();
            (rig.device.counters().program_failures, rig.blocks(), places)
        };
        let fifo = failures("fifo");
        assert!(fifo.0 > 0, "{name}");
        assert!(fifo == failures("read-priority"), "{name}: other failures");
    }
}

#[test]
fn a_run_with_faults_goes_on_after_restoring() {
    for (name, config) in both() {
        let mut config = failing(config);
        config.fault = vec!["plane=1.0@40ms".parse().unwrap()];
        let mut whole = Host::new(&config);
        whole.device.fill(whole.device.host_bytes());
        let (mut failed, mut dead) = (0, 0);
        for part in 0..12 {
            traffic(&mut whole, part, 250, |_| false);
            // Commands are under way.
            for i in 0..8 {
                whole.submit(whole.device.now().0, HostOp::Read, i * 9 * UNIT, UNIT as u32);
            }
            let mut file = Vec::new();
            whole.device.snapshot(&config, 1, &mut file).unwrap();
            let device = Device::restore(&config, 1, (), &mut &file[..]).unwrap();
            device.audit().unwrap_or_else(|e| panic!("{name}: {e}"));
            let mut one = Host { device, done: Vec::new() };
            let before = whole.done.len();
            traffic(&mut one, 100 + part, 250, |_| false);
            traffic(&mut whole, 100 + part, 250, |_| false);
            assert!(whole.done[before..] == one.done[..], "{name}: completions differ");
            assert_eq!(whole.device.counters(), one.device.counters(), "{name}");
            assert_eq!(whole.device.lost_ranges(), one.device.lost_ranges(), "{name}");
            assert_eq!(whole.device.block_report(), one.device.block_report(), "{name}");
            failed = whole.device.counters().program_failures;
            dead = whole.device.copies().dead_planes();
        }
        assert!(failed > 0 && dead > 0, "{name}: {failed}, {dead}");
    }
}
