//! For each member of the schedule family: which operation queued at a die is next, which
//! operations pass others on the way to the channel, and which operations a waiting read holds
//! back.

use crate::driver::{Act, Stage, account};
use crate::parts::*;
use tailcut_core::address::BusyUnit;
use tailcut_core::policy::schedule::{ScheduleConfig, channel_reads, read_write_erase};
use tailcut_units::{Cause, Occupant, Occupants, Span};

fn under(schedule: &str) -> Parts {
    Parts::under(schedule, "never", "never")
}

/// The order in which queued operations get their die, which another operation keeps busy until all
/// are queued.
fn order(parts: &Parts, arrivals: &[Occupant], urgent: bool) -> Vec<Occupant> {
    let mut stage = Stage::new(parts);
    stage.ask(0, by(Occupant::Background, program(0)));
    if urgent {
        stage.act(1, Act::Urgent { unit: BusyUnit(0), urgent: true });
    }
    let mut asked: Vec<usize> = (2..).zip(arrivals).map(|(at, &o)| stage.ask(at, of(o, 0))).collect();
    stage.play();
    asked.sort_by_key(|&op| stage[op].granted());
    asked.into_iter().map(|op| stage[op].cmd.occupant).collect()
}

/// One operation of each kind, in an order that is neither that of the indices nor its reverse.
const ARRIVALS: [Occupant; Occupant::COUNT] = [
    Occupant::Erase,
    Occupant::GcProgram,
    Occupant::UserProgram,
    Occupant::FoldProgram,
    Occupant::Background,
    Occupant::MetaProgram,
    Occupant::FoldRead,
    Occupant::GcRead,
    Occupant::MetaRead,
    Occupant::ParityProgram,
    Occupant::RmwRead,
    Occupant::UserRead,
];

/// `these`, then the other arrivals in their order, then `last`.
fn first(these: &[Occupant], last: &[Occupant]) -> Vec<Occupant> {
    let named = Occupants::of(these) | Occupants::of(last);
    let rest = ARRIVALS.iter().filter(|&&o| !named.has(o));
    these.iter().chain(rest).chain(last).copied().collect()
}

#[test]
fn who_is_next_at_a_die() {
    for &name in ScheduleConfig::MEMBERS {
        let calm = match name {
            "fifo" => first(&[], &[]),
            "read-priority" => first(&[Occupant::UserRead], &[]),
            "read-write-erase" => first(&[Occupant::UserRead], &[Occupant::Erase]),
            // Host reads, reads of read-modify-writes, reads and programs of collections and folds.
            "channel-reads" => first(
                &[
                    Occupant::UserRead,
                    Occupant::RmwRead,
                    Occupant::GcRead,
                    Occupant::FoldRead,
                    Occupant::GcProgram,
                    Occupant::FoldProgram,
                ],
                &[],
            ),
            "ranked" => vec![
                Occupant::UserRead,
                Occupant::RmwRead,
                Occupant::UserProgram,
                Occupant::ParityProgram,
                Occupant::GcProgram,
                Occupant::FoldProgram,
                Occupant::MetaProgram,
                Occupant::GcRead,
                Occupant::FoldRead,
                Occupant::MetaRead,
                Occupant::Background,
                Occupant::Erase,
            ],
            other => panic!("{other} has no test: what is next at a die?"),
        };
        assert_eq!(order(&under(name), &ARRIVALS, false), calm, "{name}");
        // Only `read-priority` takes account of a collection that is short of space.
        let urgent = match name {
            "read-priority" => first(
                &[
                    Occupant::UserRead,
                    Occupant::Erase,
                    Occupant::GcProgram,
                    Occupant::FoldProgram,
                    Occupant::FoldRead,
                    Occupant::GcRead,
                ],
                &[],
            ),
            _ => calm,
        };
        assert_eq!(order(&under(name), &ARRIVALS, true), urgent, "{name}, urgent");
    }
}

#[test]
fn within_a_kind_all_come_in_turn() {
    for &name in ScheduleConfig::MEMBERS {
        let mut stage = Stage::new(&under(name));
        let mut asked: Vec<usize> = Vec::new();
        for at in 0..4 {
            // Pages of both types in turn: the shorter operation does not go first.
            let page = u32::from(at % 2 == 0);
            asked.extend(
                [of(Occupant::UserRead, 0), of(Occupant::UserProgram, 0)]
                    .map(|c| stage.ask(at, on(0, page, c))),
            );
        }
        stage.play();
        for kind in [Occupant::UserRead, Occupant::UserProgram] {
            let of_kind: Vec<u64> = asked
                .iter()
                .filter(|&&o| stage[o].cmd.occupant == kind)
                .map(|&o| stage[o].granted())
                .collect();
            assert!(of_kind.is_sorted(), "{name}: {of_kind:?}");
        }
    }
}

