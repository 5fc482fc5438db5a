//! The questions that the controller may ask the flash while operations are under way, and the
//! operations that it may withdraw.

use crate::driver::{Act, Stage};
use crate::parts::*;
use tailcut_core::address::BusyUnit;
use tailcut_core::flash::{FlashCommand, HostLoad, Met, OpId};
use tailcut_core::policy::schedule::{ScheduleConfig, read_write_erase};
use tailcut_core::policy::suspend_erase::SuspendEraseConfig;
use tailcut_units::{Occupant, Occupants, Span};

#[test]
fn the_load_of_the_host_is_counted_from_its_submission_to_its_end() {
    let mut stage = Stage::new(&Parts::new());
    let rebuilds = FlashCommand { rebuild: 5, ..read(0) };
    stage.ask(0, read(0));
    stage.ask(10, rebuilds);
    stage.ask(10, program(0));
    stage.ask(10, of(Occupant::RmwRead, 0));
    stage.ask(10, of(Occupant::GcRead, 0));
    stage.ask(10, program(2));
    stage.until(10);
    let load = |ops, reads, rebuilds| HostLoad { ops, reads, rebuilds };
    assert_eq!(
        [0, 1, 2].map(|u| stage.flash.host_load(BusyUnit(u))),
        [load(4, 3, 1), load(0, 0, 0), load(1, 0, 0)]
    );
    assert_eq!((stage.flash.host_ops(), stage.flash.under_way()), (5, 6));
    assert_eq!(stage.flash.ops_in_use().len(), 6);
    // The first read ends when it is decoded, 500 after its data are out.
    stage.until(READ + DECODE - 1);
    assert_eq!(stage.flash.host_load(BusyUnit(0)), load(4, 3, 1));
    stage.until(READ + DECODE);
    assert_eq!(stage.flash.host_load(BusyUnit(0)), load(3, 2, 1));
    stage.play();
    assert_eq!((stage.flash.host_load(BusyUnit(0)), stage.flash.host_ops()), (load(0, 0, 0), 0));
}

#[test]
fn who_has_a_die_and_who_waits() {
    let mut stage = Stage::new(&Parts::new());
    stage.ask(0, program(0));
    stage.ask(10, read(0));
    stage.ask(10, erase(0));
    stage.until(10);
    let holder = stage.flash.holder(BusyUnit(0)).expect("the program");
    assert_eq!(stage.flash.op(holder).cmd.occupant, Occupant::UserProgram);
    assert_eq!(stage.flash.holder(BusyUnit(1)), None);
    assert_eq!(stage.flash.waiting(BusyUnit(0)), Occupants::of(&[Occupant::UserRead, Occupant::Erase]));
    // The data of the program are on the channel until 4,100, and it is in the array until 84,100.
    assert!(stage.flash.channel_is_taken(BusyUnit(1)) && !stage.flash.channel_is_taken(BusyUnit(2)));
    stage.until(4_099);
    assert!(stage.flash.channel_is_taken(BusyUnit(0)));
    stage.until(4_100);
    assert!(!stage.flash.channel_is_taken(BusyUnit(0)));
    assert_eq!(stage.flash.array_left(BusyUnit(0)), Some(Span(80_000)));
    stage.until(50_000);
    assert_eq!(
        (stage.flash.array_left(BusyUnit(0)), stage.flash.array_left(BusyUnit(1))),
        (Some(Span(34_100)), None)
    );
    stage.play();
    assert_eq!(stage.flash.holder(BusyUnit(0)), None);
}

#[test]
fn a_queued_read_can_be_withdrawn_from_any_place() {
    for place in 0..3 {
        let mut stage = Stage::new(&Parts::under("read-priority", "never", "never"));
        stage.ask(0, program(0));
        stage.until(10);
        // Three reads that are not in the script.
        stage.flash.observer_mut().look_away();
        let ids = [0, 1, 2].map(|_| {
            let id = stage.flash.order(read(0));
            stage.flash.submit(id);
            id
        });
        assert_eq!(stage.flash.first_queued_read(BusyUnit(0)), Some(ids[0]));
        assert_eq!(
            [ids[0], ids[1], ids[2]].map(|id| stage.flash.queued_after(id)),
            [Some(ids[1]), Some(ids[2]), None]
        );
        stage.flash.withdraw(BusyUnit(0), ids[place]);
        let ended = stage.flash.free(ids[place]).expect("it was the host's");
        assert!(ended.read && !ended.rebuilds && ended.unit == BusyUnit(0));
        stage.flash.audit().expect("the read is withdrawn");
        let left: Vec<OpId> = ids.into_iter().filter(|&id| id != ids[place]).collect();
        assert_eq!(stage.flash.first_queued_read(BusyUnit(0)), Some(left[0]));
        assert_eq!(stage.flash.queued_after(left[0]), Some(left[1]));
        assert_eq!(stage.flash.queued_after(left[1]), None);
    }
}

#[test]
fn an_order_can_be_changed_and_given_up_before_it_is_submitted() {
    let mut stage = Stage::new(&Parts::new());
    let id = stage.flash.order(read(0));
    stage.flash.order_mut(id).codewords = 7;
    assert_eq!((stage.flash.op(id).cmd.codewords, stage.flash.under_way()), (7, 1));
    stage.flash.cancel(id);
    assert_eq!(stage.flash.under_way(), 0);
    stage.flash.audit_rest().expect("it is idle");
}

/// A read of a tracked command.
fn tracked(tag: u32, unit: u32) -> FlashCommand {
    FlashCommand { tag, bytes: 4_096, ..read(unit) }
}

