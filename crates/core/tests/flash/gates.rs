//! Which operations a closed die holds back, and which causes their waits are charged to.

use crate::driver::{Act, Stage, account};
use crate::parts::*;
use tailcut_core::address::BusyUnit;
use tailcut_core::flash::Submitted;
use tailcut_core::policy::schedule::ScheduleConfig;
use tailcut_core::policy::suspend_erase::SuspendEraseConfig;
use tailcut_units::{Cause, Occupant, Occupants};

const CLOSE: Act = Act::Close { unit: BusyUnit(0), erases: false };
const OPEN: Act = Act::Open { unit: BusyUnit(0), erases: false };
const CLOSE_TO_ERASE: Act = Act::Close { unit: BusyUnit(0), erases: true };
const OPEN_FROM_ERASE: Act = Act::Open { unit: BusyUnit(0), erases: true };

#[test]
fn a_closed_die_begins_nothing_but_collection() {
    for kind in Occupant::ALL {
        let mut stage = Stage::new(&Parts::new());
        stage.act(10, CLOSE);
        let op = stage.ask(20, of(kind, 0));
        // Neither the other die of the channel nor another channel is closed.
        let others = [1, 2].map(|unit| stage.ask(20, of(kind, unit)));
        stage.act(400_000, OPEN);
        stage.until(30);
        assert!(stage.flash.is_closed(BusyUnit(0)) && !stage.flash.is_closed(BusyUnit(1)));
        assert_eq!(stage.flash.closed_by(BusyUnit(0)), (1, 0));
        assert_eq!(stage.flash.waiting(BusyUnit(0)).has(kind), !Occupants::COLLECTION.has(kind), "{kind:?}");
        stage.play();
        stage.flash.audit_rest().expect("it is idle");
        let granted = if Occupants::COLLECTION.has(kind) { 20 } else { 400_000 };
        assert_eq!(stage[op].granted(), granted, "{kind:?}");
        assert_eq!(stage[op].ledger.get(Cause::GC_HOLD), granted - 20, "{kind:?}");
        assert_eq!(others.map(|o| stage[o].granted()), [20, 20], "{kind:?}");
    }
}

#[test]
fn the_wait_is_split_by_what_the_collection_does() {
    let mut stage = Stage::new(&Parts::new());
    stage.act(10, CLOSE);
    let waits = stage.ask(20, read(0));
    // The collection reads from 1,000 to 25,100 and goes on to its erase at 30,000. The erase is
    // submitted at 40,000 and ends at 340,100.
    stage.ask(1_000, of(Occupant::GcRead, 0));
    stage.act(30_000, Act::CloseToErase(BusyUnit(0)));
    stage.ask(40_000, of(Occupant::Erase, 0));
    stage.act(350_000, OPEN_FROM_ERASE);
    stage.play();
    assert_eq!(stage[waits].granted(), 350_000);
    let causes = [
        ("command", 100),
        ("array", 20_000),
        ("transfer", 4_000),
        ("decode", 500),
        ("gc_hold.copy", (1_000 - 20) + (30_000 - 25_100)),
        ("gc_hold.erase", (40_000 - 30_000) + (350_000 - 340_100)),
        ("die_wait.gc_read", READ),
        ("die_wait.erase", COMMAND + ERASE),
    ];
    assert_eq!(stage[waits].account(), account(&causes));
}

#[test]
fn it_goes_on_to_its_erase_while_the_die_is_busy() {
    let mut stage = Stage::new(&Parts::new());
    stage.act(10, CLOSE);
    stage.ask(10, of(Occupant::GcRead, 0));
    let waits = stage.ask(20, read(0));
    stage.act(5_000, Act::CloseToErase(BusyUnit(0)));
    stage.act(50_000, OPEN_FROM_ERASE);
    stage.play();
    let l = &stage[waits].ledger;
    assert_eq!((l.get(Cause::GC_HOLD), l.get(Cause::GC_HOLD_ERASE)), (0, 50_000 - 10 - READ));
    assert_eq!(l.get(Cause::die_wait(Occupant::GcRead)), READ - 10);
}

