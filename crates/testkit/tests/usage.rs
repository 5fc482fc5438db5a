//! Tests that the times in which parts of the drive were in use match the times of the
//! operations.

use std::collections::BTreeMap;
use tailcut_core::device::config::DeviceConfig;
use tailcut_core::device::{Device, Step, StepEvent, Usage};
use tailcut_core::policy::{buffer, flush};
use tailcut_testkit::{Host, operations, parity_drive, small_drive};
use tailcut_units::{Command, HostOp, SimTime, Stream};

/// A calculation by hand without a write buffer: 4 KiB are written to one die, in a program on
/// both its planes, and read back.
#[test]
fn a_write_and_a_read_by_hand() {
    let mut c = small_drive();
    c.policy.buffer = buffer::BufferConfig::None(Default::default());
    c.policy.flush = flush::FlushConfig::Immediate(Default::default());
    let mut host = Host::new(&c);
    host.submit(0, HostOp::Write, 0, 4096);
    host.drain();
    let write = host.device.usage();
    // 4 KiB at 3.2 GB/s; the commands of two planes at 300 ns, 16 KiB at 800 MB/s, and a
    // lower page's 4 x (70 + 10) us on two planes.
    assert_eq!(write.link, [0, 1_280]);
    assert_eq!(write.channels, [600 + 20_480, 0]);
    assert_eq!(write.units, [600 + 20_480 + 320_000, 0, 0, 0]);
    assert_eq!(write.planes, [2 * 320_000, 0, 0, 0]);

    let from = write.at;
    host.submit(from, HostOp::Read, 0, 4096);
    host.drain();
    let read = host.device.usage().since(&write);
    // 4 KiB at 3.2 GB/s; one plane's command, a sense of 40 us, and 4 KiB at 800 MB/s.
    assert_eq!(read.link, [1_280, 0]);
    assert_eq!(read.channels, [300 + 5_120, 0]);
    assert_eq!(read.units, [300 + 40_000 + 5_120, 0, 0, 0]);
    assert_eq!(read.planes, [40_000, 0, 0, 0]);
    // Host, controller, die, the second codeword's decoding, link, host.
    assert_eq!(read.at, 900 + 500 + 45_420 + 1_700 + 1_280 + 1_100);
}

/// The same program, observed while it is under way.
#[test]
fn what_is_still_to_come_is_not_counted() {
    let mut c = small_drive();
    c.policy.buffer = buffer::BufferConfig::None(Default::default());
    c.policy.flush = flush::FlushConfig::Immediate(Default::default());
    let mut host = Host::new(&c);
    host.submit(0, HostOp::Write, 0, 16384);
    // The link starts at 1.4 us, the channel at 6.52 us, the array at 27.6 us.
    let table = [
        (1_400, 0, 0, 0, 0),
        (4_000, 2_600, 0, 0, 0),
        (10_000, 5_120, 3_480, 3_480, 0),
        (100_000, 5_120, 21_080, 93_480, 2 * 72_400),
        (400_000, 5_120, 21_080, 341_080, 640_000),
    ];
    for (at, link, channel, unit, planes) in table {
        host.advance(at);
        let u = host.device.usage();
        let seen = (u.at, u.link[1], u.channels[0], u.units[0], u.planes[0]);
        assert_eq!(seen, (at, link, channel, unit, planes));
    }
}

/// On an idle drive after intervals of a mixed load: the sums by unit, by channel and by plane
/// equal the sums over all observed operations.
#[test]
fn in_use_is_what_operations_took() {
    let independent = {
        let mut c = parity_drive();
        // Rebuilding reads pages that the host did not ask for; the sums are the same without
        // it.
        c.policy.read_path = serde_from("wait");
        c
    };
    let mut suspending = small_drive();
    suspending.policy.schedule = serde_from("read-priority");
    suspending.policy.suspend_erase = serde_from("immediate");
    suspending.policy.suspend_program = serde_from("intra-phase");
    // The planes of an operation are not observed. With one page a write they are known.
    let mut narrow = small_drive();
    (narrow.ftl.write_planes, narrow.ftl.gc.copy_planes, narrow.ftl.gc.program_planes) = (1, 1, 1);
    narrow.ftl.gc.erase_planes = 1;
    narrow.ftl.mapping_unit = 8192;
    narrow.geometry.planes = 1;
    for (config, planes_known) in
        [(independent, true), (narrow, true), (small_drive(), false), (suspending, false)]
    {
        against_operations(&config, planes_known);
    }
}

