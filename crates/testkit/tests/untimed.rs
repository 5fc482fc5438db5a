//! Overwrites without timing between parts of a run: the drive comes to rest, its tables agree before and after, its
//! blocks are erased and levelled, and it goes on.

use std::ops::Range;
use tailcut_core::device::config::DeviceConfig;
use tailcut_core::device::{Device, Until};
use tailcut_core::policy::wear::{WearConfig, static_threshold};
use tailcut_testkit::{closed_loop, parity_drive, small_drive};
use tailcut_units::{Command, HostOp, Stream};

/// Run writes inside `written`, and overwrite the region until `erases` extents were erased, four times. Returns the
/// program/erase cycles of the blocks.
fn rounds(config: &DeviceConfig, written: &Range<u64>, erases: u64) -> Vec<u32> {
    let mut device = Device::new(config, 3, ()).expect("a valid drive");
    device.fill(device.host_bytes());
    let unit = config.ftl.mapping_unit;
    let mut s = Stream::new(3, "untimed", 0);
    let mut at = 0;
    for _ in 0..4 {
        let mut next = |_| {
            Command::new(
                HostOp::Write,
                written.start + s.below((written.end - written.start) / unit) * unit,
                unit as u32,
            )
        };
        at = closed_loop(&mut device, at, 8, 1_000, &mut next, &mut |_| {});
        assert!(device.settle() && device.is_quiescent());
        device.audit().expect("every law holds at rest");
        let before: u32 = device.pe_cycles().iter().sum();
        device.overwrite_uniform(Until::Erases(erases), written, unit as u32, &mut |_| true);
        device.audit().expect("every law holds after overwrites");
        let planes = device.shape().layout.planes_of(0).len() as u64;
        let after: u32 = device.pe_cycles().iter().sum();
        assert!(u64::from(after - before) >= erases * planes, "{before}, {after}");
        at = at.max(device.now().0);
    }
    device.pe_cycles()
}

#[test]
fn a_drive_goes_on_after_overwrites_without_timing() {
    for config in [small_drive(), parity_drive()] {
        let bytes = Device::new(&config, 3, ()).unwrap().host_bytes();
        rounds(&config, &(0..bytes), 50);
    }
}

#[test]
fn cold_blocks_are_levelled_without_timing_too() {
    let spread = |gap: Option<u32>| {
        let mut config = small_drive();
        if let Some(gap) = gap {
            config.policy.wear = WearConfig::StaticThreshold(static_threshold::Config { gap });
        }
        let bytes = Device::new(&config, 3, ()).unwrap().host_bytes();
        let cycles = rounds(&config, &(0..bytes / 4), 500);
        cycles.iter().max().unwrap() - cycles.iter().min().unwrap()
    };
    let (without, with) = (spread(None), spread(Some(4)));
    assert!(with <= 12 && without > 2 * with, "{without}, {with}");
}
