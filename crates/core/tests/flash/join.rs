//! Operations on several planes of a die that join and are done as one.

use crate::driver::{Act, Stage, account};
use crate::parts::*;
use tailcut_core::address::BusyUnit;
use tailcut_core::flash::{FlashCommand, Joins, Submitted};
use tailcut_units::{Cause, Occupant, Occupants};

/// Parts with dies of `planes` planes, where these kinds join.
fn joining(kinds: &[Occupant], planes: u32) -> Parts {
    Parts::new().joining(kinds, planes)
}

/// Submit a command on each of these planes at one time, for the same page.
fn together(stage: &mut Stage, at: u64, cmd: FlashCommand, planes: &[u32]) -> Vec<usize> {
    planes.iter().map(|&plane| stage.ask(at, on(plane, 0, cmd))).collect()
}

#[test]
fn programs_of_one_moment_and_page_are_one() {
    for occupant in [Occupant::UserProgram, Occupant::GcProgram] {
        let mut stage = Stage::new(&joining(&[occupant], 4));
        let ops = together(&mut stage, 50, of(occupant, 0), &[2, 0, 3]);
        stage.play();
        let said: Vec<Submitted> = ops.iter().map(|&o| stage[o].submitted).collect();
        assert_eq!(said, [Submitted::Gathers, Submitted::Taken, Submitted::Taken]);
        // Three commands, three pages on the channel, one time in the array.
        let end = 50 + 300 + 12_000 + PROGRAM;
        let causes = [("command", 300), ("array", PROGRAM), ("transfer", 12_000)];
        for &op in &ops {
            assert_eq!((stage[op].end(), stage[op].account()), (end, account(&causes)), "{occupant:?}");
        }
        // Events are reported for the first operation.
        assert_eq!(stage[ops[0]].inward, [(50, 12_350)]);
        assert_eq!([1, 2].map(|i| stage[ops[i]].joined), [Some(ops[0]), Some(ops[0])]);
        assert!(stage[ops[1]].inward.is_empty() && stage[ops[1]].grants.is_empty());
        let c = stage.flash.counters();
        assert_eq!((c.operations[occupant as usize], c.planes[occupant as usize]), (1, 3));
        assert_eq!(stage.flash.planes_taken()[0], 3 * PROGRAM);
    }
}

#[test]
fn what_differs_does_not_join() {
    let kinds = [Occupant::UserProgram, Occupant::GcProgram];
    let alone = COMMAND + PAGE + PROGRAM;
    let cases = [
        ("another page", on(1, 2, program(0)), 0),
        ("the same plane", on(0, 0, program(0)), 0),
        ("another kind", by(Occupant::GcProgram, on(1, 0, program(0))), 0),
        ("a kind that joins nothing", by(Occupant::ParityProgram, on(1, 0, program(0))), 0),
        ("another moment", on(1, 0, program(0)), 1),
    ];
    for (what, second, later) in cases {
        let mut stage = Stage::new(&joining(&kinds, 2));
        let (a, b) = (stage.ask(0, on(0, 0, program(0))), stage.ask(later, second));
        stage.play();
        assert_eq!((stage[a].joined, stage[b].joined), (None, None), "{what}");
        assert_eq!((stage[a].end(), stage[b].granted()), (alone, alone), "{what}");
    }
    // Operations of two dies do not join, nor do kinds that are not configured to join.
    let mut stage = Stage::new(&joining(&kinds, 2));
    let ops = [stage.ask(0, on(0, 0, program(0))), stage.ask(0, on(1, 0, program(2)))];
    stage.play();
    assert_eq!(ops.map(|o| (stage[o].submitted, stage[o].end())), [(Submitted::Gathers, alone); 2]);
    let mut stage = Stage::new(&Parts::new());
    let ops = together(&mut stage, 0, program(0), &[0, 1]);
    stage.play();
    assert_eq!((stage[ops[0]].submitted, stage[ops[1]].granted()), (Submitted::Taken, alone));
}

#[test]
fn what_waits_for_a_busy_die_joins_when_its_turn_comes() {
    let mut stage = Stage::new(&joining(&[Occupant::UserProgram], 2));
    stage.ask(0, read(0));
    let a = stage.ask(1_000, on(0, 0, program(0)));
    let between = stage.ask(2_000, of(Occupant::ParityProgram, 0));
    let b = stage.ask(3_000, on(1, 0, program(0)));
    stage.play();
    assert_eq!((stage[b].joined, stage[a].end()), (Some(a), stage[b].end()));
    assert_eq!(stage[between].granted(), READ + 2 * COMMAND + 2 * PAGE + PROGRAM);
    // Each operation is charged its own wait.
    let waits = [a, b].map(|o| stage[o].ledger.get(Cause::die_wait(Occupant::UserRead)));
    assert_eq!(waits, [READ - 1_000, READ - 3_000]);
    assert_eq!(stage[a].submitted, Submitted::Taken, "nothing to begin at the moment's end");
}