#[test]
fn a_command_is_told_whether_it_met_a_collection() {
    const CLOSES: Act = Act::Close { unit: BusyUnit(0), erases: false };
    const OPENS: Act = Act::Open { unit: BusyUnit(0), erases: false };
    let first = |cmd| vec![(0, Act::Submit(cmd))];
    let cases = [
        ("nothing", Vec::new(), false),
        ("a program of the host", first(program(0)), false),
        ("a read of a collection", first(of(Occupant::GcRead, 0)), true),
        ("a closed die", vec![(0, CLOSES), (20_000, OPENS)], true),
    ];
    for (what, before, meets) in cases {
        let mut stage = Stage::new(&Parts::new());
        for (at, act) in before {
            match act {
                Act::Submit(cmd) => _ = stage.ask(at, cmd),
                act => stage.act(at, act),
            }
        }
        stage.ask(10, tracked(3, 0));
        stage.until(5_000);
        assert_eq!(stage.flash.collections_hold_up(Occupant::UserRead.only()), meets, "{what}");
        assert!(!stage.flash.collections_hold_up(Occupant::UserProgram.only()), "{what}");
        stage.play();
        let met = Met { collection: meets, queued_behind: false };
        assert_eq!((stage.flash.met(3), stage.flash.commands_blocked()), (met, u32::from(meets)), "{what}");
        assert_eq!(stage.flash.track(3), met, "{what}");
        assert_eq!((stage.flash.met(3), stage.flash.commands_blocked()), (Met::default(), 0), "{what}");
    }
}

#[test]
fn a_collection_that_has_left_the_die_is_still_met() {
    let mut stage = Stage::new(&Parts::new());
    stage.ask(0, of(Occupant::GcRead, 0));
    stage.ask(5, program(0));
    stage.ask(10, tracked(3, 0));
    // The read waits behind the program now, and waited behind the collection before.
    stage.until(READ + 5_000);
    let holder = stage.flash.holder(BusyUnit(0)).expect("the program");
    assert_eq!(stage.flash.op(holder).cmd.occupant, Occupant::UserProgram);
    assert!(stage.flash.collections_hold_up(Occupant::UserRead.only()));
}

#[test]
fn a_collection_on_the_channel_is_met_too_and_by_who_queues_behind() {
    // The data of the collection on another die occupy the channel. The second read queues behind
    // the first.
    let mut stage = Stage::new(&Parts::new());
    stage.ask(0, of(Occupant::GcProgram, 1));
    stage.ask(10, tracked(0, 0));
    stage.ask(20, tracked(1, 0));
    stage.until(1_000);
    assert!(stage.flash.collections_hold_up(Occupant::UserRead.only()));
    stage.play();
    assert_eq!(stage.flash.met(0), Met { collection: true, queued_behind: false });
    assert_eq!(stage.flash.met(1), Met { collection: false, queued_behind: true });
}

#[test]
fn a_collection_that_gives_way_is_met() {
    // Both members give way at the instant of the arrival, so the read waits for nothing.
    let parts = |suspend_erase| Parts::under("read-priority", suspend_erase, "inter-phase");
    let begun = COMMAND + PAGE;
    for (what, cmd, at, meets) in [
        ("an erase", erase(0), 30_100, true),
        ("a program of the host", program(0), begun + PULSE, false),
        ("a program of parity", of(Occupant::ParityProgram, 0), begun + PULSE, false),
        ("a program of a collection", of(Occupant::GcProgram, 0), begun + PULSE, true),
    ] {
        let mut stage = Stage::new(&parts("ideal"));
        stage.ask(0, cmd);
        let read = stage.ask(at, tracked(3, 0));
        // A read that serves a reconstruction alone is not counted.
        stage.ask(at, FlashCommand { bytes: 0, ..tracked(4, 0) });
        stage.play();
        assert_eq!(stage[read].granted(), at, "{what}");
        assert_eq!(stage.flash.met(3), Met { collection: meets, queued_behind: false }, "{what}");
        assert!(!stage.flash.met(4).collection, "{what}");
    }
    // A program of the host that has interrupted an erase can be interrupted itself.
    let config = read_write_erase::Config { write_suspends_erase: true };
    let schedule = ScheduleConfig::ReadWriteErase(config);
    let mut stage = Stage::new(&Parts { schedule, ..parts("ideal") });
    stage.ask(0, erase(0));
    stage.ask(30_100, program(0));
    let read = stage.ask(30_100 + begun + PULSE, tracked(3, 0));
    stage.play();
    assert_eq!(stage[read].granted(), 30_100 + begun + PULSE);
    assert_eq!(stage.flash.met(3), Met { collection: true, queued_behind: false });
    // Under every member of the family.
    for &member in SuspendEraseConfig::MEMBERS {
        let mut stage = Stage::new(&parts(member));
        stage.ask(0, erase(0));
        stage.ask(30_100, tracked(3, 0));
        stage.play();
        assert_eq!(stage.flash.met(3), Met { collection: true, queued_behind: false }, "{member}");
    }
}

#[test]
fn a_block_counts_its_erases() {
    // Where a die is busy as a whole, an erase may address several planes of it.
    let mut stage = Stage::new(&Parts::new());
    stage.ask(0, FlashCommand { planes: 3, block: 1, ..erase(2) });
    stage.ask(0, FlashCommand { planes: 2, block: 3, ..erase(0) });
    stage.play();
    let blocks = stage.flash.blocks();
    let erased = [(4, 1), (5, 1), (1, 3)];
    for (plane, index) in (0..8).flat_map(|plane| (0..BLOCKS).map(move |index| (plane, index))) {
        let cycles = blocks.cycles_at(blocks.place(plane, index));
        assert_eq!(cycles, u32::from(erased.contains(&(plane, index))), "block {index} of plane {plane}");
    }
}
