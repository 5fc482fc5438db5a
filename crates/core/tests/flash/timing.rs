//! How long each operation takes alone, and what it waits for if there is another.

use crate::driver::{Outcome, Stage, account};
use crate::parts::*;
use tailcut_core::flash::{ChannelTime, FlashCommand};
use tailcut_core::nand::OpKind;
use tailcut_units::{Occupant, Span};

/// The outcome of one operation alone, submitted at 50.
fn alone(cmd: FlashCommand) -> Outcome {
    let mut stage = Stage::new(&Parts::new());
    let op = stage.ask(50, cmd);
    stage.play();
    stage.flash.audit_rest().expect("it is idle");
    stage[op].clone()
}

#[test]
fn a_read_alone() {
    let r = alone(read(0));
    assert_eq!((r.granted(), &r.inward), (50, &vec![(50, 150)]));
    assert_eq!(r.array, [(150, 20_150)]);
    assert_eq!((r.out, r.end()), (Some((20_150, 24_150)), 24_650));
    assert_eq!(
        r.account(),
        account(&[("command", 100), ("array", 20_000), ("transfer", 4_000), ("decode", 500)])
    );
    // A page of the second type, of which two codewords are read.
    let r = alone(FlashCommand { page: 7, codewords: 2, ..read(3) });
    assert_eq!((r.array[0], r.out, r.end()), ((150, 30_150), Some((30_150, 32_150)), 32_650));
}

#[test]
fn a_program_alone() {
    let p = alone(program(1));
    assert_eq!((p.granted(), &p.inward, &p.array), (50, &vec![(50, 4_150)], &vec![(4_150, 84_150)]));
    assert_eq!((p.out, p.end()), (None, 84_150));
    assert_eq!(p.account(), account(&[("command", 100), ("array", 80_000), ("transfer", 4_000)]));
    assert_eq!(alone(FlashCommand { page: 1, ..program(1) }).end(), 50 + 100 + 4_000 + 120_000);
}

#[test]
fn an_erase_alone() {
    let e = alone(erase(2));
    assert_eq!((e.granted(), &e.inward, &e.array), (50, &vec![(50, 150)], &vec![(150, 300_150)]));
    assert_eq!((e.out, e.end()), (None, 300_150));
    assert_eq!(e.account(), account(&[("command", 100), ("array", 300_000)]));
}

#[test]
fn a_copyback_alone() {
    // Sense a page of the first type, program one of the second; a command before each, no data.
    let c = alone(copyback(0));
    assert_eq!(c.inward, [(50, 150), (20_150, 20_250)]);
    assert_eq!(c.array, [(150, 20_150), (20_250, 140_250)]);
    assert_eq!((c.grants.len(), c.out, c.end()), (1, None, 140_250));
    assert_eq!(c.account(), account(&[("command", 200), ("array", 140_000)]));
}

#[test]
fn operations_of_two_planes_alone() {
    // There is a command for each plane, and the data of both planes follow one another. The array
    // time is the same.
    let wide = |cmd: FlashCommand| FlashCommand { planes: 3, codewords: 2 * cmd.codewords, ..cmd };
    let r = alone(wide(read(0)));
    assert_eq!((r.array[0], r.out, r.end()), ((250, 20_250), Some((20_250, 28_250)), 28_750));
    let p = alone(wide(program(0)));
    assert_eq!((p.inward[0], p.end()), ((50, 8_250), 88_250));
    assert_eq!(alone(wide(erase(0))).end(), 300_250);
    assert_eq!(alone(wide(copyback(0))).end(), 50 + 200 + 20_000 + 200 + 120_000);
}

/// An operation alone: how long its command and data in are on the channel, how long it then holds
/// its die, and how long its data out are on the channel.
#[derive(Clone, Copy)]
struct Hold {
    cmd: fn(u32) -> FlashCommand,
    inward: u64,
    array: u64,
    outward: u64,
}

impl Hold {
    fn whole(self) -> u64 {
        self.inward + self.array + self.outward
    }

    /// The time from when its die is free to its end.
    fn decode(self) -> u64 {
        if self.outward > 0 { DECODE } else { 0 }
    }
}