#[test]
fn two_collections_close_a_die_until_both_open_it() {
    // While one of the two collections moves data, the wait is charged to `gc_hold.copy`.
    let mut stage = Stage::new(&Parts::new());
    stage.act(0, CLOSE_TO_ERASE);
    let waits = stage.ask(1_000, read(0));
    stage.act(3_000, CLOSE);
    stage.act(7_000, OPEN);
    stage.act(12_000, CLOSE);
    stage.act(20_000, OPEN_FROM_ERASE);
    stage.act(33_000, OPEN);
    stage.until(15_000);
    assert_eq!(stage.flash.closed_by(BusyUnit(0)), (2, 0));
    stage.play();
    assert_eq!(stage[waits].granted(), 33_000);
    let l = &stage[waits].ledger;
    assert_eq!(l.get(Cause::GC_HOLD_ERASE), 2_000 + 5_000);
    assert_eq!(l.get(Cause::GC_HOLD), 4_000 + 8_000 + 13_000);
}

#[test]
fn what_has_its_die_goes_on_when_it_closes() {
    let mut stage = Stage::new(&Parts::new());
    let (begun, waits) = (stage.ask(0, read(0)), stage.ask(0, read(0)));
    stage.act(10, CLOSE);
    stage.act(60_000, OPEN);
    stage.play();
    assert_eq!((stage[begun].end(), stage[waits].granted()), (READ + DECODE, 60_000));
    let l = &stage[waits].ledger;
    assert_eq!(l.get(Cause::die_wait(Occupant::UserRead)), READ);
    assert_eq!(l.get(Cause::GC_HOLD), 60_000 - READ);
}

#[test]
fn time_before_it_closed_is_idle() {
    // The die is closed to programs while it is idle, and closes to all host operations only later.
    let mut stage = Stage::new(&Parts::new());
    stage.act(0, Act::CloseToPrograms(BusyUnit(0)));
    let waits = stage.ask(100, program(0));
    stage.act(1_100, CLOSE);
    stage.act(3_300, OPEN);
    stage.act(7_700, Act::OpenToPrograms(BusyUnit(0)));
    stage.play();
    let l = &stage[waits].ledger;
    assert_eq!((l.get(Cause::DIE_IDLE), l.get(Cause::GC_HOLD)), (1_000 + 4_400, 2_200));
    assert_eq!(stage[waits].granted(), 7_700);
}

#[test]
fn whose_turn_it_is_when_a_die_opens_the_schedule_says() {
    for &name in ScheduleConfig::MEMBERS {
        let mut stage = Stage::new(&Parts::under(name, "never", "never"));
        stage.act(0, CLOSE);
        let (p, r) = (stage.ask(10, program(0)), stage.ask(20, read(0)));
        stage.act(30_000, OPEN);
        stage.play();
        let read_first = stage[r].granted() == 30_000;
        assert_eq!(read_first, name != "fifo", "{name}");
        assert_eq!(stage[if read_first { r } else { p }].granted(), 30_000, "{name}");
    }
}

#[test]
fn a_die_that_is_closed_to_programs_begins_all_else() {
    for kind in Occupant::ALL {
        let mut stage = Stage::new(&Parts::new());
        // Two collections close it.
        stage.act(0, Act::CloseToPrograms(BusyUnit(0)));
        stage.act(0, Act::CloseToPrograms(BusyUnit(0)));
        let op = stage.ask(20, of(kind, 0));
        stage.act(300_000, Act::OpenToPrograms(BusyUnit(0)));
        stage.act(400_000, Act::OpenToPrograms(BusyUnit(0)));
        stage.until(30);
        assert_eq!((stage.flash.closed_by(BusyUnit(0)), stage.flash.is_closed(BusyUnit(0))), ((0, 2), false));
        stage.play();
        let waits = Occupants::HOST_PROGRAMS.has(kind);
        assert_eq!(stage[op].granted(), if waits { 400_000 } else { 20 }, "{kind:?}");
        let said = if waits { Submitted::ProgramClosed } else { Submitted::Taken };
        assert_eq!(stage[op].submitted, said, "{kind:?}");
        assert_eq!(stage[op].ledger.get(Cause::DIE_IDLE), if waits { 399_980 } else { 0 }, "{kind:?}");
    }
}

#[test]
fn a_program_that_is_barred_is_told_so_on_a_busy_die_too() {
    let mut stage = Stage::new(&Parts::new());
    let busy = stage.ask(0, read(0));
    stage.act(10, Act::CloseToPrograms(BusyUnit(0)));
    let (waits, passes) = (stage.ask(20, program(0)), stage.ask(30, of(Occupant::Background, 0)));
    stage.act(200_000, Act::OpenToPrograms(BusyUnit(0)));
    let after = stage.ask(200_001, program(0));
    stage.play();
    assert_eq!((stage[busy].submitted, stage[waits].submitted), (Submitted::Taken, Submitted::ProgramClosed));
    assert_eq!(stage[after].submitted, Submitted::Taken);
    // The operation that came later passes the program.
    assert_eq!((stage[passes].granted(), stage[waits].granted()), (READ, 200_000));
    assert_eq!(stage[waits].ledger.get(Cause::DIE_IDLE), 200_000 - 2 * READ);
}

