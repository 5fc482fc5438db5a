//! Tests that the drive's counters of reads held up by a collection agree with an external
//! count: reads held up directly, and reads behind a host operation that a collection held up.

use std::collections::BTreeMap;
use tailcut_core::address::BusyUnit;
use tailcut_core::device::config::DeviceConfig;
use tailcut_core::device::{Counters, Device, OpKind, Step, StepEvent};
use tailcut_core::policy::gc_schedule::{GcScheduleConfig, instant};
use tailcut_core::policy::schedule::ScheduleConfig;
use tailcut_core::policy::suspend_program::SuspendProgramConfig;
use tailcut_testkit::{closed_loop, parity_drive, small_drive};
use tailcut_units::{Cause, Command, HostOp, Occupant, SimTime, Stream};

/// The waits of one host read.
struct Read {
    /// Total wait at its die, and the part of it behind host programs, ns.
    die: u64,
    programs: u64,
    /// Whether any of its waits was caused by a collection.
    met: bool,
}

/// An operation while it holds its die.
struct Stay {
    granted: u64,
    released: u64,
    read: Option<u64>,
    program: bool,
}

/// What an observer saw of a run.
struct Seen {
    /// By serial number.
    reads: BTreeMap<u64, Read>,
    /// By die.
    stays: BTreeMap<BusyUnit, Vec<Stay>>,
    counters: Counters,
}

/// Run mixed reads and writes on a full drive.
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
        Command::new(op, s.below(bytes / 4096) * 4096, 4096)
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
    let mut dies: BTreeMap<BusyUnit, Vec<Stay>> = BTreeMap::new();
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
    // `behind`: reads behind a read that met a collection. `perhaps`: reads only behind a
    // program, for which the events do not show whether it met one.
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
        c.reads, c.gc_blocked_reads, c.queued_behind_reads
    );
    assert!(behind > 20 && c.gc_blocked_reads > 100, "enough reads were held up");
    let range = behind..=behind + perhaps;
    assert!(range.contains(&c.queued_behind_reads), "{} of {range:?}", c.queued_behind_reads);
}

/// A command as seen from outside; the index in the list is its serial number.
struct Passed {
    read: bool,
    wanted: u64,
    submitted: u64,
    completed: u64,
    met: bool,
}

/// Run an open loop that sometimes exceeds a device queue of four. `share` percent are reads;
/// all commands are of 4 KiB.
fn open_loop(c: &DeviceConfig, share: u64) -> (Vec<Passed>, Counters) {
    let mut c = c.clone();
    c.host.queue_depth = 4;
    let mut device = Device::new(&c, 1, ()).unwrap();
    let bytes = device.host_bytes();
    device.fill(bytes);
    device.age_uniform(0..bytes, 4096, &mut |_| true);
    device.reset_counters();
    let mut s = Stream::new(1, "kept out", 0);
    let mut passed: Vec<Passed> = Vec::new();
    let of_collection = [Occupant::GcRead, Occupant::GcProgram, Occupant::Erase];
    let (mut now, mut wanted) = (0, 0);
    let advance = |device: &mut Device, passed: &mut Vec<Passed>, until: u64| {
        device.advance(SimTime(until), &mut |d| {
            let p = &mut passed[d.index as usize];
            let l = d.ledger;
            p.completed = d.completed.0;
            p.met = [Cause::GC_HOLD, Cause::GC_HOLD_ERASE, Cause::FREE_SPACE].iter().any(|&c| l.get(c) > 0)
                || of_collection
                    .iter()
                    .any(|&o| l.get(Cause::die_wait(o)) + l.get(Cause::channel_wait(o)) > 0);
        });
    };
    for _ in 0..20_000 {
        // About ten at a time, then a pause.
        wanted += if s.below(10) == 0 { s.below(4_000_000) } else { s.below(20_000) };
        now = wanted.max(now);
        advance(&mut device, &mut passed, now);
        while !device.has_place() {
            now = device.next_deadline().0;
            advance(&mut device, &mut passed, now);
        }
        let op = if s.below(100) < share { HostOp::Read } else { HostOp::Write };
        let command = Command::new(op, s.below(bytes / 4096) * 4096, 4096);
        device.submit(SimTime(now), SimTime(wanted), command, 0).unwrap();
        let read = op == HostOp::Read;
        passed.push(Passed { read, wanted, submitted: now, completed: u64::MAX, met: false });
    }
    while device.outstanding() > 0 {
        now = device.next_deadline().0;
        advance(&mut device, &mut passed, now);
    }
    (passed, device.counters().clone())
}

/// A read that found the queue full counts if a command that left the queue while the read
/// waited had met a collection. For commands that stayed, the time at which they met a
/// collection is not visible from outside.
#[test]
fn reads_that_a_full_queue_keeps_out() {
    let (passed, c) = open_loop(&small_drive(), 80);
    let waited = |p: &&Passed| p.read && !p.met && p.submitted > p.wanted;
    let (mut surely, mut perhaps, mut waiting) = (0, 0, 0);
    for (i, p) in passed.iter().enumerate().filter(|(_, p)| waited(p)) {
        waiting += 1;
        let inside = || passed[..i].iter().filter(|r| r.met && r.completed > p.wanted);
        let left = inside().any(|r| r.completed <= p.submitted);
        surely += u64::from(left);
        perhaps += u64::from(!left && inside().next().is_some());
    }
    println!("{waiting} reads waited for a place: {surely} behind a blocked command, perhaps {perhaps} more");
    assert!(surely > 300 && waiting > 2 * surely, "enough reads were held up");
    let range = surely..=surely + perhaps;
    assert!(range.contains(&c.kept_out_reads), "{} of {range:?}", c.kept_out_reads);
    assert!(perhaps < surely, "the range decides: {range:?}");
}

/// Collections that take no time do not block commands, so no read is kept out by a collection.
#[test]
fn without_collections_none_keeps_reads_out() {
    let mut c = small_drive();
    c.policy.gc_schedule = GcScheduleConfig::Instant(instant::Config::default());
    let (passed, n) = open_loop(&c, 80);
    assert!(passed.iter().filter(|p| p.read && p.submitted > p.wanted).count() > 1_000);
    assert!(n.collections > 10);
    assert_eq!((n.gc_blocked_reads, n.queued_behind_reads, n.kept_out_reads), (0, 0, 0));
}

#[test]
fn without_writes_no_read_is_held_up() {
    let mut device = Device::new(&small_drive(), 1, ()).unwrap();
    let bytes = device.host_bytes();
    device.fill(bytes);
    let mut s = Stream::new(1, "blocked", 1);
    let next = &mut |_| Command::new(HostOp::Read, s.below(bytes / 4096) * 4096, 4096);
    closed_loop(&mut device, 0, 16, 5_000, next, &mut |_| {});
    let c = device.counters();
    assert_eq!((c.reads, c.gc_blocked_reads, c.queued_behind_reads), (5_000, 0, 0));
}

/// A parity program counts as a host program, like a data program: a read that suspends it has
/// met no collection.
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
        Command::new(op, s.below(bytes / 4096) * 4096, 4096)
    };
    closed_loop(&mut device, 0, 8, 20_000, next, &mut |_| {});
    let c = device.counters();
    let suspends = device.flash_counters().program_suspension.suspends;
    assert!(suspends > 100 && c.collections > 10, "enough suspensions and collections");
    assert_eq!((c.gc_blocked_reads, c.queued_behind_reads), (0, 0));
}