#[test]
fn a_share_of_the_programs_is_the_hosts() {
    let mut parts = under("channel-reads");
    parts.schedule = ScheduleConfig::ChannelReads(channel_reads::Config { share: 3 });
    let (g, u, p) = (Occupant::GcProgram, Occupant::UserProgram, Occupant::ParityProgram);
    // While both wait, every third program is the host's. Parity programs count as the host's, by
    // arrival. At the end the remaining program follows.
    assert_eq!(order(&parts, &[p, u, u, g, g, g, g, g], false), [g, g, p, g, g, u, g, u]);
    // Other members have no share.
    assert_eq!(order(&under("read-write-erase"), &[p, u, g, g, u], false), [p, u, g, g, u]);
}

/// From the start of a collection until its erase has ended, host programs begin only as every `share`-th program
/// while programs of the collection wait; and an erase begins only when no collection of the die moves data.
#[test]
fn collections_of_a_die_hold_host_programs_and_erases() {
    let mut parts = under("channel-reads");
    parts.schedule = ScheduleConfig::ChannelReads(channel_reads::Config { share: 2 });
    let (unit, idle, moves, erases) = (BusyUnit(0), [false; 2], [true; 2], [true, false]);
    let mut stage = Stage::new(&parts);
    // Two collections begin. One has moved its data at 20 and orders its erase; the other has at 700,000.
    for _ in 0..2 {
        stage.act(0, Act::Collection { unit, before: idle, now: moves });
    }
    let alone = stage.ask(10, program(0));
    stage.act(20, Act::Collection { unit, before: moves, now: erases });
    let erase = stage.ask(20, of(Occupant::Erase, 0));
    let moved: Vec<usize> = (0..3).map(|_| stage.ask(100_000, of(Occupant::GcProgram, 0))).collect();
    let late = stage.ask(100_001, program(0));
    stage.act(700_000, Act::Collection { unit, before: moves, now: erases });
    for _ in 0..2 {
        stage.act(2_000_000, Act::Collection { unit, before: erases, now: idle });
    }
    stage.until(700_001);
    assert_eq!(stage.flash.collecting_at(unit), (2, 0));
    stage.play();
    let granted = [moved[0], moved[1], alone, moved[2], erase, late].map(|op| stage[op].granted());
    assert_eq!(granted[0], 100_000, "an idle die held a host program, and begins one of the collection");
    assert!(granted.is_sorted(), "every second program is the host's while both wait: {granted:?}");
    assert_eq!((granted[4], granted[5]), (700_000, 2_000_000), "the erase, and what waits for its end");
    // Other members hold nothing back.
    let mut free = Stage::new(&under("read-write-erase"));
    free.act(0, Act::Collection { unit, before: idle, now: moves });
    let op = free.ask(10, program(0));
    free.play();
    assert_eq!(free[op].granted(), 10);
}

/// One channel of three dies.
fn three(name: &str) -> Parts {
    Parts { channels: 1, units: 3, ..under(name) }
}

/// Whether host reads go first on the channel.
fn reads_pass(name: &str) -> bool {
    match name {
        "fifo" => false,
        "read-priority" | "read-write-erase" | "channel-reads" | "ranked" => true,
        other => panic!("{other} has no test: who passes whom on the channel?"),
    }
}

#[test]
fn a_read_passes_what_waits_for_the_channel() {
    for &name in ScheduleConfig::MEMBERS {
        let mut stage = Stage::new(&three(name));
        // The data of the first program occupy the channel until 4,100.
        stage.ask(0, program(0));
        let waits = stage.ask(10, program(1));
        let passes = stage.ask(20, read(2));
        stage.play();
        let commands = (stage[waits].inward[0], stage[passes].inward[0]);
        if reads_pass(name) {
            assert_eq!(commands, ((4_200, 8_300), (4_100, 4_200)), "{name}");
        } else {
            assert_eq!(commands, ((4_100, 8_200), (8_200, 8_300)), "{name}");
        }
        // No operation gave its die back: the three are on different dies.
        assert!(stage[waits].returned.is_empty() && stage[waits].granted() == 10, "{name}");
    }
}

