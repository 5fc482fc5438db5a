//! Tests that scrubbing reads each unit that collection moved once, in idle time, and nothing
//! else.

use tailcut_core::device::Device;
use tailcut_core::policy::background::{BackgroundConfig, scrub};
use tailcut_testkit::small_drive;
use tailcut_units::{Command, HostOp, SimTime, Span, Stream};

const IDLE: u64 = 5_000_000;

/// Run random overwrites back to back, then stay idle. Returns the scrub reads before and after
/// the idle time, the collections, and the latencies.
fn work(scrubs: bool) -> (u64, u64, u64, Vec<u64>) {
    let mut c = small_drive();
    if scrubs {
        let times = scrub::Config { idle: Span(IDLE), pause: Span(200_000) };
        c.policy.background = BackgroundConfig::Scrub(times);
    }
    let mut device = Device::new(&c, 1, ()).expect("a valid drive");
    device.fill(device.host_bytes());
    let mut s = Stream::new(1, "scrub", 0);
    let units = device.host_bytes() / 4096;
    let (mut at, mut latencies) = (0, Vec::new());
    let ended = |latencies: &mut Vec<u64>, e: &tailcut_core::device::Completion<'_>| {
        latencies.push((e.completed - e.arrived).0);
    };
    for _ in 0..6_000 {
        let command = Command::new(HostOp::Write, s.below(units) * 4096, 4096);
        while !device.has_place() {
            at = device.next_deadline().0;
            device.advance(SimTime(at), &mut |e| ended(&mut latencies, e));
        }
        device.advance(SimTime(at), &mut |e| ended(&mut latencies, e));
        device.submit(SimTime(at), SimTime(at), command, 0).expect("there is a place");
    }
    while device.outstanding() > 0 {
        at = device.next_deadline().0;
        device.advance(SimTime(at), &mut |e| ended(&mut latencies, e));
    }
    let busy = device.counters().scrub_reads;
    device.advance(SimTime(at + 100_000_000_000), &mut |e| ended(&mut latencies, e));
    assert!(device.is_quiescent(), "scrubbing ends");
    let counters = device.counters();
    (busy, counters.scrub_reads, counters.collections, latencies)
}

#[test]
fn what_was_moved_is_read_when_the_host_is_silent() {
    let (busy, all, collections, latencies) = work(true);
    assert!(collections > 100, "{collections} collections");
    assert_eq!(busy, 0, "the host was never idle");
    // Upper bound: all units of 4 dies of 32 blocks of 16 rows of two planes with two units
    // each.
    let units = 4 * 32 * 16 * 2 * 2;
    assert!(all > 100 && all <= units, "{all} units scrubbed, of at most {units}");
    let (_, none, _, without) = work(false);
    assert_eq!(none, 0);
    assert_eq!(latencies, without, "scrubbing must not change latencies");
}
