//! A program and the reads that arrive while it is under way.

use super::*;
use tailcut_core::nand::config::SuspendedData;
use tailcut_core::policy::suspend_program::SuspendProgramConfig;

#[test]
fn a_read_meets_every_phase() {
    for &member in SuspendProgramConfig::MEMBERS {
        for (page, total) in [(0, PROGRAM), (1, PROGRAM_2)] {
            for x in instants(&[0, PULSE], STEP, total) {
                for occupant in [
                    Occupant::UserProgram,
                    Occupant::ParityProgram,
                    Occupant::GcProgram,
                    Occupant::FoldProgram,
                ] {
                    for data in [SuspendedData::Shadow, SuspendedData::Controller] {
                        let label = format!("{member}, {occupant:?} of page {page}, {data:?}, a read at {x}");
                        let mut parts = programming(member);
                        parts.suspend.program.data = data;
                        let cmd = on(0, page, by(occupant, program(0)));
                        meet(&parts, cmd, P, total, x, program_way(member, occupant, x, total), &label);
                    }
                }
            }
        }
    }
}

/// Some cases in plain numbers: one read 10,000 ns into a program.
#[test]
fn the_same_in_numbers() {
    for (member, granted, end) in [
        ("never", 84_100, 84_100),
        // The pulse ends at 4,100 + 30,000; a reload of 1,500, a verify, a pulse and a verify follow.
        ("inter-phase", 34_100, 34_100 + 24_100 + 1_500 + 50_000),
        // The pulse is cancelled in 2,000 and repeated.
        ("intra-phase", 16_100, 16_100 + 24_100 + 1_500 + 80_000),
    ] {
        let mut stage = Stage::new(&programming(member));
        let (p, r) = (stage.ask(0, program(0)), stage.ask(14_100, read(0)));
        stage.play();
        assert_eq!((stage[r].granted(), stage[p].end()), (granted, end), "{member}");
    }
}

/// A lane that is short of space lets a program of collection go on; the read waits for its end.
#[test]
fn an_urgent_program_of_collection_goes_on() {
    for (urgent, granted) in [(false, 34_100), (true, 84_100)] {
        let mut stage = Stage::new(&programming("collection"));
        stage.ask(0, by(Occupant::GcProgram, program(0)));
        stage.until(10_000);
        if urgent {
            stage.flash.set_urgent(BusyUnit(0), true);
        }
        assert_eq!(stage.flash.gives_way_in(BusyUnit(0), Occupant::UserRead).is_none(), urgent);
        let r = stage.ask(14_100, read(0));
        stage.play();
        assert_eq!(stage[r].granted(), granted, "{urgent}");
    }
}

#[test]
fn a_read_during_the_data_in_is_served_before_the_first_pulse() {
    for &member in SuspendProgramConfig::MEMBERS {
        for at in [0, 2_000, P - 1] {
            let mut stage = Stage::new(&programming(member));
            let (p, r) = (stage.ask(0, program(0)), stage.ask(at, read(0)));
            stage.play();
            let over = P + PROGRAM;
            let want = if ["never", "collection"].contains(&member) {
                (over, over)
            } else {
                (P, P + READ + RELOAD + PROGRAM)
            };
            assert_eq!((stage[r].granted(), stage[p].end()), want, "{member}, {at}");
        }
    }
}

#[test]
fn the_program_of_a_copyback_gives_way_and_its_read_does_not() {
    // The copyback programs a page of the second type from 20,200 on, in steps of 40,000.
    let begun = COMMAND + SENSE + COMMAND;
    let run = |at: u64| {
        let mut stage = Stage::new(&programming("inter-phase"));
        let (c, r) = (stage.ask(0, copyback(0)), stage.ask(at, read(0)));
        stage.play();
        (stage[r].granted(), stage[c].end(), stage[c].ledger.get(Cause::SUSPENDED))
    };
    let end = begun + PROGRAM_2 + READ + RELOAD;
    assert_eq!(run(10_000), (begun, end, READ + RELOAD), "not before its second command is out");
    assert_eq!(run(begun + STEP + 1), (begun + STEP + PULSE, end, READ + RELOAD));
    assert_eq!(run(begun + PROGRAM_2 - 1), (begun + PROGRAM_2, begun + PROGRAM_2, 0), "its last verify");
}

#[test]
fn data_on_their_way_again_wait_for_the_channel_and_are_not_interrupted() {
    let mut parts = programming("intra-phase");
    parts.suspend.program.data = SuspendedData::Controller;
    let mut stage = Stage::new(&parts);
    // The program is cancelled at 14,100 and the die is free at 16,100. The read has the channel
    // from 36,200 to 40,200.
    let (p, r) = (stage.ask(0, program(0)), stage.ask(14_100, read(0)));
    // A program of the other die requests the channel meanwhile, and has it until 44,300.
    stage.ask(40_000, program(1));
    // One read arrives while the data wait, and one while they are transferred. Neither interrupts
    // the transfer. Both are served when the data are in, before the first pulse.
    let (early, late) = (stage.ask(41_000, read(0)), stage.ask(45_000, read(0)));
    stage.play();
    assert_eq!(stage[r].out, Some((36_200, 40_200)));
    assert_eq!(stage[p].inward, [(0, 4_100), (44_300, 48_400), (96_600, 100_700)]);
    assert_eq!((stage[early].granted(), stage[late].granted()), (48_400, 72_500));
    assert_eq!(stage[p].end(), 100_700 + PROGRAM);
    // 10,000 of the cancelled pulse were lost. The second suspension came at the beginning of the
    // pulse.
    assert_eq!(totals(&stage.flash, &program(0)), suspends(2, 0, 10_000, CUT + 2 * P));
    // The wait of the data for the channel is charged to the channel; all the rest is charged to
    // suspension.
    let own = COMMAND + PAGE + PROGRAM;
    assert_eq!(stage[p].ledger.get(Cause::channel_wait(Occupant::UserProgram)), 4_100);
    assert_eq!(stage[p].ledger.get(Cause::SUSPENDED), 100_700 + PROGRAM - own - 4_100);
}