fn against_operations(config: &DeviceConfig, planes_known: bool) {
    let mut device = Device::new(config, 1, Vec::<StepEvent>::new()).expect("a drive");
    device.fill(device.host_bytes());
    let mut s = Stream::new(7, "usage", 0);
    let units = device.host_bytes() / 8192;
    let (mut at, mut before) = (0, Usage::default());
    for i in 0..6_000u64 {
        at += s.below(90_000);
        device.advance(SimTime(at), &mut |_| ());
        if device.has_place() {
            let op = if s.below(3) > 0 { HostOp::Write } else { HostOp::Read };
            let command = Command::new(op, s.below(units) * 8192, 8192);
            device.submit(SimTime(at), SimTime(at), command, 0).expect("a place");
        }
        if i % 500 != 499 {
            continue;
        }
        let (busy, seen) = (device.usage(), sums(&device));
        // An operation that waits for its channel holds its unit; the observer does not show
        // for how long.
        assert!(busy.units.iter().zip(&seen[0]).all(|(ns, least)| least <= ns && *ns <= at), "units at {at}");
        assert!(busy.link.iter().chain(&busy.channels).all(|&ns| ns <= at), "channels at {at}");
        let planes = u64::from(config.geometry.planes);
        assert!(busy.planes.iter().all(|&ns| ns <= planes * at), "planes at {at}");
        while device.next_deadline() != SimTime::NEVER {
            device.advance(device.next_deadline(), &mut |_| ());
        }
        let rest = device.usage();
        at = rest.at;
        let [by_unit, by_channel, by_plane] = sums(&device);
        assert_eq!(rest.units, by_unit, "units at {at}");
        assert_eq!(rest.channels, by_channel, "channels at {at}");
        if planes_known {
            assert_eq!(rest.planes, by_plane, "planes at {at}");
        }
        let now = rest.since(&before);
        assert!(now.units.iter().sum::<u64>() > 0 && now.link.iter().all(|&ns| ns > 0));
        before = rest;
    }
    assert!(device.counters().erases > 50, "it collects: {}", device.counters().erases);
}

/// The times of the observed operations up to now: by unit, by channel, and in the array.
fn sums(device: &Device<Vec<StepEvent>>) -> [Vec<u64>; 3] {
    let usage = device.usage();
    let cut = |(from, to): &(u64, u64)| to.min(&usage.at).saturating_sub(*from);
    let mut by_unit = vec![0; usage.units.len()];
    let mut by_channel = vec![0; usage.channels.len()];
    let mut by_plane = vec![0; usage.units.len()];
    for op in operations(device.observer()) {
        by_unit[op.unit.index()] += op.stays.iter().map(cut).sum::<u64>();
        by_channel[op.channel as usize] += op.inward.iter().chain(&op.outward).map(cut).sum::<u64>();
        by_plane[op.unit.index()] += op.array.iter().map(cut).sum::<u64>();
    }
    // An operation that was granted its unit and returned it before it began held the unit too.
    let mut granted = BTreeMap::new();
    for e in device.observer() {
        match e.step {
            Step::Granted => drop(granted.insert(e.op, e.at.0)),
            Step::Returned => by_unit[e.unit.index()] += e.at.0 - granted[&e.op],
            _ => {}
        }
    }
    [by_unit, by_channel, by_plane]
}

/// A policy member by its name.
fn serde_from<T: for<'de> serde::Deserialize<'de>>(name: &str) -> T {
    toml::Value::String(name.into()).try_into().unwrap_or_else(|e| panic!("{name}: {e}"))
}
