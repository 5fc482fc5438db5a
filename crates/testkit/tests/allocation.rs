//! Tests that the run loop does not allocate.
//!
//! A counting allocator observes one thread. A drive is built, aged and warmed up. After that
//! neither the device nor the host may allocate or free memory.

// A global allocator cannot be written without `unsafe`. This one counts calls and passes every
// call unchanged to the system allocator.
#![allow(unsafe_code)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::convert::Infallible;
use tailcut_core::device::Device;
use tailcut_core::device::config::DeviceConfig;
use tailcut_core::drive::Drive;
use tailcut_core::nand::errors::config::CODEWORD;
use tailcut_core::policy::gc_scope::GcScopeConfig;
use tailcut_core::policy::gc_victim::GcVictimConfig;
use tailcut_core::policy::placement::PlacementConfig;
use tailcut_core::policy::read_retry::{self, ReadRetryConfig};
use tailcut_sim::host::Host;
use tailcut_testkit::swarm::member;
use tailcut_testkit::{errors_table, small_drive};
use tailcut_units::{Command, HostOp, SimTime, Span, Stream};
use tailcut_workload::{Issue, JobInfo, Source};

struct Counting;

thread_local! {
    static ARMED: Cell<bool> = const { Cell::new(false) };
    static CALLS: Cell<u64> = const { Cell::new(0) };
}

fn count() {
    // A thread that is ending has no thread-local cells any more, and there is nothing to
    // count.
    let _ = ARMED.try_with(|armed| {
        if armed.get() {
            let _ = CALLS.try_with(|calls| calls.set(calls.get() + 1));
        }
    });
}