#[test]
fn data_on_their_way_again_are_not_interrupted() {
    let mut parts = programming("intra-phase");
    parts.suspend.program.data = SuspendedData::Controller;
    let begins = P + 10_000 + CUT + READ;
    for elapsed in [0, 1, P - 1, P] {
        let mut stage = Stage::new(&parts);
        let p = stage.ask(0, program(0));
        stage.ask(P + 10_000, read(0));
        let second = stage.ask(begins + elapsed, read(0));
        stage.play();
        // The pulse has not begun again, so nothing more is lost.
        assert_eq!(stage[second].granted(), begins + P, "{elapsed}");
        assert_eq!(stage[p].inward.len(), 3, "{elapsed}");
        let counted = totals(&stage.flash, &program(0));
        assert_eq!(counted, suspends(2, 0, 10_000, CUT + 2 * P), "{elapsed}");
    }
}

#[test]
fn a_read_during_the_reload_cancels_it_at_no_cost() {
    for (member, cost, free, keep) in
        [("inter-phase", 0, PULSE, PULSE), ("intra-phase", CUT, 10_000 + CUT, 0)]
    {
        let lost = free - cost - keep;
        let begins = P + free + READ;
        for elapsed in [0, 1, RELOAD - 1] {
            let mut stage = Stage::new(&programming(member));
            let p = stage.ask(0, program(0));
            stage.ask(P + 10_000, read(0));
            let second = stage.ask(begins + elapsed, read(0));
            stage.play();
            assert_eq!(stage[second].granted(), begins + elapsed, "{member}, {elapsed}");
            let end = begins + elapsed + READ + RELOAD + PROGRAM - keep;
            assert_eq!(stage[p].end(), end, "{member}, {elapsed}");
            let counted = totals(&stage.flash, &program(0));
            assert_eq!(counted, suspends(2, 1, lost, cost + elapsed + RELOAD), "{member}, {elapsed}");
        }
    }
}

#[test]
fn it_bears_no_more_than_is_said() {
    let x = 10_000;
    let on = x + CUT + READ + RELOAD;
    let end = on + PROGRAM;
    let run = |set: &dyn Fn(&mut SuspendLimits), at: &[u64]| {
        met(&limited(programming("intra-phase"), set), program(0), P, at)
    };
    assert_eq!(run(&|l| l.most = Some(0), &[x]), (vec![PROGRAM], PROGRAM));
    for second in [on - 1, on + 10] {
        assert_eq!(run(&|l| l.most = Some(1), &[x, second]), (vec![x + CUT, end], end), "{second}");
    }
    let spacing = |l: &mut SuspendLimits| l.spacing = Some(Span(20_000));
    assert_eq!(run(&spacing, &[x, on + 10]).0, [x + CUT, on + 20_000 + CUT]);
    let least = |l: &mut SuspendLimits| l.least_left = Some(Span(25_000));
    assert_eq!(run(&least, &[PROGRAM - 25_000]).0, [PROGRAM - 25_000 + CUT]);
    assert_eq!(run(&least, &[PROGRAM - 24_999]).0, [PROGRAM]);
}

#[test]
fn what_is_left_counts_where_it_would_stop() {
    // A read in the first pulse: a verify and a step are left.
    let left = PROGRAM - PULSE;
    let inter = |least: u64| {
        met(&limited(programming("inter-phase"), |l| l.least_left = Some(Span(least))), program(0), P, &[1]).0
    };
    assert_eq!((inter(left), inter(left + 1)), (vec![PULSE], vec![PROGRAM]));
}

#[test]
fn programs_that_joined_are_suspended_together() {
    // The data of both are transferred again.
    let mut parts = programming("inter-phase").joining(&[Occupant::UserProgram], 2);
    parts.suspend.program.data = SuspendedData::Controller;
    let mut stage = Stage::new(&parts);
    let [a, b] = [0, 1].map(|plane| stage.ask(0, on(plane, 0, program(0))));
    let begun = 2 * COMMAND + 2 * PAGE;
    stage.ask(begun + 10_000, read(0));
    stage.play();
    let back = begun + PULSE + READ;
    assert_eq!(stage[a].inward, [(0, begun), (back, back + begun)]);
    let end = back + begun + PROGRAM - PULSE;
    assert_eq!((stage[a].end(), stage[b].end()), (end, end));
    assert_eq!(stage[b].ledger.get(Cause::SUSPENDED), READ + begun);
}
