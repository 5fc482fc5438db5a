//! Tests what a drive does whose extents go on without a bad block or a dead plane.

use tailcut_core::address::Lpn;
use tailcut_core::device::config::DeviceConfig;
use tailcut_core::device::{Device, InMemory};
use tailcut_core::ftl::config::{BadBlocks, CopyMode, ExtentKind};
use tailcut_core::ftl::map::Mapping;
use tailcut_core::nand::config::BusyKind;
use tailcut_testkit::Host;
use tailcut_testkit::rig::{Rig, UNIT, never, rows, stripes, traffic, with};
use tailcut_units::{HostOp, Status};

/// The drive without parity, whose extents of two planes go on without a bad block.
fn holes() -> DeviceConfig {
    let mut c = rows();
    c.ftl.bad_blocks = BadBlocks::Hole;
    (c.ftl.write_planes, c.ftl.gc.copy_planes, c.ftl.gc.program_planes) = (1, 1, 1);
    c
}

/// The units on flash that lie in this block.
fn units_in(rig: &Rig, (die, plane, block): (u32, u32, u32)) -> usize {
    let on_flash = |&lpn: &u32| matches!(rig.device.whereabouts(Lpn(lpn)), Mapping::Flash(_));
    let there = |&lpn: &u32| {
        let (d, p, b, _) = rig.place(lpn);
        (d, p, b) == (die, plane, block)
    };
    (0..rig.units()).filter(on_flash).filter(there).count()
}

#[test]
fn an_extent_goes_on_without_its_bad_blocks() {
    let bad = ["bad=0.1.0", "bad=1.0.3", "bad=2.0.5", "bad=2.1.5"].map(String::from);
    let capacity = |c: &DeviceConfig| Device::new(c, 1, ()).expect("a valid drive").capacity().clone();
    let block = holes().geometry.block_bytes();
    assert_eq!(capacity(&with(holes(), &bad)).bad, 4 * block, "no good block is lost with a bad one");
    let mut remapped = with(holes(), &bad);
    remapped.ftl.bad_blocks = BadBlocks::Remap;
    assert_eq!(capacity(&remapped).bad, 6 * block, "two good blocks lack a partner");

    let mut faults = bad.to_vec();
    faults.extend(["erase=0.0.7,cycle=1".to_string(), "erase=3.0.2,cycle=2".to_string()]);
    let mut rig = Rig::new(&with(holes(), &faults));
    rig.churn(60_000, |d| d.counters().erase_failures == 2);
    let report = rig.device.block_report().expect("blocks can fail");
    assert_eq!((report.blocks.grown_bad, report.blocks.spare, report.in_holes), (2, 0, 0));
    assert_eq!(report.retired_extents, 1, "of extent 5 of die 2 no plane is left");
    let erases = rig.device.counters().erases;
    rig.churn(60_000, |d| d.counters().erases > erases + 200);
    for place in [(0, 1, 0), (1, 0, 3), (2, 0, 5), (2, 1, 5), (0, 0, 7), (3, 0, 2)] {
        assert_eq!(units_in(&rig, place), 0, "{place:?} is bad");
    }
    for place in [(0, 0, 0), (0, 1, 7), (1, 1, 3), (3, 1, 2)] {
        let filled = (0..2_000).any(|_| {
            let seen = units_in(&rig, place) > 0;
            let erases = rig.device.counters().erases;
            rig.churn(60_000, |d| seen || d.counters().erases > erases);
            seen
        });
        assert!(filled, "{place:?} is used");
    }
    assert_eq!(rig.read_all(), 0);
    rig.blocks();
}

#[test]
fn a_write_unit_of_two_planes_is_a_hole_if_one_of_its_blocks_is_bad() {
    let mut config = rows();
    config.ftl.bad_blocks = BadBlocks::Hole;
    config.ftl.extent = ExtentKind::Line;
    let mut rig = Rig::new(&with(config, &["bad=1.0.4".to_string(), "erase=2.1.6,cycle=1".to_string()]));
    let in_holes = |d: &Device<(), InMemory>| d.block_report().expect("blocks can fail").in_holes;
    assert_eq!(in_holes(&rig.device), 1);
    rig.churn(60_000, |d| d.counters().erase_failures == 1);
    assert_eq!(in_holes(&rig.device), 2);
    assert_eq!(rig.read_all(), 0);
    assert!([(1, 1, 4), (1, 0, 4), (2, 0, 6)].iter().all(|&place| units_in(&rig, place) == 0));
    assert_eq!(rig.blocks(), (1, 0, 0));
}

