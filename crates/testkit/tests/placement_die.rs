//! Tests that placement by die keeps the planes of a die in step, so that their programs and
//! erases join.

use tailcut_core::device::Device;
use tailcut_core::device::config::DeviceConfig;
use tailcut_core::ftl::config::ExtentKind;
use tailcut_core::policy::buffer::BufferConfig;
use tailcut_core::policy::flush::FlushConfig;
use tailcut_core::policy::flush::in_flight;
use tailcut_testkit::swarm::{self, member};
use tailcut_testkit::{Host, small_drive};
use tailcut_units::{HostOp, Occupant, Stream};

const PAGE: u64 = 8192;
const PLANES: u64 = 4;

/// Four dies of four planes. Planes are lanes, and their operations join. The buffer is flushed
/// in groups of one page a plane.
fn drive(placement: &str) -> DeviceConfig {
    let mut c = small_drive();
    c.geometry.planes = PLANES as u32;
    (c.ftl.extent, c.ftl.write_planes, c.ftl.mapping_unit) = (ExtentKind::Block, 1, PAGE);
    (c.ftl.join_programs, c.ftl.gc.join_reads) = (true, true);
    (c.ftl.gc.copy_planes, c.ftl.gc.program_planes) = (1, 1);
    (c.ftl.gc.erase_planes, c.ftl.gc.in_flight) = (PLANES as u32, 16);
    c.policy.placement = member(placement);
    let BufferConfig::Lru(lru) = &mut c.policy.buffer else { unreachable!("it has a buffer") };
    lru.capacity = 256 * PAGE;
    c.policy.flush = FlushConfig::InFlight(in_flight::Config { most: 0.5 });
    c
}

/// Write a drive at random after its first `filled` pages were filled and, if `aged`, aged.
/// Returns the mean number of planes of the host's programs and of erases.
fn widths(c: &DeviceConfig, filled: u64, aged: bool) -> [f64; 2] {
    let mut host = Host::new(c);
    host.device.fill(filled * PAGE);
    if aged {
        host.device.age_uniform(0..filled * PAGE, PAGE as u32, &mut |_| true);
    }
    host.device.audit().expect("a filled drive is sound");
    let mut stream = Stream::new(7, "placement by die", 0);
    for at in 0..4_000u64 {
        host.submit(at * 400_000, HostOp::Write, stream.below(filled) * PAGE, PAGE as u32);
    }
    host.drain();
    host.device.audit().expect("a written drive is sound");
    let n = host.device.flash_counters();
    [Occupant::UserProgram, Occupant::Erase].map(|o| {
        assert!(n.operations[o as usize] > 20, "{o:?}: {}", n.operations[o as usize]);
        n.planes[o as usize] as f64 / n.operations[o as usize] as f64
    })
}

#[test]
fn the_planes_of_a_die_stay_in_step() {
    // A number of pages that is not a whole number of rounds over the planes; the fill is
    // padded to a whole number.
    let pages = Host::new(&drive("die")).device.host_bytes() / PAGE - 5;
    for aged in [false, true] {
        let [program, erase] = widths(&drive("die"), pages, aged);
        let [apart, alone] = widths(&drive("static"), pages, aged);
        println!(
            "aged {aged}: programs cover {program} planes, erases {erase}; bound to planes {apart}, {alone}"
        );
        assert!(program > 3.9 && apart < program - 0.5, "aged {aged}: {program} against {apart} planes");
        assert!(alone < erase - 0.5, "aged {aged}: erases of {erase} against {alone} planes");
    }
}

/// Tests that ageing ends, including cases in which one plane of a die never has room for as
/// much as the others wrote (seeds 1011 and 3147).
#[test]
fn ageing_ends_on_any_drive() {
    let mut aged = 0;
    for seed in 0..4_000 {
        let case = swarm::draw(seed);
        if case.config.policy.placement.name() != "die" {
            continue;
        }
        let mut device = Device::new(&case.config, seed, ()).expect("the swarm draws what can be built");
        let unit = case.config.ftl.mapping_unit;
        let filled = device.host_bytes() / 256 * case.plan.fill / unit * unit;
        if filled > 0 {
            device.fill(filled);
            device.age_uniform(0..filled, unit as u32, &mut |_| true);
            device.audit().unwrap_or_else(|e| panic!("seed {seed}: {e}"));
            aged += 1;
        }
    }
    assert!(aged > 500, "{aged} drives");
}

/// A drive with the largest capacity it accepts. Random overwrites leave some plane without
/// stale units, so that this plane cannot keep in step with the others of its die. With blocks
/// of one page, a plane wins a page only while another takes one. Ageing must end nevertheless.
#[test]
fn ageing_ends_though_a_plane_has_no_room_to_keep_in_step() {
    for (blocks, pages) in [(10, 4), (24, 1)] {
        ageing_ends(blocks, pages);
    }
}

fn ageing_ends(blocks: u32, pages: u32) {
    let mut c = drive("die");
    (c.geometry.blocks, c.geometry.pages) = (blocks, pages);
    c.ftl.over_provisioning = None;
    let raw = 4 * PLANES * u64::from(blocks * pages);
    c.ftl.user_capacity = (0..raw).rev().map(|pages| pages * PAGE).find(|&bytes| {
        c.ftl.user_capacity = Some(bytes);
        Device::new(&c, 1, ()).is_ok()
    });
    for seed in 0..20 {
        let mut device = Device::new(&c, seed, ()).expect("a drive");
        device.fill(device.host_bytes());
        device.age_uniform(0..device.host_bytes(), PAGE as u32, &mut |_| true);
        device.audit().expect("an aged drive is sound");
    }
}