#[test]
fn a_channel_goes_by_priority_at_the_time_of_its_release() {
    // The data of a read are out at 24,100. At that time another read has sensed on a second die, and
    // the first die begins its next read. `channel-reads` begins no other work while a read waits.
    for &name in ScheduleConfig::MEMBERS.iter().filter(|name| **name != "channel-reads") {
        let mut stage = Stage::new(&three(name));
        stage.ask(0, read(0));
        let next = stage.ask(10, read(0));
        let sensed = stage.ask(PAGE, of(Occupant::GcRead, 1));
        stage.play();
        assert_eq!(stage[sensed].array[0].1, READ, "{name}");
        assert_eq!(stage[next].granted(), READ, "{name}");
        let begin = (stage[next].inward[0].0, stage[sensed].out.expect("it has data").0);
        let command_first = (READ, READ + COMMAND);
        let data_first = (READ + PAGE, READ);
        assert_eq!(begin, if reads_pass(name) { command_first } else { data_first }, "{name}");
    }
}

#[test]
fn data_without_decoding_are_there_when_they_are_out() {
    let mut parts = Parts::new();
    parts.ecc.decode = Span(0);
    let mut stage = Stage::new(&parts);
    let reads = [0, 10, 20].map(|at| stage.ask(at, read(0)));
    let other = stage.ask(30, read(1));
    stage.play();
    stage.flash.audit_rest().expect("it is idle");
    // The second die senses while the first one transfers, and waits for the channel.
    assert_eq!(reads.map(|r| stage[r].granted()), [0, READ, 2 * READ + PAGE]);
    for op in reads.into_iter().chain([other]) {
        assert_eq!(Some(stage[op].end()), stage[op].out.map(|out| out.1));
    }
}

#[test]
fn a_read_takes_its_die_from_what_has_not_begun() {
    for &name in ScheduleConfig::MEMBERS {
        let mut stage = Stage::new(&three(name));
        stage.ask(0, program(0));
        let waits = stage.ask(10, program(1));
        let takes = stage.ask(20, read(1));
        let behind = stage.ask(15, program(1));
        stage.play();
        if !reads_pass(name) {
            let free = 4_100 + 4_100 + PROGRAM;
            assert_eq!(
                (stage[waits].grants.as_slice(), stage[behind].granted()),
                (&[10][..], free),
                "{name}"
            );
            assert_eq!(stage[takes].granted(), free + 4_100 + PROGRAM, "{name}");
            continue;
        }
        assert_eq!((stage[takes].granted(), stage[takes].inward[0]), (20, (4_100, 4_200)), "{name}");
        // The program is back at the head of its queue, and begins when the data of the read are
        // out.
        let free = 4_100 + READ;
        assert_eq!((stage[waits].grants.as_slice(), &stage[waits].returned), (&[10, free][..], &vec![20]));
        assert_eq!(stage[behind].granted(), free + 4_100 + PROGRAM, "{name}");
        // The program waited 10 for the channel, and then for the read on its die.
        let causes = [
            ("command", 100),
            ("array", PROGRAM),
            ("transfer", PAGE),
            ("die_wait.user_read", free - 20),
            ("channel_wait.user_program", 10),
        ];
        assert_eq!(stage[waits].account(), account(&causes), "{name}");
        assert_eq!(stage[takes].ledger.get(Cause::channel_wait(Occupant::UserProgram)), 4_080, "{name}");
    }
}

#[test]
fn a_read_takes_no_die_from_a_read_nor_from_what_has_begun() {
    for &name in ScheduleConfig::MEMBERS {
        let mut stage = Stage::new(&three(name));
        stage.ask(0, program(0));
        let waits = stage.ask(10, read(1));
        let second = stage.ask(20, read(1));
        // The command of the erase is under way when another read arrives.
        let begun = stage.ask(30_000, erase(2));
        let late = stage.ask(30_050, read(2));
        stage.play();
        assert_eq!((stage[waits].granted(), stage[second].granted()), (10, 4_100 + READ), "{name}");
        assert!(stage[waits].returned.is_empty() && stage[begun].returned.is_empty(), "{name}");
        assert_eq!(stage[late].granted(), stage[begun].end(), "{name}");
        // A copyback that has sensed waits for the channel, to 22,100, and keeps its die.
        let mut stage = Stage::new(&three(name));
        let copy = stage.ask(0, copyback(1));
        stage.ask(18_000, program(0));
        let read = stage.ask(21_000, read(1));
        stage.play();
        assert!(stage[copy].returned.is_empty(), "{name}: it has sensed");
        assert_eq!(stage[read].granted(), stage[copy].end(), "{name}");
    }
}

