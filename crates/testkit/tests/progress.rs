//! Does every drive that construction accepts go on completing writes, and come to rest
//! when the host does?
//!
//! A collection fills up its last row with padding, so moving a block wins space only if
//! its valid units need fewer rows than a block has. Choosing a block that does not is
//! work without end: the padding is the stale data of the next collection.

use tailcut_core::device::config::DeviceConfig;
use tailcut_core::device::{Device, Observer};
use tailcut_core::policy::gc_schedule::{GcScheduleConfig, threshold};
use tailcut_testkit::small_drive;
use tailcut_units::quantity::Level;
use tailcut_units::{Command, HostOp, SimTime, Stream};

/// Far more steps of the device than a write can need on these drives.
const MOST_STEPS: u64 = 200_000;

/// Blocks of four pages, `free` of the twelve on each plane wanted free.
fn narrow(free: u32) -> DeviceConfig {
    let mut c = small_drive();
    (c.geometry.blocks, c.geometry.pages) = (12, 4);
    let limits = threshold::Config { start: Level::Count(free), hard: Level::Count(1) };
    c.policy.gc_schedule = GcScheduleConfig::Threshold(limits);
    c
}

/// Overwrite `count` random units at depth 16; how many ended before the drive made
/// [`MOST_STEPS`] steps without ending one.
fn overwrite<O: Observer>(device: &mut Device<O>, unit: u64, count: u64) -> u64 {
    let units = device.host_bytes() / unit;
    let mut s = Stream::new(1, "progress", 0);
    let (mut at, mut issued, mut ended, mut steps) = (0, 0, 0, 0);
    while ended < count && steps < MOST_STEPS {
        let before = ended;
        device.advance(SimTime(at), &mut |_| ended += 1);
        steps = if ended == before { steps + 1 } else { 0 };
        if issued < count && issued - ended < 16 {
            let command = Command { op: HostOp::Write, offset: s.below(units) * unit, bytes: unit as u32 };
            device.submit(SimTime(at), SimTime(at), command, 0).expect("16 fit the queue");
            issued += 1;
        } else {
            at = device.next_deadline().0;
        }
    }
    ended
}

#[test]
fn the_fullest_drive_that_is_accepted_goes_on_writing() {
    let mut accepted = 0;
    for unit in [2048, 4096, 8192, 16384] {
        let units_per_block = 4 * 2 * 8192 / unit;
        // From the last unit that construction could accept to two blocks less.
        for spare in 1..=2 * units_per_block {
            let mut c = narrow(2);
            c.ftl.mapping_unit = unit;
            c.ftl.over_provisioning = None;
            c.ftl.user_capacity = Some((9 * units_per_block - spare) * 4 * unit);
            let Ok(mut device) = Device::new(&c, 1, ()) else { continue };
            accepted += 1;
            let bytes = device.host_bytes();
            device.fill(bytes);
            let ended = overwrite(&mut device, unit, 5_000);
            assert!(
                ended == 5_000,
                "units of {unit} bytes, {spare} of them spare in each lane beside the reserve: \
                 no write ended for {MOST_STEPS} steps after {ended}: {:?}",
                device.counters()
            );
            break;
        }
    }
    assert_eq!(accepted, 4);
}

#[test]
fn a_drive_that_can_never_have_the_free_blocks_it_wants_comes_to_rest() {
    let mut c = narrow(10);
    c.ftl.over_provisioning = Some(0.5);
    let mut device = Device::new(&c, 1, ()).unwrap();
    let bytes = device.host_bytes();
    device.fill(bytes);
    assert_eq!(overwrite(&mut device, 4096, 1_000), 1_000);
    let mut steps = 0;
    while device.next_deadline() != SimTime::NEVER {
        device.advance(device.next_deadline(), &mut |_| ());
        steps += 1;
        assert!(steps < MOST_STEPS, "the host is silent, the drive still collects: {:?}", device.counters());
    }
}