#[test]
fn extents_go_on_without_a_plane_that_dies() {
    for kind in [ExtentKind::Superblock, ExtentKind::Line] {
        let mut config = never(holes());
        config.ftl.extent = kind;
        let mut rig = Rig::new(&config);
        let planes = rig.device.shape().layout.planes;
        let on_dead = |rig: &Rig, lpn: u32| {
            let (die, plane, ..) = rig.place(lpn);
            (die, plane) == (1, 0)
        };
        let lost: Vec<u32> = (0..rig.units()).filter(|&lpn| on_dead(&rig, lpn)).collect();
        rig.device.kill_planes(planes..planes + 1).expect("the drive is prepared");
        assert_eq!(
            (rig.device.copies().dead_planes(), rig.device.copies().partial_lanes()),
            (1, 1),
            "{kind:?}"
        );
        assert_eq!(rig.device.copies().lost_units(), lost.len() as u64, "{kind:?}");
        rig.read_lost(lost[0]);
        assert_eq!(rig.read_all(), lost.len() as u32, "{kind:?}");
        let erases = rig.device.counters().erases;
        rig.churn(60_000, |d| d.counters().erases > erases + 300);
        assert_eq!(rig.device.read_only_since(), None, "{kind:?}");
        let on_flash: Vec<u32> = (0..rig.units())
            .filter(|&lpn| matches!(rig.device.whereabouts(Lpn(lpn)), Mapping::Flash(_)))
            .collect();
        let beside = |lpn: &&u32| (rig.place(**lpn).0, rig.place(**lpn).1) == (1, 1);
        assert!(on_flash.iter().filter(beside).count() > 10, "{kind:?}: the other plane of the die is used");
        let dead_written = on_flash.iter().filter(|&&lpn| rig.written.contains_key(&lpn));
        assert_eq!(dead_written.filter(|&&lpn| on_dead(&rig, lpn)).count(), 0, "{kind:?}");
        // What was overwritten can be read again; what is still lost is reported.
        let left = lost.iter().filter(|lpn| !rig.written.contains_key(lpn)).count();
        assert_eq!(rig.read_all(), left as u32, "{kind:?}");
        // The rest of the die dies too.
        rig.device.kill_planes(planes + 1..planes + 2).expect("the drive is prepared");
        let whole = usize::from(kind == ExtentKind::Line);
        assert_eq!(
            (rig.device.copies().dead_planes(), rig.device.copies().partial_lanes()),
            (2, whole),
            "{kind:?}"
        );
        rig.read_all();
    }
}

#[test]
fn what_two_hurt_lanes_cannot_hold_goes_to_the_others() {
    let mut config = never(holes());
    config.ftl.over_provisioning = Some(0.6);
    let mut rig = Rig::new(&config);
    let planes = rig.device.shape().layout.planes;
    for die in [0, 1] {
        rig.device.kill_planes(die * planes..die * planes + 1).expect("the drive is prepared");
        assert_eq!(rig.device.read_only_since(), None, "die {die}");
    }
    assert_eq!(rig.device.copies().partial_lanes(), 2);
    let erases = rig.device.counters().erases;
    rig.churn(60_000, |d| d.counters().erases > erases + 300);
    assert_eq!(rig.device.read_only_since(), None);
    rig.read_all();
}

/// The drive with parity, whose extents of two planes go on without a bad block: two groups of four dies.
fn striped_holes() -> DeviceConfig {
    let mut c = stripes();
    (c.geometry.dies_per_chip, c.geometry.busy_unit) = (2, BusyKind::Die);
    (c.ftl.extent, c.ftl.bad_blocks) = (ExtentKind::Superblock, BadBlocks::Hole);
    (c.ftl.gc.copy, c.ftl.gc.in_flight) = (CopyMode::Controller, 2);
    c.ftl.over_provisioning = Some(0.75);
    c
}

#[test]
fn stripes_go_on_around_holes() {
    let mut faults = ["bad=0.1.0", "bad=1.0.3", "bad=2.0.5", "bad=2.1.5"].map(String::from).to_vec();
    faults.extend(["erase=0.0.7,cycle=1", "erase=3.0.2,cycle=2"].map(String::from));
    let mut rig = Rig::new(&with(striped_holes(), &faults));
    rig.churn(60_000, |d| d.counters().erase_failures == 2);
    let erases = rig.device.counters().erases;
    rig.churn(60_000, |d| d.counters().erases > erases + 300);
    for place in [(0, 1, 0), (1, 0, 3), (2, 0, 5), (2, 1, 5), (0, 0, 7), (3, 0, 2)] {
        assert_eq!(units_in(&rig, place), 0, "{place:?} is bad");
    }
    let c = rig.device.counters();
    assert!(c.programs_gc > 300, "{c:?}");
    assert_eq!((c.rebuilt_units, c.stripes_rewritten), (0, 0), "every unit can be read where it is");
    assert_eq!((rig.read_all(), rig.blocks().0), (0, 2));
}

