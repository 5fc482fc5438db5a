//! Programs that are loaded while another is in the array (`geometry.cache_program`).

use crate::driver::{Act, Stage, account};
use crate::parts::*;
use tailcut_core::address::BusyUnit;
use tailcut_units::{Cause, Occupant};

/// Dies with a cache register under these members.
fn under(schedule: &str, suspend_erase: &str) -> Parts {
    Parts { cache_program: true, ..Parts::under(schedule, suspend_erase, "never") }
}

/// Command and data of a program on the channel.
const LOAD: u64 = COMMAND + PAGE;

#[test]
fn the_next_program_is_loaded_while_the_array_programs() {
    let mut stage = Stage::new(&under("fifo", "never"));
    let [a, b, c] = [0, 1, 2].map(|page| stage.ask(0, on(0, 2 * page, program(0))));
    stage.play();
    assert_eq!((stage[a].granted(), stage[a].end()), (0, LOAD + PROGRAM));
    // The second asks for the channel when the data of the first are in.
    assert_eq!((stage[b].cached[0], stage[b].inward[0]), (LOAD, (LOAD, 2 * LOAD)));
    assert_eq!((stage[b].granted(), stage[b].end()), (LOAD + PROGRAM, LOAD + 2 * PROGRAM));
    let own = [
        ("command", COMMAND),
        ("transfer", PAGE),
        ("array", PROGRAM),
        ("die_wait.user_program", LOAD + (PROGRAM - LOAD)),
    ];
    let mut expected = account(&own);
    let mut charged = stage[b].account();
    expected.sort();
    charged.sort();
    assert_eq!(charged, expected);
    // The third is loaded when the second has left the register.
    assert_eq!((stage[c].cached[0], stage[c].end()), (LOAD + PROGRAM, LOAD + 3 * PROGRAM));
    assert_eq!(stage.flash.units_taken()[0], LOAD + 3 * PROGRAM);
    assert_eq!(stage.flash.planes_taken()[0], 3 * PROGRAM);

    let mut stage = Stage::new(&Parts::new());
    let last = [0, 1, 2].map(|page| stage.ask(0, on(0, 2 * page, program(0))))[2];
    stage.play();
    assert_eq!(stage[last].end(), 3 * (LOAD + PROGRAM));
}

#[test]
fn a_program_that_is_still_loading_begins_when_its_data_are_in() {
    let mut stage = Stage::new(&under("fifo", "never"));
    let a = stage.ask(0, program(0));
    // It comes so late that its transfer ends after the program before it.
    let late = LOAD + PROGRAM - 1_000;
    let b = stage.ask(late, on(0, 2, program(0)));
    let c = stage.ask(late, on(0, 4, program(0)));
    stage.play();
    assert_eq!((stage[b].cached[0], stage[b].granted()), (late, stage[a].end()));
    assert_eq!(stage[b].array[0], (late + LOAD, late + LOAD + PROGRAM));
    assert_eq!(stage[b].account(), account(&[("command", COMMAND), ("array", PROGRAM), ("transfer", PAGE)]));
    // The register is free when its data are in the array's.
    assert_eq!(stage[c].cached[0], late + LOAD);

    // The channel is busy: it waits there when the die is free.
    let mut stage = Stage::new(&under("fifo", "never"));
    let a = stage.ask(0, program(0));
    let end = LOAD + PROGRAM;
    let other = stage.ask(end - 1_000, program(1));
    let b = stage.ask(end - 900, on(0, 2, program(0)));
    stage.play();
    assert_eq!((stage[a].end(), stage[other].inward[0].1), (end, end - 1_000 + LOAD));
    assert_eq!((stage[b].cached[0], stage[b].granted()), (end - 900, end));
    assert_eq!(stage[b].inward[0], (end - 1_000 + LOAD, end - 1_000 + 2 * LOAD));
    let waited = stage[b].ledger.get(Cause::channel_wait(Occupant::UserProgram));
    assert_eq!((waited, stage[b].end()), (LOAD - 100, end - 1_000 + 2 * LOAD + PROGRAM));
}

#[test]
fn a_read_waits_for_a_cached_program_and_overtakes_one_that_is_not_sent() {
    // The read comes when the second program is loaded, or while its data are sent.
    for at in [2 * LOAD + 1, LOAD + 1] {
        let mut stage = Stage::new(&under("read-priority", "never"));
        let (a, b) = (stage.ask(0, program(0)), stage.ask(0, on(0, 2, program(0))));
        let host = stage.ask(at, read(0));
        stage.play();
        assert_eq!((stage[a].end(), stage[b].end()), (LOAD + PROGRAM, LOAD + 2 * PROGRAM));
        assert_eq!(stage[host].granted(), stage[b].end(), "at {at}");
        let waited = stage[host].ledger.get(Cause::die_wait(Occupant::UserProgram));
        assert_eq!(waited, LOAD + 2 * PROGRAM - at);
    }
    // The other die has the channel: the program gives its place to the read.
    let mut stage = Stage::new(&under("read-priority", "never"));
    let a = stage.ask(0, program(0));
    stage.ask(LOAD, program(1));
    let b = stage.ask(LOAD + 1, on(0, 2, program(0)));
    let host = stage.ask(LOAD + 2, read(0));
    stage.play();
    assert_eq!((stage[b].cached[0], stage[b].returned[0]), (LOAD + 1, LOAD + 2));
    assert_eq!(stage[host].granted(), stage[a].end());
    assert_eq!(stage[b].granted(), stage[host].out.expect("a read").1);
}

