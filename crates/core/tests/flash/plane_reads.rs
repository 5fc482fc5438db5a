//! Reads on different planes of a die that run side by side (`geometry.plane_reads = "independent"`).

use crate::driver::{Act, Stage, account};
use crate::parts::*;
use tailcut_core::address::BusyUnit;
use tailcut_core::flash::FlashCommand;
use tailcut_units::{Cause, Occupant};

/// Dies of four planes under these members, whose reads run by plane.
fn under(schedule: &str, suspend_erase: &str) -> Parts {
    Parts { planes: 4, plane_reads: true, ..Parts::under(schedule, suspend_erase, "never") }
}

/// A host read of a page of a plane of the first die.
fn read_on(plane: u32) -> FlashCommand {
    on(plane, 0, read(0))
}

/// Time from the grant of a program until its end, on an idle channel.
const WRITE: u64 = COMMAND + PAGE + PROGRAM;

#[test]
fn two_reads_overlap_on_two_planes_and_not_on_one() {
    let mut stage = Stage::new(&under("fifo", "never"));
    let (a, b) = (stage.ask(0, read_on(0)), stage.ask(0, read_on(1)));
    stage.play();
    let own = [("command", COMMAND), ("array", SENSE), ("transfer", PAGE), ("decode", DECODE)];
    assert_eq!((stage[a].array[0], stage[a].out), ((100, 20_100), Some((20_100, 24_100))));
    assert_eq!((stage[a].end(), stage[a].account()), (24_600, account(&own)));
    // The second waits for the channel alone: for the other's command, and for its data.
    assert_eq!(
        (stage[b].granted(), stage[b].array[0], stage[b].out),
        (0, (200, 20_200), Some((24_100, 28_100)))
    );
    let waited = Cause::channel_wait(Occupant::UserRead);
    assert_eq!((stage[b].end(), stage[b].ledger.get(waited)), (28_600, 100 + 3_900));
    let mut all = stage[b].account();
    all.retain(|(name, _)| *name != waited.name());
    assert_eq!(all, account(&own));
    assert_eq!((stage.flash.units_taken()[0], stage.flash.planes_taken()[0]), (28_100, 2 * SENSE));

    for parts in [under("fifo", "never"), Parts { plane_reads: false, ..under("fifo", "never") }] {
        let mut stage = Stage::new(&parts);
        let plane = u32::from(!parts.plane_reads);
        let (_, b) = (stage.ask(0, read_on(0)), stage.ask(0, read_on(plane)));
        stage.play();
        assert_eq!((stage[b].granted(), stage[b].end()), (READ, 2 * READ + DECODE), "{}", parts.plane_reads);
    }
}

#[test]
fn a_read_alone_takes_what_it_takes_otherwise() {
    for page in [0, 1] {
        let ends = [true, false].map(|plane_reads| {
            let mut stage = Stage::new(&Parts { plane_reads, ..under("read-priority", "never") });
            let op = stage.ask(7, on(2, page, read(0)));
            let wide =
                stage.ask(90_000, FlashCommand { planes: 0b1010, codewords: 2 * CODEWORDS, ..read(0) });
            stage.play();
            (stage[op].end(), stage[op].account(), stage[wide].end(), stage[wide].account())
        });
        assert_eq!(ends[0], ends[1]);
    }
}

#[test]
fn a_program_waits_for_all_reads_and_keeps_all_planes() {
    for (schedule, overtakes) in [("fifo", false), ("read-priority", true)] {
        let mut stage = Stage::new(&under(schedule, "never"));
        let (a, b) = (stage.ask(0, read_on(0)), stage.ask(50, read_on(1)));
        let write = stage.ask(60, on(3, 0, program(0)));
        let c = stage.ask(70, read_on(2));
        // These come when the program is in the array.
        let late = [stage.ask(60_000, read_on(0)), stage.ask(60_000, read_on(1))];
        stage.play();
        assert_eq!((stage[a].out, stage[b].out), (Some((20_100, 24_100)), Some((24_100, 28_100))));
        let begins = if overtakes { 32_100 } else { 28_100 };
        assert_eq!(stage[write].granted(), begins, "{schedule}");
        assert_eq!(stage[c].granted(), if overtakes { 70 } else { begins + WRITE }, "{schedule}");
        assert!(late.iter().all(|&op| stage[op].granted() == begins + WRITE), "{schedule}");
        assert_eq!(stage[write].end(), begins + WRITE);
    }
}

#[test]
fn a_read_whose_plane_is_in_use_holds_up_no_other_plane() {
    let mut stage = Stage::new(&under("fifo", "never"));
    stage.ask(0, read_on(0));
    let (b, c) = (stage.ask(10, read_on(0)), stage.ask(20, read_on(1)));
    stage.play();
    assert_eq!((stage[b].granted(), stage[c].granted()), (READ, 20));

    // But nothing goes before an older operation of another kind that waits for the whole die.
    for between in [program(0), erase(0), copyback(0)] {
        let mut stage = Stage::new(&under("fifo", "never"));
        stage.ask(0, read_on(0));
        let b = stage.ask(10, read_on(0));
        let between = stage.ask(15, between);
        let c = stage.ask(20, read_on(1));
        let other = stage.ask(20, by(Occupant::GcRead, read_on(2)));
        stage.play();
        assert_eq!((stage[b].granted(), stage[between].granted()), (READ, 2 * READ));
        let free = stage[between].end();
        assert_eq!((stage[c].granted(), stage[other].granted()), (free, free));
    }
}