#[test]
fn what_comes_in_the_same_moment_as_a_gathering_waits_its_turn() {
    // At the end of the moment both are queued, and the schedule chooses.
    for (name, read_first) in [("fifo", false), ("read-priority", true), ("channel-reads", true)] {
        let parts = Parts::under(name, "never", "never").joining(&[Occupant::UserProgram], 2);
        let mut stage = Stage::new(&parts);
        let (p, r) = (stage.ask(0, program(0)), stage.ask(0, read(0)));
        stage.play();
        let first = if read_first { r } else { p };
        assert_eq!(stage[first].granted(), 0, "{name}");
        assert_eq!(stage[p].granted() == 0, !read_first, "{name}");
    }
    // The die closes in the same moment: no operation begins.
    let mut stage = Stage::new(&joining(&[Occupant::UserProgram], 2));
    let ops = together(&mut stage, 0, program(0), &[0, 1]);
    stage.act(0, Act::Close { unit: BusyUnit(0), erases: false });
    stage.act(9_000, Act::Open { unit: BusyUnit(0), erases: false });
    stage.play();
    assert_eq!((stage[ops[0]].granted(), stage[ops[1]].joined), (9_000, Some(ops[0])));
    assert_eq!(stage[ops[1]].ledger.get(Cause::GC_HOLD), 9_000);
}

#[test]
fn a_plane_that_is_behind_goes_first_and_pages_stay_in_order() {
    let mut stage = Stage::new(&joining(&[Occupant::UserProgram], 2));
    stage.ask(0, read(0));
    // Plane 0 writes pages 4 and 6, plane 1 pages 2, 4 and 6; all of the first type.
    let zero = [4, 6].map(|page| stage.ask(10, on(0, page, program(0))));
    let one = [2, 4, 6].map(|page| stage.ask(20, on(1, page, program(0))));
    stage.play();
    assert_eq!(stage[one[0]].joined, None);
    assert_eq!([one[1], one[2]].map(|o| stage[o].joined), [Some(zero[0]), Some(zero[1])]);
    let (alone, both) = (COMMAND + PAGE + PROGRAM, 2 * COMMAND + 2 * PAGE + PROGRAM);
    assert_eq!(stage[one[0]].granted(), READ);
    assert_eq!(stage[zero[0]].granted(), READ + alone);
    assert_eq!(
        (stage[zero[1]].granted(), stage[one[2]].end()),
        (READ + alone + both, READ + alone + 2 * both)
    );
}

#[test]
fn reads_are_sensed_together_and_come_out_one_after_the_other() {
    let mut stage = Stage::new(&joining(&[Occupant::GcRead], 2));
    let gc = by(Occupant::GcRead, read(0));
    let ops = together(&mut stage, 0, gc, &[0, 1]);
    // Another die requests the channel at about the time when they are sensed.
    let between = stage.ask(150, on(0, 0, read(1)));
    let behind = stage.ask(1_000, read(0));
    stage.play();
    let (a, b) = (&stage[ops[0]], &stage[ops[1]]);
    assert_eq!(b.joined, Some(ops[0]));
    // Two commands, sensed at 20,200; the other die's read from 200 to 20,300.
    assert_eq!((a.inward[0], a.array[0], stage[between].array[0]), ((0, 200), (200, 20_200), (300, 20_300)));
    assert_eq!((a.out, b.out), (Some((20_200, 24_200)), Some((24_200, 28_200))));
    assert_eq!(stage[between].out, Some((28_200, 32_200)));
    let own = [("command", 200), ("array", 20_000), ("transfer", 4_000), ("decode", 500)];
    assert_eq!(a.account(), account(&own));
    assert_eq!(b.account(), account(&[&own[..], &[("channel_wait.gc_read", 4_000)]].concat()));
    // The die is free when the data of the last read are out. That read is reported to hold the die
    // from the start of its transfer.
    assert_eq!((stage[behind].granted(), &b.grants), (28_200, &vec![24_200]));
}

#[test]
fn a_die_is_kept_until_the_last_joined_read_is_out() {
    let parts = Parts::under("read-priority", "never", "never").joining(&[Occupant::GcRead], 2);
    let mut stage = Stage::new(&parts);
    let ops = together(&mut stage, 0, by(Occupant::GcRead, read(0)), &[0, 1]);
    // A host read on the other die, sensed at 22,100, goes before the data of the second read.
    let passes = stage.ask(2_000, read(1));
    let behind = stage.ask(3_000, read(0));
    stage.play();
    assert_eq!(stage[ops[0]].out, Some((20_200, 24_200)));
    assert_eq!((stage[passes].out, stage[ops[1]].out), (Some((24_200, 28_200)), Some((28_200, 32_200))));
    assert_eq!(stage[behind].granted(), 32_200);
    assert_eq!(stage.flash.units_taken()[0], 32_200 + READ);
}