#[test]
fn stripes_are_rebuilt_when_a_plane_of_their_extents_dies() {
    let mut config = never(striped_holes());
    config.faults.rebuild_rate = Some(100_000);
    let mut rig = Rig::new(&config);
    let shape = rig.device.shape().clone();
    let planes = shape.layout.planes;
    // The units of plane 0 of die 1, parity included.
    let on_dead = |rig: &Rig| -> Vec<u32> {
        let all = Lpn(0).run(rig.device.shape().layout.host_units + shape.stripes.as_ref().unwrap().count);
        let there = |lpn: &Lpn| match rig.device.whereabouts(*lpn) {
            Mapping::Flash(ppa) => (shape.layout.place(ppa).die, shape.layout.place(ppa).plane) == (1, 0),
            _ => false,
        };
        all.filter(there).map(|lpn| lpn.0).collect()
    };
    let lost = on_dead(&rig);
    let of_host: Vec<u32> = lost.iter().copied().filter(|&lpn| lpn < rig.units()).collect();
    assert!(of_host.len() > 10 && lost.len() > of_host.len(), "{} of {}", of_host.len(), lost.len());
    rig.device.kill_planes(planes..planes + 1).expect("the drive is prepared");
    assert_eq!((rig.device.copies().dead_planes(), rig.device.copies().partial_lanes()), (1, 1));
    assert_eq!(rig.device.copies().lost_units(), lost.len() as u64);
    // Rewriting is slow here, so that reads of the last units come first: each is computed once.
    let last = &of_host[of_host.len() - 8..];
    for &lpn in last {
        rig.submit(HostOp::Read, u64::from(lpn) * UNIT, UNIT as u32, &[]);
    }
    let mut ended = Vec::new();
    while ended.len() < last.len() {
        rig.step(&mut ended);
    }
    assert!(ended.iter().all(|got| got.status == Status::Ok));
    assert_eq!(rig.device.counters().rebuilt_units, last.len() as u64);
    // A stripe has one unit in each lane. Each lost unit is written elsewhere with its stripe, or by the
    // collection of its extent.
    rig.drain();
    let c = rig.device.counters();
    assert!(c.stripes_rewritten > 0, "{c:?}");
    assert_eq!(
        (rig.device.copies().lost_units(), c.stripes_rewritten + c.mended_units),
        (0, lost.len() as u64)
    );
    assert_eq!((on_dead(&rig).len(), rig.read_all()), (0, 0));
    assert_eq!(rig.device.read_only_since(), None);
    let (erases, rebuilt) = (rig.device.counters().erases, rig.device.counters().rebuilt_units);
    rig.churn(60_000, |d| d.counters().erases > erases + 300);
    assert_eq!((on_dead(&rig).len(), rig.read_all()), (0, 0));
    assert_eq!(rig.device.counters().rebuilt_units, rebuilt, "no other unit is lost");
}

/// Takes snapshots while collections are under way, after blocks have grown bad and a plane has died.
#[test]
fn a_drive_with_holes_goes_on_after_restoring() {
    for (name, config) in [("rows", holes()), ("stripes", striped_holes())] {
        let mut config = with(config, &["bad=0.1.0".to_string(), "plane=1.0@40ms".to_string()]);
        config.ftl.over_provisioning = Some(0.85);
        (config.faults.program, config.faults.erase) = (Some(0.000_5), Some(0.005));
        let mut whole = Host::new(&config);
        whole.device.fill(whole.device.host_bytes());
        let mut during = 0;
        for part in 0..16 {
            traffic(&mut whole, part, 200, |_| false);
            // Until a collection is under way.
            for i in 0..400 {
                if whole.device.gauges().collecting > 0 || !whole.device.has_place() {
                    break;
                }
                let offset = (i * 37 + part * 11) % (whole.device.host_bytes() / UNIT - 4) * UNIT;
                whole.submit(whole.device.now().0, HostOp::Write, offset, 4 * UNIT as u32);
            }
            during += u32::from(whole.device.gauges().collecting > 0);
            let mut file = Vec::new();
            whole.device.snapshot(&config, 1, &mut file).unwrap();
            let device = Device::restore(&config, 1, (), &mut &file[..]).unwrap();
            device.audit().unwrap_or_else(|e| panic!("{name}: {e}"));
            let mut one = Host { device, done: whole.done.clone() };
            let again = traffic(&mut one, 100 + part, 200, |_| false).digest;
            assert_eq!(traffic(&mut whole, 100 + part, 200, |_| false).digest, again, "{name}: {part}");
            assert!(whole.done == one.done, "{name}: completions differ");
            assert_eq!(whole.device.counters(), one.device.counters(), "{name}");
            assert_eq!(whole.device.block_report(), one.device.block_report(), "{name}");
            whole.device.audit().unwrap_or_else(|e| panic!("{name}: {e}"));
        }
        let report = whole.device.block_report().expect("blocks can fail");
        assert!(during > 8 && report.blocks.grown_bad > 0, "{name}: {during}, {report:?}");
        assert_eq!(
            (whole.device.copies().dead_planes(), whole.device.read_only_since()),
            (1, None),
            "{name}"
        );
    }
}
