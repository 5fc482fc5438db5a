//! Which of the operations that wait for a channel gets it next, under each order.

use crate::driver::{Stage, account};
use crate::parts::*;
use tailcut_core::nand::config::{ChannelOrder, SuspendedData};
use tailcut_units::Occupant;

use ChannelOrder::{Arrival, CommandsFirst, DataFirst};

/// One channel of eight dies.
fn eight(schedule: &str, order: ChannelOrder) -> Parts {
    let mut parts = Parts { channels: 1, units: 8, ..Parts::under(schedule, "never", "never") };
    parts.channel.order = order;
    parts
}

/// The order in which a channel serves one waiter of each kind, by the letters below.
fn served(schedule: &str, order: ChannelOrder) -> String {
    let mut stage = Stage::new(&eight(schedule, order));
    // Sensed at 20,100, 20,200 and 20,300; the copyback has sensed at 20,400.
    let a = stage.ask(0, read(0));
    let b = stage.ask(0, read(1));
    let g = stage.ask(0, by(Occupant::GcRead, read(2)));
    let k = stage.ask(0, copyback(3));
    // The data of a program keep the channel from 20,050 to 24,150. Then wait, in the order of their arrival: another
    // program, the data of the three reads, the command of a read, the second command of the copyback, an erase.
    let holds = stage.ask(20_050, program(4));
    let p = stage.ask(20_060, program(5));
    let c = stage.ask(20_350, read(6));
    let e = stage.ask(20_450, erase(7));
    stage.play();
    assert_eq!(stage[holds].inward, [(20_050, 24_150)]);
    let inward = |op: usize| *stage[op].inward.last().expect("its command was sent");
    let out = |op: usize| stage[op].out.expect("its data came out");
    let mut spans = vec![
        ('p', 20_060, inward(p)),
        ('a', 20_100, out(a)),
        ('b', 20_200, out(b)),
        ('g', 20_300, out(g)),
        ('c', 20_350, inward(c)),
        ('k', 20_400, inward(k)),
        ('e', 20_450, inward(e)),
    ];
    spans.sort_by_key(|&(.., (begin, _))| begin);
    // The channel goes from one to the next, and each has waited as long as its account says.
    let mut at = 24_150;
    for &(name, _, (begin, end)) in &spans {
        assert_eq!(begin, at, "{schedule}, {order:?}: {name}");
        at = end;
    }
    for (op, since, begin) in [(p, 20_060, inward(p).0), (c, 20_350, inward(c).0), (e, 20_450, inward(e).0)] {
        let waits: u64 =
            stage[op].account().iter().filter(|(c, _)| c.starts_with("channel_wait")).map(|w| w.1).sum();
        assert_eq!(waits, begin - since, "{schedule}, {order:?}");
    }
    spans.iter().map(|s| s.0).collect()
}

#[test]
fn who_is_next_at_a_channel() {
    let all = |schedule| ChannelOrder::ALL.map(|order| served(schedule, order));
    // Without channel priority each group is in order of arrival. A program is a transfer in one order and a command in
    // the other; the second command of a copyback goes with the first group of both.
    assert_eq!(all("fifo"), ["pabgcke", "ckepabg", "abgkpce"]);
    // With it host reads go first, in the order of their commands and data. Only where all sensed data go first do those
    // of a collection pass the command of a host read.
    assert_eq!(all("read-priority"), ["abcpgke", "cabkepg", "abgkcpe"]);
}

/// A die whose data are out waits for its next command behind the data of its neighbours, or not.
#[test]
fn a_die_waits_for_its_neighbours_data_or_senses_meanwhile() {
    for (order, command) in [(Arrival, 32_100), (CommandsFirst, 24_100), (DataFirst, 32_100)] {
        let mut stage = Stage::new(&eight("fifo", order));
        let first = stage.ask(0, read(0));
        let neighbours = [stage.ask(0, read(1)), stage.ask(0, read(2))];
        let next = stage.ask(0, read(0));
        stage.play();
        assert_eq!(stage[first].out, Some((20_100, 24_100)));
        assert_eq!(
            (stage[next].granted(), stage[next].inward[0]),
            (24_100, (command, command + 100)),
            "{order:?}"
        );
        let outs = neighbours.map(|op| stage[op].out.expect("its data came out").0);
        let shift = if order == CommandsFirst { COMMAND } else { 0 };
        assert_eq!(outs, [24_100 + shift, 28_100 + shift], "{order:?}");
        // It is sensed before the last neighbour's data are out, or after.
        assert_eq!(stage[next].out.map(|out| out.0), Some(command + COMMAND + SENSE), "{order:?}");
        let waits = command - 24_100;
        let own = [("command", 100), ("array", 20_000), ("transfer", 4_000), ("decode", 500)];
        let mut expected = [&own[..], &[("die_wait.user_read", 24_100)]].concat();
        if waits > 0 {
            expected.push(("channel_wait.user_read", waits));
        }
        assert_eq!(stage[next].account(), account(&expected), "{order:?}");
    }
}

/// An arrival with channel priority takes the die from a holder without it, whatever queue the holder waits in.
#[test]
fn a_holder_gives_its_die_back_from_any_queue() {
    for order in ChannelOrder::ALL {
        for holder in [program(1), erase(1), by(Occupant::GcRead, read(1))] {
            let mut stage = Stage::new(&eight("read-priority", order));
            stage.ask(0, program(0));
            let waits = stage.ask(10, holder);
            let passes = stage.ask(20, read(1));
            stage.play();
            let label = format!("{order:?}, {:?}", stage[waits].cmd.kind);
            assert_eq!((stage[waits].grants.len(), &stage[waits].returned), (2, &vec![20]), "{label}");
            assert_eq!((stage[passes].granted(), stage[passes].inward[0]), (20, (4_100, 4_200)), "{label}");
            assert_eq!(stage[waits].granted(), 4_100 + READ, "{label}");
        }
    }
}

/// The data of a suspended program that go to its die again are a transfer, like those of a program that begins.
#[test]
fn data_on_their_way_again_wait_as_a_program_does() {
    for (order, again) in [(Arrival, 44_300), (CommandsFirst, 44_400), (DataFirst, 48_300)] {
        let mut parts = Parts::under("read-priority", "never", "intra-phase");
        parts = Parts { channels: 1, units: 4, ..parts };
        (parts.suspend.program.data, parts.channel.order) = (SuspendedData::Controller, order);
        let mut stage = Stage::new(&parts);
        // The program is cancelled at 14,100; the read that cancels it has the channel from 36,200 to 40,200.
        let (p, r) = (stage.ask(0, program(0)), stage.ask(14_100, read(0)));
        // Sensed at 40,300, when another program has the channel until 44,300.
        let collects = stage.ask(20_200, by(Occupant::GcRead, read(2)));
        stage.ask(40_000, program(1));
        let erases = stage.ask(43_000, erase(3));
        stage.play();
        assert_eq!(stage[r].out, Some((36_200, 40_200)));
        assert_eq!(stage[p].inward, [(0, 4_100), (again, again + 4_100)], "{order:?}");
        let others = (stage[collects].out.map(|out| out.0), stage[erases].inward[0].0);
        let expected = match order {
            Arrival => (Some(48_400), 52_400),
            CommandsFirst => (Some(48_500), 44_300),
            DataFirst => (Some(44_300), 52_400),
        };
        assert_eq!(others, expected, "{order:?}");
    }
}