/// Both types of pages, and the copy of one to the other.
const HOLDS: [Hold; 6] = [
    Hold { cmd: read, inward: COMMAND, array: SENSE, outward: PAGE },
    Hold { cmd: |unit| on(0, 1, read(unit)), inward: COMMAND, array: SENSE_2, outward: PAGE },
    Hold { cmd: program, inward: COMMAND + PAGE, array: PROGRAM, outward: 0 },
    Hold { cmd: |unit| on(0, 1, program(unit)), inward: COMMAND + PAGE, array: PROGRAM_2, outward: 0 },
    Hold { cmd: erase, inward: COMMAND, array: ERASE, outward: 0 },
    Hold { cmd: copyback, inward: COMMAND, array: SENSE + COMMAND + PROGRAM_2, outward: 0 },
];

#[test]
fn a_die_is_free_to_the_nanosecond_whatever_holds_it() {
    for first in HOLDS {
        for second in HOLDS {
            let held = first.whole();
            for at in [0, 1, first.inward, held - 1, held, held + 1] {
                let mut stage = Stage::new(&Parts::new());
                let (a, b) = (stage.ask(0, (first.cmd)(0)), stage.ask(at, (second.cmd)(0)));
                stage.play();
                let kinds = (stage[a].cmd.kind, stage[b].cmd.kind);
                assert_eq!((stage[a].granted(), stage[b].granted()), (0, at.max(held)), "{kinds:?}, {at}");
                assert_eq!(stage[a].end(), held + first.decode(), "{kinds:?}, {at}");
                assert_eq!(stage[b].inward[0].0, at.max(held), "{kinds:?}, {at}: its channel is free");
                let end = at.max(held) + second.whole() + second.decode();
                assert_eq!(stage[b].end(), end, "{kinds:?}, {at}");
                let waited: u64 =
                    stage[b].ledger.iter().filter(|(c, _)| c.is_die_wait()).map(|(_, ns)| ns).sum();
                assert_eq!(waited, held.saturating_sub(at), "{kinds:?}, {at}");
            }
        }
    }
}

#[test]
fn dies_of_one_channel_meet_there_alone_and_those_of_two_nowhere() {
    for first in HOLDS {
        for second in HOLDS {
            let sensed = first.inward + first.array;
            // Around the end of the first's command and data in, and around that of its data out.
            let around = |end: u64| [end - 1, end, end + 1];
            let out = around(sensed + first.outward).into_iter().filter(|_| first.outward > 0);
            for at in [0, 1].into_iter().chain(around(first.inward)).chain(out) {
                for unit in [1, 2] {
                    let mut stage = Stage::new(&Parts::new());
                    let (a, b) = (stage.ask(0, (first.cmd)(0)), stage.ask(at, (second.cmd)(unit)));
                    stage.play();
                    let (a, b) = (&stage[a], &stage[b]);
                    let label = format!("{:?}, {:?}, {unit}, {at}", a.cmd.kind, b.cmd.kind);
                    let moved = if at < sensed { first.inward } else { sensed + first.outward };
                    let begin = if unit == 1 { at.max(moved) } else { at };
                    assert_eq!((b.granted(), b.inward[0].0), (at, begin), "{label}");
                    let copies = [a, b].iter().any(|o| o.cmd.kind == OpKind::Copyback);
                    if unit == 1 && copies {
                        // The second command of a copyback may wait too.
                        continue;
                    }
                    // Two sensed pages come out one after the other, in the order of their senses.
                    let mut out = [sensed, begin + second.inward + second.array];
                    if unit == 1 && first.outward > 0 && second.outward > 0 {
                        let (early, late) = if out[0] < out[1] { (0, 1) } else { (1, 0) };
                        out[late] = out[late].max(out[early] + PAGE);
                    }
                    let ends = [out[0] + first.outward, out[1] + second.outward];
                    let ends = [ends[0] + first.decode(), ends[1] + second.decode()];
                    assert_eq!([a.end(), b.end()], ends, "{label}");
                }
            }
        }
    }
}

