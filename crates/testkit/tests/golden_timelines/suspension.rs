//! Erases and programs that are suspended, and erases in two parts.

use super::*;

/// A write starts the erase of a block; the reads arrive at these times after the start of the
/// erase.
fn erased(reads: &[u64]) -> Vec<Line> {
    let begin = 341_680;
    let mut script = vec![(0, Put, 64, UNIT)];
    script.extend(reads.iter().map(|&x| (begin + x, Read, 32, UNIT)));
    script
}

fn suspending(erase: &str, program: &str) -> DeviceConfig {
    let mut c = hungry();
    c.policy.schedule = schedule::ScheduleConfig::ReadPriority(Default::default());
    c.policy.suspend_erase = tailcut_testkit::swarm::member(erase);
    c.policy.suspend_program = tailcut_testkit::swarm::member(program);
    c
}

#[test]
fn an_erase_suspended_anywhere() {
    let question = "ES: the pulse stops in its middle and later continues there; a read also interrupts a resume, and\n\
        a read that arrives during the recovery waits for its end.";
    let (c, script) = (suspending("arbitrary", "never"), erased(&[300_000, 385_000, 1_130_000]));
    check("an_erase_suspended_anywhere", question, &c, &emptied(), &script, 30_000);
}

#[test]
fn an_erase_suspended_immediately() {
    let question = "I-ES: the loop under way is cancelled; resuming is a verify, then the whole loop.";
    let (c, script) = (suspending("immediate", "never"), erased(&[800_000, 1_750_000]));
    check("an_erase_suspended_immediately", question, &c, &emptied(), &script, 25_000);
}

#[test]
fn an_erase_suspended_between_loops() {
    let question = "D-ES: a loop that has begun completes; a read that arrives while the first is served waits\n\
        for the end of the next loop.";
    let (c, script) = (suspending("deferred", "never"), erased(&[300_000, 1_020_000]));
    check("an_erase_suspended_between_loops", question, &c, &emptied(), &script, 50_000);
}

#[test]
fn an_erase_that_serves_all_reads_between_loops() {
    let question = "D-ES that serves until no read waits: a read that arrives while the first is served is\n\
        served before the next loop begins.";
    let (mut c, script) = (suspending("deferred", "never"), erased(&[300_000, 1_020_000]));
    c.suspend.erase.serve = ServedAfterLoop::All;
    check("an_erase_that_serves_all_reads_between_loops", question, &c, &emptied(), &script, 50_000);
}

/// Six blocks a plane, of which two are filled; each needs two loops. The first extent of die 0 is trimmed
/// and the other four are written, so that the first one is next.
fn reopened() -> (DeviceConfig, Vec<Line>) {
    let mut c = hungry();
    (c.geometry.blocks, c.ftl.over_provisioning) = (6, Some(0.6));
    c.policy.gc_schedule = gc_schedule::GcScheduleConfig::Threshold(gc_schedule::threshold::Config {
        start: Level::Count(4),
        hard: Level::Count(1),
        ..Default::default()
    });
    c.policy.erase_scheme = tailcut_testkit::swarm::member("ispe");
    let erase = c.erase.as_mut().expect("it has the table");
    erase.rows = vec!["ispe 0: 7ms 100".parse().expect("a row")];
    erase.defer_last_loop = true;
    let mut before = emptied();
    before.extend((0..16).map(|k| (30_000_000 * (k + 1), Put, 0, UNIT)));
    (c, before)
}

#[test]
fn an_erase_without_its_last_loop() {
    let question = "The write opens an extent, and a collection erases an empty one. Its blocks need two loops: the\n\
        collection makes the first.";
    let (c, _) = reopened();
    let script = [(0, Put, 0, UNIT), (500_000, Read, 32, UNIT)];
    check("an_erase_without_its_last_loop", question, &c, &emptied(), &script, 150_000);
}

#[test]
fn a_last_loop_that_was_deferred() {
    let question = "The extent that the first write opens lacks the last loop of its erase. Both writes are held until\n\
        its end; the read of the die waits for it too.";
    let (c, before) = reopened();
    let script = [(0, Put, 0, UNIT), (100_000, Put, 4, UNIT), (300_000, Read, 32, UNIT)];
    check("a_last_loop_that_was_deferred", question, &c, &before, &script, 150_000);
}

#[test]
fn an_erase_across_its_timeout() {
    let mut c = suspending("timeout", "never");
    let after = suspend_erase::timeout::Config { after: Span(1_250_000), ..Default::default() };
    c.policy.suspend_erase = suspend_erase::SuspendEraseConfig::Timeout(after);
    let question = "T-ES, 1.25 ms, of which the erase waits 341 us for the program: the first read cancels a loop,\n\
        the second the verify before it is repeated; by the third the timeout is reached, and the loop ends first.";
    let script = erased(&[800_000, 880_000, 1_300_000]);
    check("an_erase_across_its_timeout", question, &c, &emptied(), &script, 25_000);
}

#[test]
fn a_program_suspended_between_phases() {
    let question = "IPS: the pulse ends, then the read; the page register is filled again.";
    let script = [(0, Put, 64, UNIT), (60_000, Read, 0, UNIT)];
    let c = suspending("never", "inter-phase");
    check("a_program_suspended_between_phases", question, &c, &[], &script, 5_000);
}

#[test]
fn a_program_cancelled_in_a_phase() {
    let mut c = suspending("never", "intra-phase");
    c.suspend.program.data = tailcut_core::nand::config::SuspendedData::Controller;
    let question = "IPC: the pulse is cut and begins again; its data come from the controller again.";
    let script = [(0, Put, 64, UNIT), (60_000, Read, 0, UNIT)];
    check("a_program_cancelled_in_a_phase", question, &c, &[], &script, 4_000);
}

#[test]
fn a_read_in_a_program_in_an_erase() {
    let mut c = suspending("arbitrary", "inter-phase");
    c.policy.schedule = schedule::ScheduleConfig::ReadWriteErase(Default::default());
    let question =
        "Nested: a write stops the erase, and a read the write's program; they resume in reverse order.";
    let mut script = erased(&[]);
    script.extend([(641_680, Put, 72, UNIT), (750_000, Read, 32, UNIT)]);
    check("a_read_in_a_program_in_an_erase", question, &c, &emptied(), &script, 30_000);
}