#[test]
fn nothing_that_goes_first_is_overtaken() {
    for first in [read(0), erase(0), copyback(0), by(Occupant::GcRead, read(0))] {
        let mut stage = Stage::new(&under("fifo", "never"));
        stage.ask(0, program(0));
        let between = stage.ask(1, first);
        let b = stage.ask(2, on(0, 2, program(0)));
        stage.play();
        assert!(stage[b].cached.is_empty() && stage[b].granted() >= stage[between].granted());
    }
    // Nothing is loaded beside a read, an erase or a copyback.
    for holder in [read(0), erase(0), copyback(0)] {
        let mut stage = Stage::new(&under("fifo", "never"));
        stage.ask(0, holder);
        let b = stage.ask(1, program(0));
        stage.play();
        assert!(stage[b].cached.is_empty());
    }
}

#[test]
fn programs_on_several_planes_are_loaded_together() {
    let parts = under("fifo", "never").joining(&[Occupant::UserProgram], 2);
    let mut stage = Stage::new(&parts);
    let _ = [0, 1].map(|plane| stage.ask(0, on(plane, 0, program(0))));
    // Both come in one event, while the first pair is in the array.
    let at = 2 * LOAD + 10;
    let next = [0, 1].map(|plane| stage.ask(at, on(plane, 2, program(0))));
    stage.play();
    let end = 2 * LOAD + 2 * PROGRAM;
    assert_eq!(next.map(|op| stage[op].end()), [end, end]);
    assert_eq!((stage[next[0]].cached[0], stage[next[1]].joined), (at, Some(next[0])));
    let waited = next.map(|op| stage[op].ledger.get(Cause::die_wait(Occupant::UserProgram)));
    assert_eq!(waited, [PROGRAM - 10 - 2 * LOAD; 2]);
}

#[test]
fn gates_hold_for_the_register() {
    let unit = BusyUnit(0);
    // A closed die loads no host program, and one that is loaded still runs.
    let mut stage = Stage::new(&under("fifo", "never"));
    let _ = stage.ask(0, program(0));
    stage.act(LOAD + 10, Act::Close { unit, erases: false });
    let host = stage.ask(LOAD + 20, on(0, 2, program(0)));
    let collects = stage.ask(LOAD + 30, by(Occupant::GcProgram, on(1, 2, program(0))));
    stage.act(LOAD + 3 * PROGRAM, Act::Open { unit, erases: false });
    stage.play();
    assert_eq!((stage[collects].cached[0], stage[host].cached.len()), (LOAD + 30, 0));
    assert_eq!(stage[host].granted(), LOAD + 3 * PROGRAM);

    let mut stage = Stage::new(&under("fifo", "never"));
    let _ = stage.ask(0, program(0));
    let host = stage.ask(0, on(0, 2, program(0)));
    stage.act(2 * LOAD + 10, Act::Close { unit, erases: false });
    stage.act(LOAD + 3 * PROGRAM, Act::Open { unit, erases: false });
    stage.play();
    assert_eq!(stage[host].end(), LOAD + 2 * PROGRAM);
}

#[test]
fn a_program_over_a_suspended_erase_runs_alone() {
    let mut stage = Stage::new(&under("read-write-erase", "arbitrary"));
    stage.ask(0, erase(0));
    let [a, b] = [0, 2].map(|page| stage.ask(40_000, on(0, page, program(0))));
    stage.play();
    assert!(stage[a].cached.is_empty() && stage[b].cached.is_empty());
}

/// A queue of N programs with a transfer L and an array time P. Alone each takes L + P. Loaded beside one another they
/// take L + N·P if the array is the slower of the two, and N·L + P if the channel is.
#[test]
fn a_queue_of_programs_takes_the_slower_of_channel_and_array() {
    const N: u64 = 20;
    for rate in [1_000_000_000, 100_000_000, 20_000_000, 4_000_000, u64::MAX] {
        let ends = [true, false].map(|cache_program| {
            let mut parts = Parts { cache_program, ..Parts::new() };
            parts.channel.rate = rate;
            let load = COMMAND + parts.timing().transfer_codewords_ns(CODEWORDS);
            let mut stage = Stage::new(&parts);
            let last = (0..N as u32).map(|i| stage.ask(0, on(0, 2 * i, program(0)))).last();
            stage.play();
            (stage[last.expect("some")].end(), load)
        });
        let load = ends[0].1;
        let cached = if load > PROGRAM { N * load + PROGRAM } else { load + N * PROGRAM };
        assert_eq!(ends.map(|end| end.0), [cached, N * (load + PROGRAM)], "at {rate} bytes/s");
    }
}