#[test]
fn a_read_of_a_closed_die_interrupts_nothing_and_takes_no_die() {
    let mut stage = Stage::new(&Parts::under("read-priority", "arbitrary", "intra-phase"));
    let erases = stage.ask(0, erase(0));
    stage.act(10, CLOSE_TO_ERASE);
    stage.until(30_000);
    let waits = stage.ask(30_000, read(0));
    stage.act(310_000, OPEN_FROM_ERASE);
    stage.play();
    assert!(stage[erases].suspended.is_empty());
    assert_eq!((stage[erases].end(), stage[waits].granted()), (300_100, 310_000));
    assert_eq!(stage[waits].ledger.get(Cause::die_wait(Occupant::Erase)), 270_100);
    // The program of a collection waits for the channel, which the program of another die occupies.
    let mut stage = Stage::new(&Parts::under("read-priority", "arbitrary", "intra-phase"));
    stage.act(0, CLOSE);
    stage.ask(0, program(1));
    let moves = stage.ask(10, of(Occupant::GcProgram, 0));
    let waits = stage.ask(20, read(0));
    stage.act(150_000, OPEN);
    stage.play();
    assert_eq!((stage[moves].grants.as_slice(), stage[moves].inward[0]), (&[10][..], (4_100, 8_200)));
    assert!(stage[moves].suspended.is_empty() && stage[moves].returned.is_empty());
    assert_eq!(stage[waits].granted(), 150_000);
}

#[test]
fn who_waits_at_a_die_that_opens_is_treated_like_an_arrival() {
    let interrupts = |member: &&str| *member != "never";
    assert!(SuspendEraseConfig::MEMBERS.iter().any(interrupts));
    for &member in SuspendEraseConfig::MEMBERS {
        let granted = |script: &dyn Fn(&mut Stage) -> usize| {
            let mut stage = Stage::new(&Parts::under("read-priority", member, "never"));
            stage.ask(0, erase(0));
            let read = script(&mut stage);
            stage.play();
            stage[read].granted()
        };
        for at in [30_000, 120_000, 290_000] {
            let arrives = granted(&|stage| stage.ask(at, read(0)));
            let waits = granted(&|stage| {
                stage.act(10, CLOSE);
                stage.act(at, OPEN);
                stage.ask(20, read(0))
            });
            assert_eq!(waits, arrives, "{member}, {at}");
            assert!(member == "never" || at > 200_000 || arrives < COMMAND + ERASE, "{member}, {at}");
        }
    }
    // The read takes its die from an erase that waits for the channel, which is in use until 4,100.
    let mut stage = Stage::new(&Parts::under("read-priority", "never", "never"));
    stage.ask(0, program(1));
    stage.act(5, CLOSE);
    let erases = stage.ask(10, erase(0));
    let reads = stage.ask(20, read(0));
    stage.act(1_000, OPEN);
    stage.play();
    assert_eq!((stage[reads].granted(), &stage[erases].returned), (1_000, &vec![1_000]));
}

#[test]
fn what_is_suspended_on_a_die_that_closes_goes_on() {
    // Two reads wait when the erase is suspended; the die closes while the first is served.
    let mut stage = Stage::new(&Parts::under("read-priority", "ideal", "never"));
    let erases = stage.ask(0, erase(0));
    let reads = [30_100, 30_200].map(|at| stage.ask(at, read(0)));
    stage.act(40_000, CLOSE_TO_ERASE);
    stage.act(400_000, OPEN_FROM_ERASE);
    stage.play();
    let on = 30_100 + READ;
    assert_eq!(stage[erases].array, [(100, 30_100), (on, on + 270_000)]);
    assert_eq!(reads.map(|r| stage[r].granted()), [30_100, 400_000]);
    let l = &stage[reads[1]].ledger;
    assert_eq!(l.get(Cause::die_wait(Occupant::Erase)), 270_000);
    assert_eq!(l.get(Cause::GC_HOLD_ERASE), 400_000 - on - 270_000);
}
