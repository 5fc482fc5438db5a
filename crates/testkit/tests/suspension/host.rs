//! Tests what a suspension says and does outside the flash: the ledgers of the host's commands, its
//! counters, and the timeout that the write buffer drives.

use super::*;
use tailcut_core::policy::schedule::{ScheduleConfig, read_write_erase};
use tailcut_core::policy::{buffer, flush};
use tailcut_testkit::{Done, Played, Stage};
use tailcut_units::{Cause, HostOp, Occupant};

/// The only write that ended.
fn write(played: &Played) -> &Done {
    let mut writes = played.done.iter().filter(|d| d.command.op == HostOp::Write);
    let first = writes.next().expect("it ended");
    assert!(writes.next().is_none());
    first
}

#[test]
fn a_write_behind_a_suspended_erase() {
    // A read cancels the loop, and a second read cancels the resume during its verify.
    let (x, again) = (300_000, 6_000);
    let mut stage = Stage::new(erasing("immediate"));
    stage.erase(T, 1).write(T + 100_000).read(T + x).read(T + x + SUSPEND + READ + again);
    let played = stage.play(T - COMMAND);
    let write = write(&played);
    let overhead = SUSPEND + again + VERIFY + RAISE;
    let causes = [
        (Cause::die_wait(Occupant::Erase), ERASE + x - 100_000),
        (Cause::die_wait(Occupant::UserRead), 2 * READ),
        (Cause::SUSPEND_OVERHEAD, overhead),
        (Cause::SUSPEND_POINT, 0),
        (Cause::DIE_IDLE, 0),
        (Cause::SUSPENDED, 0),
    ];
    for (cause, ns) in causes {
        assert_eq!(write.ledger.get(cause), ns, "{}", cause.name());
    }
    let own = COMMAND + PAGE + 320_000;
    assert_eq!(write.latency, ERASE + x - 100_000 + 2 * READ + overhead + own);
    assert_eq!(write.ledger.sum(), write.latency);
}

#[test]
fn a_write_that_suspends_an_erase_and_is_suspended() {
    let mut c = erasing("arbitrary");
    let config = read_write_erase::Config { write_suspends_erase: true };
    c.policy.schedule = ScheduleConfig::ReadWriteErase(config);
    c.policy.suspend_program = swarm::member("inter-phase");
    // The write stops the erase; its program has pulses of 70,000 and a reload of 3,000.
    let (w, pulse, reload) = (300_000, 70_000, 3_000);
    let begun = w + SUSPEND + COMMAND + PAGE;
    // A read stops the program; a second read waits for the first.
    let mut stage = Stage::new(c);
    stage.erase(T, 1).write(T + w).read(T + begun + 30_000).read(T + begun + pulse + 1_000);
    let played = stage.play(T - COMMAND);
    let ledger = &write(&played).ledger;
    assert_eq!(ledger.get(Cause::SUSPEND_OVERHEAD), SUSPEND, "the erase's");
    assert_eq!(ledger.get(Cause::SUSPENDED), 2 * READ + reload);
    let [first, second] = played.reads()[..] else { panic!("two reads") };
    assert_eq!(first.ledger.get(Cause::SUSPEND_POINT), pulse - 30_000);
    assert_eq!(first.latency, pulse - 30_000 + READ + 1_700);
    assert_eq!(second.ledger.get(Cause::die_wait(Occupant::UserRead)), READ - 1_000);
    assert_eq!(second.latency, 2 * READ - 1_000 + 1_700);
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

#[test]
fn the_clock_of_the_oldest_write_runs_while_a_write_waits_for_room() {
    let run = |x: u64, after: u64| {
        let mut c = one_die();
        let clock = timeout::Clock::OldestWrite;
        c.policy.suspend_erase = SuspendEraseConfig::Timeout(timeout::Config { after: Span(after), clock });
        // Room for one page, which is flushed as soon as the die is free.
        c.policy.buffer = buffer::BufferConfig::Lru(buffer::lru::Config {
            capacity: 8_192,
            power_loss: buffer::lru::PowerLoss::Volatile,
            write_latency: Span(0),
            ..Default::default()
        });
        c.policy.flush = flush::FlushConfig::Watermark(flush::watermark::Config { high: 0.0, low: 0.0 });
        let mut stage = Stage::new(c);
        // The first write takes the room and waits for the die; the second waits for room.
        stage.erase(T, 1).write(T + 1_000).write(T + 2_000).read(T + x);
        stage.play(T - COMMAND).only(Occupant::UserRead).granted - T
    };
    let x = 300_000;
    assert_eq!(run(x, x - 2_000 + 1), x + SUSPEND, "the write has not waited long enough");
    assert_eq!(run(x, x - 2_000), LOOP, "it has");
}
