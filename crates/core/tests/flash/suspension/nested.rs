//! A program that suspends an erase, and a read that suspends that program: they resume in reverse
//! order.

use super::*;
use crate::driver::account;
use tailcut_core::policy::schedule::{ScheduleConfig, read_write_erase};

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
    // The second read waited only for the first.
    assert_eq!(stage[second].ledger.get(Cause::die_wait(Occupant::UserRead)), 92_300 - 70_000);
}

#[test]
fn a_program_over_an_erase_that_gives_way_to_nothing() {
    let mut stage = Stage::new(&nesting("arbitrary", "never", true));
    let e = stage.ask(0, erase(0));
    let (p, r) = (stage.ask(30_100, program(0)), stage.ask(48_200, read(0)));
    stage.play();
    // The read waits for the program, at 118,200, and the erase for the read.
    assert_eq!((stage[p].end(), stage[r].granted()), (118_200, 118_200));
    assert_eq!(stage[e].array[1], (118_200 + READ + RAISE, 118_200 + READ + RAISE + 270_000));
    assert_eq!(stage.flash.counters().erase_suspension.suspends, 1);
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
    // Among the operations that may interrupt, the schedule chooses the first.
    let mut stage = Stage::new(&nesting("arbitrary", "never", true));
    stage.ask(0, erase(0));
    let (p, r) = (stage.ask(30_100, program(0)), stage.ask(34_099, read(0)));
    stage.play();
    assert_eq!((stage[r].granted(), stage[p].granted()), (34_100, 34_100 + READ));
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