#[test]
fn the_planes_of_a_wide_read_are_kept_for_it() {
    let mut stage = Stage::new(&under("fifo", "never"));
    stage.ask(0, read_on(0));
    let wide = stage.ask(10, FlashCommand { planes: 0b011, codewords: 2 * CODEWORDS, ..read(0) });
    let (c, d) = (stage.ask(20, read_on(1)), stage.ask(30, read_on(2)));
    stage.play();
    assert_eq!((stage[wide].granted(), stage[d].granted()), (READ, 30));
    // Two commands, one sense; the data of plane 2 went out before.
    let out = READ + 2 * COMMAND + SENSE;
    assert_eq!(stage[d].out, Some((24_100, 28_100)));
    // Its command waited for these data.
    assert_eq!(stage[wide].out, Some((out + 4_000, out + 12_000)));
    assert_eq!(stage[c].granted(), out + 12_000);
}

#[test]
fn a_read_over_a_suspended_erase_goes_beside_another() {
    let mut stage = Stage::new(&under("read-priority", "arbitrary"));
    let erase = stage.ask(0, erase(0));
    let a = stage.ask(40_000, read_on(0));
    let (b, c) = (stage.ask(50_000, read_on(1)), stage.ask(50_000, read_on(0)));
    stage.play();
    let begins = 40_000 + FALL;
    assert_eq!((stage[a].granted(), stage[b].granted(), stage[c].granted()), (begins, 50_000, begins + READ));
    assert_eq!(stage[b].out, Some((70_100, 74_100)));
    // The third has the last data: a command, a sense, and its transfer.
    let out = begins + 2 * READ;
    assert_eq!(stage[c].out, Some((out - PAGE, out)));
    assert_eq!(stage[erase].resuming[0].0, out, "the erase goes on when all reads have left");

    // Reads that came after the erase was suspended wait, if it serves only those before.
    let mut stage = Stage::new(&under("read-priority", "deferred"));
    let erase = stage.ask(0, crate::parts::erase(0));
    let (a, b) = (stage.ask(40_000, read_on(0)), stage.ask(40_000, read_on(1)));
    let late = stage.ask(COMMAND + LOOP + 50, read_on(2));
    stage.play();
    let begins = COMMAND + LOOP;
    assert_eq!((stage[a].granted(), stage[b].granted()), (begins, begins));
    assert!(stage[late].granted() >= begins + READ + PAGE, "{:?}", stage[late].grants);
    assert_eq!(stage[erase].suspended.len(), 2);
}

#[test]
fn a_waiting_program_is_charged_to_the_first_read_that_is_left() {
    let mut stage = Stage::new(&under("fifo", "never"));
    stage.ask(0, read_on(0));
    stage.ask(10, by(Occupant::GcRead, read_on(1)));
    let write = stage.ask(20, program(0));
    stage.play();
    let account = stage[write].account();
    let charged = |name: &str| account.iter().find(|(n, _)| n == name).map_or(0, |(_, ns)| *ns);
    assert_eq!(charged("die_wait.user_read"), 24_100 - 20);
    assert_eq!(charged("die_wait.gc_read"), 4_000);
    assert_eq!(stage[write].granted(), 28_100);
}

#[test]
fn planes_count_their_own_time() {
    let mut stage = Stage::new(&under("fifo", "never"));
    stage.ask(0, read_on(0));
    stage.ask(0, read_on(3));
    stage.until(10_100);
    assert_eq!(stage.flash.planes_taken()[0], 10_000 + 9_900);
    assert_eq!(stage.flash.units_taken()[0], 10_100);
    stage.play();
}

#[test]
fn a_read_with_channel_priority_takes_its_plane_from_one_that_waits_for_the_channel() {
    let mut stage = Stage::new(&under("read-priority", "never"));
    // A program of the other die has the channel.
    stage.ask(0, program(1));
    let collects = stage.ask(10, by(Occupant::GcRead, read_on(0)));
    let beside = stage.ask(15, by(Occupant::GcRead, read_on(1)));
    let host = stage.ask(20, read_on(0));
    stage.play();
    assert_eq!((stage[collects].grants[0], stage[collects].returned[0]), (10, 20));
    assert_eq!((stage[host].granted(), stage[host].inward[0]), (20, (4_100, 4_200)));
    assert_eq!(stage[collects].granted(), stage[host].out.expect("read").1);
    // The other plane keeps its read.
    assert_eq!((stage[beside].grants.as_slice(), stage[beside].inward[0].0), (&[15][..], 4_200));
}

#[test]
fn gates_hold_for_each_plane() {
    let mut stage = Stage::new(&under("read-priority", "never"));
    stage.ask(0, read_on(0));
    stage.act(10, Act::Close { unit: BusyUnit(0), erases: false });
    let host = stage.ask(20, read_on(1));
    let collects = stage.ask(30, by(Occupant::GcRead, read_on(2)));
    stage.act(5_000, Act::Open { unit: BusyUnit(0), erases: false });
    stage.play();
    assert_eq!((stage[collects].granted(), stage[host].granted()), (30, 5_000));
    // A program that may not begin holds back no read.
    let mut stage = Stage::new(&under("fifo", "never"));
    stage.ask(0, read_on(0));
    stage.ask(10, program(0));
    let host = stage.ask(20, read_on(1));
    stage.act(40, Act::CloseToPrograms(BusyUnit(0)));
    stage.act(60_000, Act::OpenToPrograms(BusyUnit(0)));
    stage.play();
    assert_eq!(stage[host].granted(), 40);
}
