//! Tests the ledgers of commands that wait behind an erase that is suspended several times.

use super::*;
use tailcut_testkit::Stage;
use tailcut_units::{Cause, HostOp, Occupant};

#[test]
fn a_write_behind_a_suspended_erase() {
    let (x, again) = (300_000, 6_000);
    let begins = x + SUSPEND + READ;
    for (member, check, lost) in [("arbitrary", 0, 0), ("immediate", VERIFY, x)] {
        // A read stops the erase, and a second read stops its resume, during the verify if
        // there is one.
        let mut stage = Stage::new(erasing(member));
        stage.erase(T, 1).write(T + 100_000).read(T + x).read(T + begins + again);
        let played = stage.play(T - COMMAND);
        let write = played.done.iter().find(|d| d.command.op == HostOp::Write).expect("it ended");
        let cut = if again > check { SUSPEND } else { 0 };
        let of = |cause| write.ledger.get(cause);
        assert_eq!(of(Cause::die_wait(Occupant::Erase)), ERASE + lost - 100_000, "{member}");
        assert_eq!(of(Cause::die_wait(Occupant::UserRead)), 2 * READ, "{member}");
        let overhead = SUSPEND + again + cut + check + RAISE;
        assert_eq!(of(Cause::SUSPEND_OVERHEAD), overhead, "{member}");
        assert_eq!(of(Cause::SUSPEND_POINT) + of(Cause::DIE_IDLE) + of(Cause::SUSPENDED), 0, "{member}");
        let own = COMMAND + PAGE + 320_000;
        assert_eq!(write.latency, ERASE + lost - 100_000 + 2 * READ + overhead + own, "{member}");
        assert_eq!(write.ledger.sum(), write.latency, "{member}");
    }
}

#[test]
fn the_way_to_a_suspend_point_is_a_cause_of_its_own() {
    // The time from the arrival of a read to the end of the loop is charged as the way to the
    // suspend point, also for a write that waits.
    let x = 300_000;
    let mut stage = Stage::new(erasing("deferred"));
    stage.erase(T, 1).write(T + 100_000).read(T + x);
    let played = stage.play(T - COMMAND);
    let write = played.done.iter().find(|d| d.command.op == HostOp::Write).expect("it ended");
    assert_eq!(write.ledger.get(Cause::SUSPEND_POINT), LOOP - x);
    assert_eq!(write.ledger.get(Cause::die_wait(Occupant::Erase)), ERASE - 100_000 - (LOOP - x));
    assert_eq!(write.ledger.get(Cause::die_wait(Occupant::UserRead)), READ);
}

#[test]
fn every_suspension_is_a_collection_met() {
    // A read that waited for an erase to give way counts as blocked by a collection. A read
    // that only waited for a host program does not.
    let blocked = |set: &dyn Fn(&mut Stage), c: DeviceConfig| {
        let mut stage = Stage::new(c);
        set(&mut stage);
        stage.play(T - COMMAND).counters.gc_blocked_reads
    };
    let over_erase = |s: &mut Stage| {
        s.erase(T, 1).read(T + 300_000);
    };
    for member in ["arbitrary", "immediate", "deferred"] {
        assert_eq!(blocked(&over_erase, erasing(member)), 1, "{member}");
    }
    let mut c = one_die();
    c.policy.suspend_program = swarm::member("inter-phase");
    let over_program = |s: &mut Stage| {
        s.program(T).read(T + 30_000);
    };
    assert_eq!(blocked(&over_program, c), 0);
}
