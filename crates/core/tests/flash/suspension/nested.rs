//! A program that suspends an erase, and a read that suspends that program: they resume in reverse
//! order.

use super::*;
use crate::driver::account;
use tailcut_core::policy::schedule::{ScheduleConfig, read_write_erase};
use tailcut_core::policy::suspend_program::SuspendProgramConfig;

fn nesting(erases: &str, programs: &str, write_suspends_erase: bool) -> Parts {
    let config = read_write_erase::Config { write_suspends_erase };
    Parts {
        schedule: ScheduleConfig::ReadWriteErase(config),
        ..Parts::under("read-write-erase", erases, programs)
    }
}

#[test]
fn a_read_over_a_program_over_an_erase() {
    let mut stage = Stage::new(&nesting("arbitrary", "inter-phase", true));
    let e = stage.ask(0, erase(0));
    // 30,000 into the erase; the voltage falls for 4,000, and the data of the program are in at
    // 38,200.
    let p = stage.ask(30_100, program(0));
    // 10,000 into the first pulse of the program, which ends at 68,200; the read is out at 92,300.
    let r = stage.ask(48_200, read(0));
    // A second read arrives meanwhile, and goes before the program too.
    let second = stage.ask(70_000, read(0));
    stage.play();
    assert_eq!((stage[p].granted(), stage[p].inward[0]), (34_100, (34_100, 38_200)));
    assert_eq!((stage[r].granted(), stage[second].granted()), (68_200, 92_300));
    // The reload ends at 117,900. Then follow a verify, a pulse and a verify. Then the voltage
    // rises for 7,000, and 270,000 of the erase are left.
    assert_eq!(stage[p].array, [(38_200, 68_200), (117_900, 167_900)]);
    assert_eq!((stage[p].resuming[0], stage[e].resuming[0]), ((116_400, 117_900), (167_900, 174_900)));
    assert_eq!(stage[e].array, [(100, 30_100), (174_900, 444_900)]);
    let causes = [
        ("command", 100),
        ("array", 80_000),
        ("transfer", 4_000),
        ("suspended", 2 * READ + RELOAD),
        ("die_wait.suspend_overhead", FALL),
    ];
    assert_eq!(stage[p].account(), account(&causes));
    let causes = [("command", 100), ("array", 300_000), ("suspended", 444_900 - 300_100)];
    assert_eq!(stage[e].account(), account(&causes));
    // The first read waited for the end of the pulse, and the second only for the first.
    assert_eq!(stage[r].ledger.get(Cause::SUSPEND_POINT), 68_200 - 48_200);
    assert_eq!(stage[r].end(), 92_300 + DECODE);
    assert_eq!(stage[second].ledger.get(Cause::die_wait(Occupant::UserRead)), 92_300 - 70_000);
}

#[test]
fn a_read_meets_every_phase_of_a_program_over_an_erase() {
    // 30,000 into the erase the voltage falls, and then the data of the program come in.
    let x = 30_000;
    let begun = E + x + FALL + P;
    for &member in SuspendProgramConfig::MEMBERS {
        let late = [PROGRAM + 2_501, PROGRAM + RAISE - 1];
        for at in instants(&[0, PULSE], STEP, PROGRAM).into_iter().chain(late) {
            let label = format!("{member}, a read at {at}");
            let mut stage = Stage::new(&nesting("arbitrary", member, true));
            let e = stage.ask(0, erase(0));
            let (p, r) = (stage.ask(E + x, program(0)), stage.ask(begun + at, read(0)));
            stage.play();
            assert_eq!(stage[p].inward[0].0, E + x + FALL, "{label}");
            let (granted, end) = match program_way(member, Occupant::UserProgram, at, PROGRAM) {
                Some(w) => (w.free, w.free + READ + w.resume + PROGRAM - w.keep),
                None => (at.max(PROGRAM), PROGRAM),
            };
            // A read that arrives when the program has ended cancels the resume of the erase.
            let cancelled = at >= PROGRAM;
            let cut = if at > PROGRAM { FALL } else { 0 };
            assert_eq!(stage[r].granted(), begun + granted + cut, "{label}");
            assert_eq!(stage[p].end(), begun + end, "{label}");
            // The erase continues last, from where the program stopped it.
            let on = begun + end.max(granted + cut + READ) + RAISE;
            assert_eq!(stage[e].array, [(E, E + x), (on, on + ERASE - x)], "{label}");
            let c = totals(&stage.flash, &erase(0));
            let counts = (c.suspends, c.resumes_cancelled, c.repeated_ns);
            assert_eq!(counts, (1 + u64::from(cancelled), u64::from(cancelled), 0), "{label}");
        }
    }
}

#[test]
fn a_write_does_not_interrupt_where_it_may_not() {
    for parts in [nesting("arbitrary", "inter-phase", false), erasing("arbitrary")] {
        let mut stage = Stage::new(&parts);
        let e = stage.ask(0, erase(0));
        let p = stage.ask(30_100, program(0));
        // The program waits, while a read that came later interrupts the erase.
        let r = stage.ask(40_100, read(0));
        stage.play();
        assert_eq!((stage[r].granted(), stage[p].granted()), (44_100, stage[e].end()));
    }
    // Among the operations that may interrupt, the schedule chooses the first, up to the last
    // instant. The erase continues when both are served.
    for at in [30_100, 30_101, 34_099] {
        let mut stage = Stage::new(&nesting("arbitrary", "never", true));
        let e = stage.ask(0, erase(0));
        let (p, r) = (stage.ask(30_100, program(0)), stage.ask(at, read(0)));
        stage.play();
        assert_eq!((stage[r].granted(), stage[p].granted()), (34_100, 34_100 + READ), "{at}");
        let end = stage[p].end();
        assert_eq!(stage[e].resuming, [(end, end + RAISE)], "{at}");
        assert_eq!(totals(&stage.flash, &erase(0)).suspends, 1, "{at}");
    }
}

#[test]
fn a_write_during_the_resume_cancels_it() {
    let begins = E + 30_000 + FALL + READ;
    let mut stage = Stage::new(&nesting("arbitrary", "never", true));
    stage.ask(0, erase(0));
    stage.ask(E + 30_000, read(0));
    let p = stage.ask(begins + 5_000, program(0));
    stage.play();
    assert_eq!(stage[p].granted(), begins + 5_000 + FALL);
    assert_eq!(totals(&stage.flash, &erase(0)).resumes_cancelled, 1);
}

#[test]
fn deferred_serves_writes_that_were_queued_too() {
    let mut stage = Stage::new(&nesting("deferred", "inter-phase", true));
    let e = stage.ask(0, erase(0));
    let first = stage.ask(30_000, program(0));
    // The second program arrives while the first is programmed, after the loop ended.
    let late = stage.ask(E + LOOP + 10_000, program(0));
    stage.play();
    let own = P + PROGRAM;
    assert_eq!((stage[first].granted(), stage[late].granted()), (E + LOOP, E + 2 * LOOP + own));
    assert_eq!(stage[e].end(), E + ERASE + 2 * own);
}
