//! Tests that refreshing writes old data again, once, and that retries end with it.

use tailcut_core::device::config::DeviceConfig;
use tailcut_core::device::{Counters, Device};
use tailcut_core::policy::background::{BackgroundConfig, refresh};
use tailcut_testkit::swarm::member;
use tailcut_testkit::{Host, errors_table, small_drive};
use tailcut_units::{HostOp, SimTime, Span, Stream};

const DAY: u64 = 86_400_000_000_000;

/// A drive whose data are all 30 days old.
fn drive(after_days: u64) -> DeviceConfig {
    let mut c = small_drive();
    (c.errors, c.ecc.codeword) = (Some(errors_table()), 4096);
    c.age.retention = Some(Span(30 * DAY));
    c.policy.read_retry = member("retry-one");
    let times = refresh::Config { after: Span(after_days * DAY), pause: Span(1_000_000) };
    c.policy.background = BackgroundConfig::Refresh(times);
    c
}

/// Fill most of the drive, stay idle for a while, then read at random. Returns the counters before the reads, and
/// the pages that were sensed again.
fn work(c: &DeviceConfig, idle: u64) -> (Counters, u64) {
    let mut host = Host::new(c);
    let filled = host.device.host_bytes() / 10 * 7 / 4096 * 4096;
    host.device.fill(filled);
    host.advance(idle);
    let before = host.device.counters().clone();
    let moving = host.device.flash_counters().senses.again;
    let mut s = Stream::new(1, "refresh", 0);
    for n in 0..500 {
        host.submit(idle + n * 200_000, HostOp::Read, s.below(filled / 4096) * 4096, 4096);
    }
    host.drain();
    (before, host.device.flash_counters().senses.again - moving)
}

#[test]
fn old_data_are_written_again_once() {
    let c = drive(10);
    let (counters, again) = work(&c, 100_000_000_000);
    let (_, without) = work(&drive(40), 100_000_000_000);
    assert!(without > 300, "{without} of 500 pages needed a retry");
    // The extents that were open when the run began are not full.
    assert!(again < without / 10, "{again} pages need a retry still");
    let units = Device::new(&c, 1, ()).unwrap().host_bytes() / 10 * 7 / 4096;
    assert!(counters.programs_refresh > units * 9 / 10, "{} of {units}", counters.programs_refresh);
    assert!(counters.programs_refresh <= units, "{} of {units}", counters.programs_refresh);
    assert!(counters.collections_for_refresh > 0 && counters.programs_gc == 0);
}

#[test]
fn young_data_stay_and_the_drive_comes_to_rest() {
    let (counters, _) = work(&drive(40), 1_000_000_000);
    assert_eq!((counters.programs_refresh, counters.collections_for_refresh), (0, 0));
    let mut device = Device::new(&drive(10), 1, ()).expect("a valid drive");
    device.fill(device.host_bytes());
    device.advance(SimTime(1_000_000_000_000), &mut |_| ());
    assert!(device.is_quiescent(), "nothing is old any more");
}
