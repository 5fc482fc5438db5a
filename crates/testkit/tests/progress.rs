//! Tests that every drive that construction accepts completes writes without end, and becomes
//! idle when the host does.
//!
//! A collection pads its last row, so moving the data of a block frees space only if its valid
//! units need fewer rows than a block has. Collecting other blocks would never end: the padding
//! is the stale data of the next collection.

use tailcut_core::device::config::DeviceConfig;
use tailcut_core::device::{Device, Observer};
use tailcut_core::ftl::config::ExtentKind;
use tailcut_core::policy::gc_schedule::{GcScheduleConfig, threshold};
use tailcut_core::policy::gc_victim::GcVictimConfig;
use tailcut_core::policy::placement::PlacementConfig;
use tailcut_testkit::small_drive;
use tailcut_units::quantity::Level;
use tailcut_units::{Command, HostOp, SimTime, Stream};

/// Far more steps of the device than one write can need on these drives.
const MOST_STEPS: u64 = 200_000;

/// Blocks of four pages, with a collection threshold of `free` of the twelve blocks of each
/// plane.
fn narrow(free: u32) -> DeviceConfig {
    let mut c = small_drive();
    (c.geometry.blocks, c.geometry.pages) = (12, 4);
    let limits = threshold::Config { start: Level::Count(free), hard: Level::Count(1), ..Default::default() };
    c.policy.gc_schedule = GcScheduleConfig::Threshold(limits);
    c
}

/// Overwrite `count` random units at depth 16. Returns the number of writes that ended before
/// [`MOST_STEPS`] successive steps ended none.
fn overwrite<O: Observer>(device: &mut Device<O>, unit: u64, count: u64) -> u64 {
    let units = device.host_bytes() / unit;
    let mut s = Stream::new(1, "progress", 0);
    let (mut at, mut issued, mut ended, mut steps) = (0, 0, 0, 0);
    while ended < count && steps < MOST_STEPS {
        let before = ended;
        device.advance(SimTime(at), &mut |_| ended += 1);
        steps = if ended == before { steps + 1 } else { 0 };
        if issued < count && issued - ended < 16 {
            let command = Command::new(HostOp::Write, s.below(units) * unit, unit as u32);
            device.submit(SimTime(at), SimTime(at), command, 0).expect("16 fit the queue");
            issued += 1;
        } else {
            at = device.next_deadline().0;
        }
    }
    ended
}

/// Check that the fullest drive that construction accepts completes 5,000 overwrites.
fn goes_on_writing(what: &str, change: impl Fn(&mut DeviceConfig)) {
    for unit in [2048, 4096, 8192, 16384] {
        let units_per_block = 4 * 2 * 8192 / unit;
        // From more data than construction can accept, down to a spare of three blocks.
        let accepted = (0..3 * units_per_block).find_map(|spare| {
            let mut c = narrow(2);
            change(&mut c);
            c.ftl.mapping_unit = unit;
            c.ftl.over_provisioning = None;
            c.ftl.user_capacity = Some((9 * units_per_block - spare) * 4 * unit);
            Some((spare, Device::new(&c, 1, ()).ok()?))
        });
        let (spare, mut device) = accepted.expect("a spare of three blocks a lane is accepted");
        let bytes = device.host_bytes();
        device.fill(bytes);
        let ended = overwrite(&mut device, unit, 5_000);
        assert!(
            ended == 5_000,
            "{what}, units of {unit} bytes, {spare} of them spare in each die beside the reserve: \
             no write ended for {MOST_STEPS} steps after {ended}: {:?}",
            device.counters()
        );
    }
}

#[test]
fn the_fullest_drive_that_is_accepted_goes_on_writing() {
    goes_on_writing("static placement", |_| ());
}

#[test]
fn so_does_one_that_places_freely() {
    goes_on_writing("free placement", |c| c.policy.placement = PlacementConfig::Dynamic(Default::default()));
}

#[test]
fn so_does_one_of_lines() {
    goes_on_writing("lines", |c| c.ftl.extent = ExtentKind::Line);
}

#[test]
fn so_do_all_victim_policies() {
    let all = [
        GcVictimConfig::Fifo(Default::default()),
        GcVictimConfig::DChoices(Default::default()),
        GcVictimConfig::CostBenefit(Default::default()),
    ];
    for victim in all {
        goes_on_writing(victim.name(), |c| c.policy.gc_victim = victim.clone());
    }
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