#[test]
fn a_sensed_page_keeps_its_die_until_the_channel_takes_it() {
    for (page, sense) in [(0, SENSE), (1, SENSE_2)] {
        let sensed = COMMAND + sense;
        // The data of a program of the other die are in one nanosecond before, at and after the end
        // of the sense.
        for data_in in [sensed - 1, sensed, sensed + 1, sensed + 3_000] {
            let mut stage = Stage::new(&Parts::new());
            let first = stage.ask(0, on(0, page, read(0)));
            let behind = stage.ask(1, read(0));
            stage.ask(data_in - COMMAND - PAGE, program(1));
            stage.play();
            let out = data_in.max(sensed);
            assert_eq!(stage[first].out, Some((out, out + PAGE)), "{page}, {data_in}");
            assert_eq!(stage[behind].granted(), out + PAGE, "{page}, {data_in}");
        }
    }
}

#[test]
fn a_die_is_idle_from_the_instant_at_which_its_data_are_out() {
    // A program and a read arrive together. If the die is idle, the program begins at once; if they
    // have to queue, the schedule takes the read first.
    for (at, program_first) in [(READ - 1, false), (READ, true), (READ + 1, true)] {
        let mut stage = Stage::new(&Parts::under("read-priority", "never", "never"));
        stage.ask(0, read(0));
        let (p, r) = (stage.ask(at, program(0)), stage.ask(at, read(0)));
        stage.play();
        let granted = if program_first { (at, at + COMMAND + PAGE + PROGRAM) } else { (2 * READ, READ) };
        assert_eq!((stage[p].granted(), stage[r].granted()), granted, "{at}");
    }
}

#[test]
fn two_reads_of_one_die() {
    let mut stage = Stage::new(&Parts::new());
    let (a, b) = (stage.ask(0, read(0)), stage.ask(1_000, read(0)));
    stage.play();
    assert_eq!((stage[a].out, stage[a].end()), (Some((20_100, 24_100)), 24_600));
    // The die is free when the data of the first read are out. They are decoded while the second
    // read begins.
    assert_eq!((stage[b].granted(), stage[b].array[0]), (24_100, (24_200, 44_200)));
    assert_eq!((stage[b].out, stage[b].end()), (Some((44_200, 48_200)), 48_700));
    let own = [("command", 100), ("array", 20_000), ("transfer", 4_000), ("decode", 500)];
    let waits = [("die_wait.user_read", 23_100)];
    assert_eq!(stage[b].account(), account(&[&own[..], &waits].concat()));
}

#[test]
fn two_reads_of_one_channel() {
    let mut stage = Stage::new(&Parts::new());
    let (a, b) = (stage.ask(0, read(0)), stage.ask(0, read(1)));
    let c = stage.ask(0, read(2));
    stage.play();
    assert_eq!(stage[a].account(), stage[c].account(), "the other channel is another's");
    // The command of the second read waits for that of the first, and its data for the data of the
    // first: 100 + 3,900.
    assert_eq!((stage[b].granted(), stage[b].inward[0], stage[b].array[0]), (0, (100, 200), (200, 20_200)));
    assert_eq!((stage[b].out, stage[b].end()), (Some((24_100, 28_100)), 28_600));
    let own = [("command", 100), ("array", 20_000), ("transfer", 4_000), ("decode", 500)];
    assert_eq!(stage[b].account(), account(&[&own[..], &[("channel_wait.user_read", 4_000)]].concat()));
}

#[test]
fn the_second_command_of_a_copyback_waits_for_the_channel() {
    let mut stage = Stage::new(&Parts::new());
    let copy = stage.ask(0, copyback(0));
    // The data of a program are on the channel when the copyback has sensed, at 20,100.
    stage.ask(18_000, program(1));
    stage.play();
    assert_eq!(stage[copy].inward, [(0, 100), (22_100, 22_200)]);
    let waits = [("command", 200), ("array", 140_000), ("channel_wait.user_program", 2_000)];
    assert_eq!(stage[copy].account(), account(&waits));
}