#[test]
fn a_host_read_begins_at_once_and_joins_from_any_place_in_the_queue() {
    let mut stage = Stage::new(&joining(&[Occupant::UserRead], 4));
    let first = stage.ask(0, read(0));
    let queued = [(1, 0), (1, 2), (2, 0), (3, 1), (3, 0)];
    let queued = queued.map(|(plane, page)| stage.ask(10, on(plane, page, read(0))));
    stage.play();
    // An idle die does not wait for other reads of the same moment.
    assert_eq!((stage[first].submitted, stage[first].granted()), (Submitted::Taken, 0));
    let [a, other, b, odd, c] = queued;
    assert_eq!([a, b, c].map(|o| stage[o].joined), [None, Some(a), Some(a)]);
    assert_eq!([other, odd].map(|o| stage[o].joined), [None, None]);
    let sensed = READ + 3 * COMMAND + SENSE;
    assert_eq!(stage[a].granted(), READ);
    let outs = [a, b, c].map(|o| stage[o].out.expect("its data").0);
    assert_eq!(outs, [sensed, sensed + PAGE, sensed + 2 * PAGE]);
    assert_eq!(stage[other].granted(), sensed + 3 * PAGE);
    assert_eq!(stage[odd].granted(), sensed + 3 * PAGE + READ);
}

#[test]
fn operations_of_several_planes_join_reads_where_none_overlaps() {
    let mut stage = Stage::new(&joining(&[Occupant::UserRead], 4));
    stage.ask(0, read(0));
    let wide = |planes: u32| FlashCommand { planes, codewords: 8, ..read(0) };
    let [a, over, b] = [0b0011, 0b0110, 0b1100].map(|planes| stage.ask(10, wide(planes)));
    stage.play();
    assert_eq!([a, over, b].map(|o| stage[o].joined), [None, None, Some(a)]);
    assert_eq!(stage[a].ledger.get(Cause::COMMAND), 4 * COMMAND);
    assert_eq!(stage[b].out.expect("its data").0, READ + 4 * COMMAND + SENSE + 2 * PAGE);
}

#[test]
fn erases_join_over_so_many_planes() {
    for (most, ends) in [(1, [1, 2, 3, 4]), (2, [1, 1, 2, 2]), (4, [1, 1, 1, 1])] {
        let kinds = Occupants::of(&[Occupant::Erase]);
        let parts = Parts { planes: 4, joins: Joins { kinds, erase_planes: most }, ..Parts::new() };
        let mut stage = Stage::new(&parts);
        let ops = together(&mut stage, 0, erase(0), &[0, 1, 2, 3]);
        stage.play();
        let one = u64::from(most) * COMMAND + ERASE;
        let got: Vec<u64> = ops.iter().map(|&o| stage[o].end()).collect();
        assert_eq!(got, ends.map(|n| n * one), "{most}");
    }
}

#[test]
fn what_gives_its_die_back_does_so_with_what_joined_it() {
    let parts = Parts { channels: 1, units: 2, ..Parts::under("read-priority", "never", "never") };
    let mut stage = Stage::new(&parts.joining(&[Occupant::UserProgram], 2));
    // The data for the other die occupy the channel until 4,100.
    stage.ask(0, on(0, 0, program(1)));
    let ops = together(&mut stage, 10, program(0), &[0, 1]);
    let takes = stage.ask(40, read(0));
    // For the same plane and page as one of the two. The two return to the queue in front of it.
    let late = stage.ask(50, on(1, 0, program(0)));
    stage.play();
    assert_eq!(stage[takes].granted(), 40);
    let back = 4_100 + READ;
    assert_eq!((stage[ops[0]].grants.as_slice(), &stage[ops[0]].returned), (&[10, back][..], &vec![40]));
    assert_eq!((stage[ops[1]].joined, stage[late].joined), (Some(ops[0]), None));
    let both = 2 * COMMAND + 2 * PAGE + PROGRAM;
    assert_eq!(stage[late].granted(), back + both);
    // Both programs waited 30 for the channel, and then for the read.
    for &op in &ops {
        let causes = [
            ("command", 200),
            ("array", PROGRAM),
            ("transfer", 2 * PAGE),
            ("die_wait.user_read", back - 40),
            ("channel_wait.user_program", 30),
        ];
        assert_eq!(stage[op].account(), account(&causes));
    }
}

#[test]
fn reads_that_give_their_die_back_are_sensed_together_later() {
    let parts = Parts { channels: 1, units: 2, ..Parts::under("read-priority", "never", "never") };
    let mut stage = Stage::new(&parts.joining(&[Occupant::GcRead], 2));
    stage.ask(0, on(0, 0, program(1)));
    let ops = together(&mut stage, 10, by(Occupant::GcRead, read(0)), &[1, 0]);
    let takes = stage.ask(40, read(0));
    stage.play();
    let back = 4_100 + READ;
    assert_eq!((stage[takes].granted(), stage[ops[0]].returned.as_slice()), (40, &[40][..]));
    assert_eq!((stage[ops[0]].granted(), stage[ops[1]].joined), (back, Some(ops[0])));
    let outs = [0, 1].map(|i| stage[ops[i]].out.expect("its data").0);
    assert_eq!(outs, [back + 200 + SENSE, back + 200 + SENSE + PAGE]);
}
