//! Are the reads that a collection holds up counted as they are seen from outside: directly,
//! and behind a host operation that a collection held up?

use std::collections::BTreeMap;
use tailcut_core::device::{Counters, Device, OpKind, Step, StepEvent};
use tailcut_core::policy::gc_schedule::{GcScheduleConfig, instant};
use tailcut_core::policy::schedule::ScheduleConfig;
use tailcut_core::policy::suspend_program::SuspendProgramConfig;
use tailcut_testkit::{closed_loop, parity_drive, small_drive};
use tailcut_units::{Cause, Command, HostOp, Occupant, Stream};

/// What one host read waited for.
struct Read {
    /// Time at its die, and how much of that behind host programs.
    die: u64,
    programs: u64,
    /// Whether any of its waits was for a collection.
    met: bool,
}

/// An operation on its die.
struct Stay {
    granted: u64,
    released: u64,
    read: Option<u64>,
    program: bool,
}

/// What was seen of a run.
struct Seen {
    /// By serial number.
    reads: BTreeMap<u64, Read>,
    /// By die.
    stays: BTreeMap<u32, Vec<Stay>>,
    counters: Counters,
}

/// Mixed work on a full drive.
fn run() -> Seen {
    let mut device = Device::new(&small_drive(), 1, Vec::<StepEvent>::new()).unwrap();
    let bytes = device.host_bytes();
    device.fill(bytes);
    device.age_uniform(0..bytes, 4096, &mut |_| true);
    device.reset_counters();
    let mut s = Stream::new(1, "blocked", 0);
    let mut reads = BTreeMap::new();
    let next = &mut |_| {
        let op = if s.below(100) < 80 { HostOp::Read } else { HostOp::Write };
        Command { op, offset: s.below(bytes / 4096) * 4096, bytes: 4096 }
    };
    closed_loop(&mut device, 0, 8, 20_000, next, &mut |done| {
        let l = done.ledger;
        let of_collection = [Occupant::GcRead, Occupant::GcProgram, Occupant::Erase];
        let met = l.get(Cause::GC_HOLD) > 0
            || of_collection.iter().any(|&o| l.get(Cause::die_wait(o)) + l.get(Cause::channel_wait(o)) > 0);
        let die = l.iter().filter(|(c, _)| c.is_die_wait()).map(|(_, ns)| ns).sum();
        let programs = l.get(Cause::die_wait(Occupant::UserProgram));
        if done.command.op == HostOp::Read {
            reads.insert(done.index, Read { die, programs, met });
        }
    });
    let mut dies: BTreeMap<u32, Vec<Stay>> = BTreeMap::new();
    for e in device.observer() {
        let stays = dies.entry(e.unit).or_default();
        if e.step == Step::Granted {
            let read = (e.occupant == Occupant::UserRead).then_some(e.request);
            let program = e.occupant == Occupant::UserProgram && e.kind == OpKind::Program;
            stays.push(Stay { granted: e.at.0, released: e.at.0, read, program });
        } else {
            stays.last_mut().expect("a grant comes first").released = e.until.0;
        }
    }
    Seen { reads, stays: dies, counters: device.counters().clone() }
}

#[test]
fn reads_held_up_directly_and_behind_others() {
    let Seen { reads, stays: dies, counters: c } = run();
    assert_eq!(c.gc_blocked_reads, reads.values().filter(|r| r.met).count() as u64, "directly");
    // Behind a read that met a collection; behind a program, of which it is not to be seen
    // from here whether it met one.
    let (mut behind, mut perhaps) = (0, 0);
    for stays in dies.values() {
        for (i, stay) in stays.iter().enumerate() {
            let Some(read) = stay.read.and_then(|serial| reads.get(&serial)).filter(|r| !r.met) else {
                continue;
            };
            let entered = stay.granted - read.die;
            let before = || stays[..i].iter().rev().take_while(|s| s.released > entered);
            let after_a_read = before().any(|s| s.read.and_then(|r| reads.get(&r)).is_some_and(|r| r.met));
            let after_a_program = before().any(|s| s.program);
            assert_eq!(after_a_program, read.programs > 0, "a ledger knows what held the die");
            behind += u64::from(after_a_read);
            perhaps += u64::from(!after_a_read && after_a_program);
        }
    }
    println!(
        "{} reads: {} met a collection, {} queued behind: {behind} reads and up to {perhaps} programs",
        c.reads, c.gc_blocked_reads, c.queue_blocked_reads
    );
    assert!(behind > 20 && c.gc_blocked_reads > 100, "there is something to see");
    let range = behind..=behind + perhaps;
    assert!(range.contains(&c.queue_blocked_reads), "{} of {range:?}", c.queue_blocked_reads);
}

#[test]
fn without_writes_no_read_is_held_up() {
    let mut device = Device::new(&small_drive(), 1, ()).unwrap();
    let bytes = device.host_bytes();
    device.fill(bytes);
    let mut s = Stream::new(1, "blocked", 1);
    let next = &mut |_| Command { op: HostOp::Read, offset: s.below(bytes / 4096) * 4096, bytes: 4096 };
    closed_loop(&mut device, 0, 16, 5_000, next, &mut |_| {});
    let c = device.counters();
    assert_eq!((c.reads, c.gc_blocked_reads, c.queue_blocked_reads), (5_000, 0, 0));
}

/// A program of parity is the host's as one of data is: a read that stops it has met no
/// collection.
#[test]
fn where_collection_takes_no_time_no_read_is_held_up() {
    let mut c = parity_drive();
    c.policy.schedule = ScheduleConfig::ReadPriority(Default::default());
    c.policy.suspend_program = SuspendProgramConfig::IntraPhase(Default::default());
    c.policy.gc_schedule = GcScheduleConfig::Instant(instant::Config::default());
    let mut device = Device::new(&c, 1, ()).unwrap();
    let bytes = device.host_bytes();
    device.fill(bytes);
    let mut s = Stream::new(1, "blocked", 2);
    let next = &mut |_| {
        let op = if s.below(100) < 70 { HostOp::Read } else { HostOp::Write };
        Command { op, offset: s.below(bytes / 4096) * 4096, bytes: 4096 }
    };
    closed_loop(&mut device, 0, 8, 20_000, next, &mut |_| {});
    let c = device.counters();
    assert!(c.program_suspension.suspends > 100 && c.collections > 10, "there is something to see");
    assert_eq!((c.gc_blocked_reads, c.queue_blocked_reads), (0, 0));
}
