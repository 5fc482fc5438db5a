//! Tests a write that suspends an erase and a read that suspends the write's program: they
//! resume in reverse order.

use super::program::{PROGRAM, PULSE, RELOAD, STEP, expected};
use super::*;
use tailcut_core::policy::schedule::{ScheduleConfig, read_write_erase};
use tailcut_testkit::Stage;
use tailcut_units::{Cause, HostOp, Occupant};

/// Arrival of the write, and start of its program after the suspension and the data transfer,
/// ns.
const W: u64 = 300_000;
const P: u64 = W + SUSPEND + COMMAND + PAGE;

fn nesting(erase: &str, program: &str, write_suspends_erase: bool) -> DeviceConfig {
    let mut c = erasing(erase);
    c.policy.schedule = ScheduleConfig::ReadWriteErase(read_write_erase::Config { write_suspends_erase });
    c.policy.suspend_program = swarm::member(program);
    c
}

#[test]
fn a_read_over_a_program_over_an_erase() {
    let boundaries = (0..=4).flat_map(|n| [n * STEP, n * STEP + PULSE]);
    let instants = boundaries.flat_map(|b| [b.saturating_sub(1), b, b + 1, b + 5_001]);
    for x in instants.filter(|&x| x < PROGRAM + RAISE) {
        for program in ["never", "inter-phase", "intra-phase"] {
            let label = format!("{program}, a read at {x}");
            let mut stage = Stage::new(nesting("arbitrary", program, true));
            stage.erase(T, 1).write(T + W).read(T + P + x);
            let played = stage.play(T - COMMAND);
            let (erase, write) = (played.only(Occupant::Erase), played.only(Occupant::UserProgram));
            let read = played.only(Occupant::UserRead);
            assert_eq!(write.on_channel(), T + W + SUSPEND, "{label}");
            let way = expected(program, x);
            let (granted, end) = match way {
                Some((_, free, keep)) => (P + free, P + free + READ + RELOAD + PROGRAM - keep),
                None => (P + x.max(PROGRAM), P + PROGRAM),
            };
            // A read that arrives while the erase resumes cancels the resume.
            let cut = if x > PROGRAM { SUSPEND } else { 0 };
            assert_eq!((read.granted, write.released()), (T + granted + cut, T + end), "{label}");
            // The erase continues last, at the point where the write stopped it.
            let last = if way.is_some() { end } else { granted + cut + READ };
            let on = T + last + RAISE;
            assert_eq!(erase.array, [(T, T + W), (on, on + ERASE - W)], "{label}");
            let c = &played.flash.erase_suspension;
            let cancelled = u64::from(x >= PROGRAM);
            assert_eq!((c.suspends, c.resumes_cancelled), (1 + cancelled, cancelled), "{label}");
            assert_eq!(played.flash.erase_suspension.repeated_ns, 0, "{label}");
        }
    }
}

#[test]
fn a_write_stops_an_erase_only_where_it_may_and_after_the_reads() {
    // Not permitted by the option: the write waits for the end.
    let run = |c: DeviceConfig, read: Option<u64>| {
        let mut stage = Stage::new(c);
        stage.erase(T, 1).write(T + W);
        if let Some(at) = read {
            stage.read(T + at);
        }
        stage.play(T - COMMAND)
    };
    let played = run(nesting("arbitrary", "never", false), None);
    assert_eq!(played.only(Occupant::UserProgram).granted, T + ERASE);
    assert_eq!(played.flash.erase_suspension.suspends, 0);
    // Not permitted by the schedule `read-priority` either.
    assert_eq!(run(erasing("arbitrary"), None).only(Occupant::UserProgram).granted, T + ERASE);
    // A read that arrives while the voltage falls for the write is served first. Both are
    // served before the erase continues.
    for read in [W, W + 1, W + SUSPEND - 1] {
        let played = run(nesting("arbitrary", "never", true), Some(read));
        let (erase, write) = (played.only(Occupant::Erase), played.only(Occupant::UserProgram));
        assert_eq!(played.only(Occupant::UserRead).granted, T + W + SUSPEND, "{read}");
        assert_eq!(write.granted, T + W + SUSPEND + READ, "{read}");
        assert_eq!(erase.resuming, [(write.released(), write.released() + RAISE)], "{read}");
        assert_eq!(played.flash.erase_suspension.suspends, 1, "{read}");
    }
}

#[test]
fn a_write_during_the_resume_cancels_it() {
    // A read has suspended the erase; the write arrives while the voltage rises.
    let begins = W + SUSPEND + READ;
    let mut stage = Stage::new(nesting("arbitrary", "never", true));
    stage.erase(T, 1).read(T + W).write(T + begins + 4_000);
    let played = stage.play(T - COMMAND);
    assert_eq!(played.only(Occupant::UserProgram).granted, T + begins + 4_000 + SUSPEND);
    assert_eq!(played.flash.erase_suspension.resumes_cancelled, 1);
}

#[test]
fn deferred_serves_the_writes_that_were_queued_too() {
    let mut stage = Stage::new(nesting("deferred", "inter-phase", true));
    // The second write arrives after the end of the loop and waits for the end of the next
    // loop.
    stage.erase(T, 1).write(T + W).write(T + LOOP + 1);
    let played = stage.play(T - COMMAND);
    let writes = played.of(Occupant::UserProgram);
    let first = COMMAND + PAGE + PROGRAM;
    assert_eq!((writes[0].granted, writes[0].released()), (T + LOOP, T + LOOP + first));
    assert_eq!(writes[1].granted, T + 2 * LOOP + first);
}

#[test]
fn everyone_waits_for_what_they_wait_for() {
    let mut stage = Stage::new(nesting("arbitrary", "inter-phase", true));
    // A read stops the program; a second read waits for the first.
    stage.erase(T, 1).write(T + W).read(T + P + 30_000).read(T + P + PULSE + 1_000);
    let played = stage.play(T - COMMAND);
    let write = &played.done.iter().find(|d| d.command.op == HostOp::Write).unwrap().ledger;
    assert_eq!(write.get(Cause::SUSPEND_OVERHEAD), SUSPEND, "the erase's");
    assert_eq!(write.get(Cause::SUSPENDED), 2 * READ + RELOAD);
    let [first, second] = played.reads()[..] else { panic!("two reads") };
    assert_eq!(first.ledger.get(Cause::SUSPEND_POINT), PULSE - 30_000);
    assert_eq!(first.latency, PULSE - 30_000 + READ + 1_700);
    assert_eq!(second.ledger.get(Cause::die_wait(Occupant::UserRead)), READ - 1_000);
    assert_eq!(second.latency, 2 * READ - 1_000 + 1_700);
}