#[test]
fn a_waiting_read_closes_its_channel() {
    let kinds = [Occupant::UserProgram, Occupant::RmwRead, Occupant::GcRead, Occupant::Erase];
    for &name in ScheduleConfig::MEMBERS {
        let closes = match name {
            "fifo" | "read-priority" | "read-write-erase" | "ranked" => false,
            "channel-reads" => true,
            other => panic!("{other} has no test: does a waiting read close its channel?"),
        };
        for kind in kinds {
            let mut stage = Stage::new(&under(name));
            let busy = stage.ask(0, erase(0));
            let waits = stage.ask(1_000, read(0));
            // One operation on the other die of the channel, and one on the other channel.
            let beside = stage.ask(2_000, of(kind, 1));
            let elsewhere = stage.ask(2_000, of(kind, 2));
            stage.play();
            let free = COMMAND + ERASE;
            assert_eq!((stage[busy].end(), stage[waits].granted()), (free, free), "{name}, {kind:?}");
            assert_eq!(stage[elsewhere].granted(), 2_000, "{name}, {kind:?}");
            let idle = stage[beside].ledger.get(Cause::DIE_IDLE);
            if closes {
                // The operation begins when the read has its die, and its command follows that of
                // the read.
                assert_eq!((stage[beside].granted(), idle), (free, free - 2_000), "{kind:?}");
                assert_eq!(stage[beside].inward[0].0, free + COMMAND, "{kind:?}");
            } else {
                assert_eq!((stage[beside].granted(), idle), (2_000, 0), "{name}, {kind:?}");
            }
        }
        // A read is not held back, nor is an operation that has its die already.
        let mut stage = Stage::new(&under(name));
        stage.ask(0, erase(0));
        let begun = stage.ask(10, program(1));
        stage.ask(1_000, read(0));
        stage.play();
        assert_eq!(stage[begun].inward[0], (100, 4_200), "{name}");
        let mut stage = Stage::new(&under(name));
        stage.ask(0, erase(0));
        stage.ask(1_000, read(0));
        let other = stage.ask(2_000, read(1));
        stage.play();
        assert_eq!(stage[other].granted(), 2_000, "{name}");
    }
}

#[test]
fn two_waiting_reads_close_their_channel_until_both_have_their_dies() {
    let parts = Parts { channels: 1, units: 3, ..under("channel-reads") };
    let mut stage = Stage::new(&parts);
    stage.ask(0, erase(0));
    stage.ask(0, program(1));
    let (a, b) = (stage.ask(1_000, read(0)), stage.ask(1_000, read(1)));
    let kept = stage.ask(2_000, program(2));
    stage.play();
    // The die of the program is free long before that of the erase.
    assert_eq!((stage[a].granted(), stage[b].granted()), (COMMAND + ERASE, COMMAND + 4_100 + PROGRAM));
    assert_eq!(stage[kept].granted(), COMMAND + ERASE);
}

#[test]
fn who_may_interrupt_whom() {
    // An operation can be interrupted only if its suspension policy allows it.
    for &name in ScheduleConfig::MEMBERS {
        for (erases, suspends) in [("never", "never"), ("ideal", "never"), ("never", "inter-phase")] {
            let stage = Stage::new(&Parts::under(name, erases, suspends));
            for kind in Occupant::ALL {
                let any = name != "fifo"
                    && (kind == Occupant::Erase && erases != "never"
                        || Occupants::PROGRAMS.has(kind) && suspends != "never");
                assert_eq!(stage.flash.interrupts(kind), any, "{name}, {erases}, {suspends}: {kind:?}");
            }
        }
    }
    // A host write interrupts an erase only under `read-write-erase` with `write_suspends_erase`.
    for &name in ScheduleConfig::MEMBERS {
        for says in [true, false] {
            let mut parts = Parts::under(name, "ideal", "never");
            if name == "read-write-erase" {
                parts.schedule =
                    ScheduleConfig::ReadWriteErase(read_write_erase::Config { write_suspends_erase: says });
            }
            for kind in [Occupant::UserProgram, Occupant::ParityProgram, Occupant::RmwRead, Occupant::GcRead]
            {
                let mut stage = Stage::new(&parts);
                stage.ask(0, erase(0));
                let op = stage.ask(50_000, of(kind, 0));
                stage.play();
                let interrupts = name == "read-write-erase" && says && Occupants::HOST.has(kind);
                let granted = if interrupts { 50_000 } else { COMMAND + ERASE };
                assert_eq!(stage[op].granted(), granted, "{name}, {says}: {kind:?}");
            }
        }
    }
}