// SAFETY: every method passes its arguments, which the caller guarantees, to the system
// allocator and returns its result. Counting uses two thread-local cells that need no
// allocation and no destructor.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count();
        // SAFETY: the caller's guarantee is passed on.
        unsafe { System.alloc(layout) }
    }
    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        count();
        // SAFETY: the caller's guarantee is passed on.
        unsafe { System.dealloc(pointer, layout) }
    }
    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count();
        // SAFETY: the caller's guarantee is passed on.
        unsafe { System.realloc(pointer, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// The number of allocations, reallocations and frees that `work` makes on this thread.
fn allocations(work: impl FnOnce()) -> u64 {
    CALLS.set(0);
    ARMED.set(true);
    work();
    ARMED.set(false);
    CALLS.get()
}

#[test]
fn the_counter_counts() {
    assert!(allocations(|| drop(std::hint::black_box(vec![1u8; 100]))) == 2);
    assert_eq!(allocations(|| ()), 0);
}

fn drives() -> Vec<(&'static str, DeviceConfig)> {
    let plain = small_drive();
    let mut through = small_drive();
    through.policy.buffer = member("none");
    through.policy.flush = member("immediate");
    let mut dynamic = small_drive();
    dynamic.policy.placement = PlacementConfig::Dynamic(Default::default());
    dynamic.policy.gc_victim = GcVictimConfig::DChoices(Default::default());
    dynamic.policy.schedule = member("read-priority");
    let mut preemptive = small_drive();
    preemptive.policy.gc_schedule = member("preemptive");
    preemptive.policy.gc_scope = GcScopeConfig::Operation(Default::default());
    let mut tokens = small_drive();
    tokens.policy.gc_schedule = member("tokens");
    let mut nested = through.clone();
    nested.policy.schedule = member("read-write-erase");
    nested.policy.suspend_erase = member("timeout");
    nested.policy.suspend_program = member("intra-phase");
    let mut deferred = small_drive();
    deferred.policy.erase_scheme = member("aero");
    deferred.erase.as_mut().expect("the table").defer_last_loop = true;
    vec![
        ("deferred last loops", deferred),
        ("tokens", tokens),
        ("plain", plain),
        ("write-through", through),
        ("dynamic", dynamic),
        ("preemptive", preemptive),
        ("nested suspension", nested),
    ]
}

fn aged(config: &DeviceConfig) -> Device {
    let mut device = Device::new(config, 1, ()).expect("a valid drive");
    let bytes = device.host_bytes();
    device.fill(bytes);
    device.age_uniform(0..bytes, 4096, &mut |_| true);
    device
}

fn draw(s: &mut Stream, capacity: u64) -> Command {
    let op = match s.below(100) {
        0..50 => HostOp::Read,
        50..95 => HostOp::Write,
        95..98 => HostOp::Trim,
        _ => return Command::FLUSH,
    };
    let bytes = 512 * (1 + s.below(200));
    let fua = s.below(20) == 0;
    Command { fua, ..Command::new(op, s.below((capacity - bytes) / 512) * 512, bytes as u32) }
}

#[test]
fn the_device_does_not_allocate() {
    for (name, config) in drives() {
        let mut device = aged(&config);
        let capacity = device.host_bytes();
        let mut s = Stream::new(2, "allocation", 0);
        let (mut done, mut now) = (0u64, SimTime::ZERO);
        let mut work = |commands: u32| {
            for _ in 0..commands {
                while !device.has_place() || device.next_deadline() <= now {
                    now = device.next_deadline();
                    device.advance(now, &mut |_| done += 1);
                }
                device.submit(now, now, draw(&mut s, capacity), 0).expect("there is a place");
            }
        };
        work(2_000);
        let calls = allocations(|| work(20_000));
        assert!(device.counters().erases > 100, "{name}: the load collects");
        assert!(done > 20_000);
        assert_eq!(calls, 0, "{name}: the device allocates in its run loop");
        let c = device.flash_counters();
        let suspends = c.erase_suspension.suspends.min(c.program_suspension.suspends);
        assert_eq!(name == "nested suspension", suspends > 100, "{name}: {suspends} suspensions");
    }
}

/// Reads of old pages, most of which are sensed again and then decoded.
#[test]
fn senses_do_not_allocate() {
    let pipelined = read_retry::walk::Config { pipelined: true, shorter: 0.25, ..Default::default() };
    let schemes = ["retry-one", "sentinel", "swift-read-plus", "rp-controller", "rif"].map(member);
    for retry in schemes.into_iter().chain([ReadRetryConfig::Walk(pipelined)]) {
        for engines in [1, 4] {
            let name = format!("{retry:?}, {engines} engines");
            let mut config = small_drive();
            (config.errors, config.ecc.codeword) = (Some(errors_table()), CODEWORD);
            config.ecc.engines = Some(engines);
            config.age.retention = Some(Span(30 * 86_400_000_000_000));
            config.policy.read_retry = retry.clone();
            let mut device = aged(&config);
            let pages = device.host_bytes() / 8192;
            let mut s = Stream::new(2, "senses", 0);
            let (mut done, mut now) = (0u64, SimTime::ZERO);
            let mut work = |reads: u32| {
                for _ in 0..reads {
                    while !device.has_place() {
                        now = device.next_deadline();
                        device.advance(now, &mut |_| done += 1);
                    }
                    let read = Command::new(HostOp::Read, s.below(pages) * 8192, 8192);
                    device.submit(now, now, read, 0).expect("there is a place");
                }
            };
            work(1_000);
            let calls = allocations(|| work(10_000));
            let senses = &device.flash_counters().senses;
            assert!(done > 10_000 && senses.again + senses.in_die > 50, "{name}: {senses:?}");
            assert_eq!((calls, senses.given_up), (0, 0), "{name}: the device allocates in its run loop");
        }
    }
}

/// Two jobs that generate their commands without allocating.
struct Draws {
    left: [u64; 2],
    stream: Stream,
    capacity: u64,
}

impl Source for Draws {
    type Error = Infallible;

    fn jobs(&self) -> Vec<JobInfo> {
        let job = |depth| JobInfo {
            name: String::new(),
            depth,
            open_loop: false,
            runtime: None,
            ramp: Span::ZERO,
            group: 0,
            row: 0,
            asked: [None; 3],
            start: Span::ZERO,
        };
        vec![job(40), job(4)]
    }

    fn next(&mut self, job: usize) -> Result<Option<Issue>, Infallible> {
        if self.left[job] == 0 {
            return Ok(None);
        }
        self.left[job] -= 1;
        let think = Span(if job == 1 { 50_000 } else { 0 });
        let command = draw(&mut self.stream, self.capacity);
        Ok(Some(Issue { earliest: SimTime::ZERO, think, command }))
    }
}

#[test]
fn the_host_in_front_of_it_does_not_allocate() {
    for (name, mut config) in drives() {
        // Requests larger than a transfer are split, and some wait for a place in the queue.
        config.host.max_transfer = 64 << 10;
        let mut device = Drive::Page(Box::new(aged(&config)));
        let stream = Stream::new(3, "allocation", 0);
        let draws = Draws { left: [20_000; 2], stream, capacity: device.host_bytes() };
        let mut host = Host::new(draws).expect("an infallible source");
        let mut done = 0u64;
        let mut over = false;
        let mut until = |at: u64| {
            over = host.run(&mut device, SimTime(at), &mut |_, _| done += 1).expect("no run breaks off");
        };
        until(200_000_000);
        let calls = allocations(|| until(3_000_000_000));
        assert!(!over, "{name}: the work outlasts the watch");
        assert!(done > 1_000, "{name}: {done} requests");
        assert_eq!(calls, 0, "{name}: the host allocates in its run loop");
    }
}