#[test]
fn a_full_decoder_stalls_the_channel() {
    let mut parts = Parts::new();
    (parts.ecc.decode, parts.ecc.queue) = (Span(3_000), 2);
    let mut stage = Stage::new(&parts);
    let (a, b) = (stage.ask(0, read(0)), stage.ask(0, read(1)));
    let s = COMMAND + SENSE;
    stage.until(s + 5_000);
    let first = stage.flash.channel_time();
    assert_eq!(
        first,
        ChannelTime { total: 2 * (s + 5_000), granted: 200 + 5_000, stalled: 4_000, uncorrectable: 0 }
    );
    stage.play();
    // Sensed at s. A codeword takes 1,000 on the channel and 3,000 in the decoder, which holds two:
    //
    //     codeword   on the channel   decoded
    //     1               0 -  1,000    1,000 -  4,000
    //     2           1,000 -  2,000    4,000 -  7,000
    //     3           4,000 -  5,000    7,000 - 10,000   when the first has left
    //     4           7,000 -  8,000   10,000 - 13,000
    assert_eq!((stage[a].out, stage[a].end()), (Some((s, s + 8_000)), s + 13_000));
    // The channel was stalled for 2 x 2,000, and the last codeword waited for 2,000.
    let causes =
        [("command", 100), ("array", 20_000), ("transfer", 4_000), ("ecc_queue", 6_000), ("decode", 3_000)];
    assert_eq!(stage[a].account(), account(&causes));
    // The page of the other die: its first codeword has no room in the decoder before the third
    // above is decoded.
    //
    //     1          10,000 - 11,000   13,000 - 16,000
    //     2          13,000 - 14,000   16,000 - 19,000
    //     3          16,000 - 17,000   19,000 - 22,000
    //     4          19,000 - 20,000   22,000 - 25,000
    //
    // Four stalls of 2,000, and the last codeword waits 2,000. The page was sensed 100 after the
    // first.
    assert_eq!((stage[b].out, stage[b].end()), (Some((s + 8_000, s + 20_000)), s + 25_000));
    let causes = [
        ("command", 100),
        ("array", 20_000),
        ("transfer", 4_000),
        ("ecc_queue", 10_000),
        ("decode", 3_000),
        ("channel_wait.user_read", 100 + 7_900),
    ];
    assert_eq!(stage[b].account(), account(&causes));
    let all = stage.flash.channel_time();
    assert_eq!((all.stalled, all.granted), (4_000 + 8_000, 200 + 20_000));
    let total = 2 * (stage.now - s - 5_000);
    let rest = ChannelTime { total, granted: 15_000, stalled: 8_000, uncorrectable: 0 };
    assert_eq!(all.since(&first), rest);
    // The pages are decoded in the order in which they came.
    assert!(stage[a].end() < stage[b].end());
}

#[test]
fn what_was_done_is_counted() {
    let mut stage = Stage::new(&Parts::new());
    stage.ask(0, read(0));
    stage.ask(0, FlashCommand { planes: 3, codewords: 8, ..program(1) });
    stage.ask(0, erase(2));
    stage.ask(0, copyback(3));
    stage.play();
    let at = stage.now + 1_000;
    stage.until(at);
    let c = stage.flash.counters();
    let of = |counts: &[u64; Occupant::COUNT], o: Occupant| counts[o as usize];
    for (occupant, planes) in [
        (Occupant::UserRead, 1),
        (Occupant::UserProgram, 2),
        (Occupant::Erase, 1),
        (Occupant::GcRead, 1),
        (Occupant::GcProgram, 1),
    ] {
        assert_eq!((of(&c.operations, occupant), of(&c.planes, occupant)), (1, planes), "{occupant:?}");
    }
    assert_eq!(c.array_ns, [2 * SENSE, PROGRAM + PROGRAM_2, ERASE]);
    assert_eq!(stage.flash.planes_taken(), [SENSE, 2 * PROGRAM, ERASE, SENSE + PROGRAM_2]);
    // The channel moves the command of the read, then the commands and data of the program (200 +
    // 8,000). The read is sensed only after that.
    let units = [READ, 100 + 8_200 + PROGRAM, COMMAND + ERASE, 100 + 2 * COMMAND + SENSE + PROGRAM_2];
    assert_eq!(stage.flash.units_taken(), units);
    assert_eq!(stage.flash.channels_taken(), [COMMAND + 8_200 + PAGE, 3 * COMMAND]);
    stage.flash.reset_counters();
    assert_eq!(stage.flash.counters().array_ns, [0; 3]);
}
