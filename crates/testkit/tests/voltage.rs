//! Erases at one of two voltages (`dpes` with `mode = "slack"`): which voltage a load leads to, how long programs
//! take, and how long the choice holds.

use std::collections::BTreeMap;
use tailcut_core::device::config::DeviceConfig;
use tailcut_core::device::{Device, Observer, OpKind, Step, StepEvent};
use tailcut_core::ftl::config::{CopyMode, ExtentKind};
use tailcut_core::nand::config::BusyKind;
use tailcut_core::policy::buffer::BufferConfig;
use tailcut_core::policy::erase_scheme::{EraseSchemeConfig, dpes};
use tailcut_testkit::swarm::member;
use tailcut_testkit::{Host, small_drive};
use tailcut_units::{HostOp, Stream};

const SLOWER: f64 = 0.5;

fn by_slack(mut c: DeviceConfig) -> DeviceConfig {
    c.policy.erase_scheme = EraseSchemeConfig::Dpes(dpes::Config {
        mode: dpes::Mode::Slack,
        longer_programs: SLOWER,
        ..Default::default()
    });
    c.age.pe_cycles = Some(2_500);
    c
}

/// Drives of extents of a die and of a plane, the second moved by copyback, and one without a buffer.
fn drives() -> Vec<(&'static str, DeviceConfig)> {
    let mut block = small_drive();
    (block.ftl.extent, block.ftl.write_planes) = (ExtentKind::Block, 1);
    (block.ftl.gc.copy_planes, block.ftl.gc.program_planes, block.ftl.gc.erase_planes) = (1, 1, 1);
    block.geometry.busy_unit = BusyKind::Plane;
    (block.ftl.mapping_unit, block.ftl.gc.copy) = (block.geometry.page, CopyMode::Copyback);
    let mut joins = small_drive();
    (joins.ftl.extent, joins.ftl.write_planes, joins.ftl.join_programs) = (ExtentKind::Block, 1, true);
    (joins.ftl.gc.copy_planes, joins.ftl.gc.program_planes, joins.ftl.gc.erase_planes) = (1, 1, 2);
    let mut through = small_drive();
    through.policy.buffer = BufferConfig::None(Default::default());
    through.policy.flush = member("immediate");
    let mut all = vec![("superblock", small_drive()), ("copyback", block), ("joins", joins)];
    all.push(("no buffer", through));
    all.into_iter().map(|(name, c)| (name, by_slack(c))).collect()
}

/// Overwrite `count` random units: one after the other with pauses, or as fast as the queue takes them.
/// Returns the time.
fn overwrite<O: Observer>(host: &mut Host<O>, s: &mut Stream, count: u32, light: bool) -> u64 {
    let unit = host.device.shape().layout.unit_bytes;
    let units = host.device.host_bytes() / unit;
    let mut at = host.device.now().0;
    for _ in 0..count {
        if light {
            at += 50_000_000;
        }
        while !host.device.has_place() {
            at = host.device.next_deadline().0;
            host.advance(at);
        }
        host.submit(at, HostOp::Write, s.below(units) * unit, unit as u32);
    }
    at
}

/// The programs and the slow ones among them since the last call.
fn programs(device: &mut Device<Vec<StepEvent>>) -> (usize, usize) {
    let shape = device.shape().clone();
    let slow = shape.slow_programs.as_ref().expect("the scheme chooses");
    let (mut all, mut slower) = (0, 0);
    for e in device.observer_mut().drain(..) {
        let program = match e.kind {
            OpKind::Program => true,
            OpKind::Copyback => e.occupant == tailcut_units::Occupant::GcProgram,
            OpKind::Read | OpKind::Erase => false,
        };
        if program && e.step == Step::Array {
            let ns = e.until.0 - e.at.0;
            let (fast, slow) = (shape.timing.program_ns(e.page), slow.program_ns(e.page));
            assert!(ns == fast || ns == slow, "{e:?}");
            assert!((slow as f64 / fast as f64 - 1.0 - SLOWER).abs() < 1e-6);
            (all, slower) = (all + 1, slower + usize::from(ns == slow));
        }
    }
    (all, slower)
}

/// Under a light load erases are at the lower voltage and programs slow, under a heavy load the reverse. The load
/// may change back.
#[test]
fn the_voltage_follows_the_load() {
    for (name, config) in drives() {
        let mut host = Host::observed(&config, Vec::<StepEvent>::new());
        host.device.fill(host.device.host_bytes());
        let mut s = Stream::new(3, "voltage", 0);
        for light in [true, false, true] {
            // The blocks that the load before has erased are used up first.
            let blocks = u64::from(host.device.shape().blocks * host.device.shape().bad.len() as u32);
            host.device.reset_counters();
            while host.device.flash_counters().erases.blocks < blocks {
                overwrite(&mut host, &mut s, 500, light);
            }
            host.device.reset_counters();
            host.device.observer_mut().clear();
            while host.device.flash_counters().erases.blocks < 200 {
                overwrite(&mut host, &mut s, 500, light);
            }
            let erases = &host.device.flash_counters().erases;
            let full = erases.full_voltage as f64 / erases.blocks as f64;
            let (all, slow) = programs(&mut host.device);
            let slow = slow as f64 / all as f64;
            println!(
                "{name}, light {light}: {full:.3} of the erases at the full voltage, {slow:.3} programs slow"
            );
            match light {
                // A flush from one watermark to the other may fill more than half of the room for a moment.
                true => assert!(full < 0.05 && slow > 0.95, "{name}: {full} {slow}"),
                false => assert!(full > 0.9 && slow < 0.1, "{name}: {full} {slow}"),
            }
            host.drain();
            host.device.audit().unwrap_or_else(|e| panic!("{name}: {e}"));
        }
    }
}

/// With `mode = "always"` no block is ever at the full voltage, whatever the load, and all programs are slow.
#[test]
fn without_a_choice_all_programs_are_slow() {
    let config = by_slack(small_drive());
    let mut always = config.clone();
    always.policy.erase_scheme =
        EraseSchemeConfig::Dpes(dpes::Config { longer_programs: SLOWER, ..Default::default() });
    let mut host = Host::new(&always);
    host.device.fill(host.device.host_bytes());
    overwrite(&mut host, &mut Stream::new(3, "voltage", 0), 10_000, false);
    let erases = &host.device.flash_counters().erases;
    assert!(erases.blocks > 100 && erases.full_voltage == 0);
    let choice = Host::new(&config).device;
    let slow = choice.shape().slow_programs.as_ref().expect("the scheme chooses");
    assert_eq!(host.device.shape().timing.program_ns(0), slow.program_ns(0));
    assert!(host.device.shape().slow_programs.is_none());
}

/// Both loads in turn, in small parts.
fn mixed(host: &mut Host, s: &mut Stream, parts: u32) {
    for _ in 0..parts {
        let light = s.below(2) == 1;
        overwrite(host, s, 200, light);
    }
}

/// A run from a snapshot ends as the run that was not interrupted. Blocks of both voltages are there, and
/// commands under way.
#[test]
fn a_snapshot_keeps_the_voltage_of_each_block() {
    for (name, mut config) in drives() {
        config.erase.as_mut().expect("the table").defer_last_loop = name == "superblock";
        let mut whole = Host::new(&config);
        whole.device.fill(whole.device.host_bytes());
        let mut s = Stream::new(4, "voltage", 0);
        mixed(&mut whole, &mut s, 60);
        let mut busy = 0;
        for _ in 0..5 {
            overwrite(&mut whole, &mut s, 50, false);
            busy += u32::from(whole.device.outstanding() > 0);
            let mut file = Vec::new();
            whole.device.snapshot(&config, 1, &mut file).expect("it is written");
            let device = Device::restore(&config, 1, (), &mut &file[..]).expect("it is read");
            let mut restored = Host { device, done: whole.done.clone() };
            let mut again = s.clone();
            mixed(&mut whole, &mut s, 5);
            mixed(&mut restored, &mut again, 5);
            assert!(whole.done == restored.done, "{name}: completions differ");
            assert_eq!(whole.device.flash_counters(), restored.device.flash_counters(), "{name}");
        }
        let erases = &whole.device.flash_counters().erases;
        assert!(busy == 5 && (1..erases.blocks).contains(&erases.full_voltage), "{name}: {erases:?}");
    }
}

/// The voltage of an erase whose last loop is deferred stays as it was ordered, until the next erase of the extent.
#[test]
fn a_deferred_last_loop_keeps_the_voltage() {
    let mut config = by_slack(small_drive());
    config.erase.as_mut().expect("the table").defer_last_loop = true;
    let mut host = Host::new(&config);
    host.device.fill(host.device.host_bytes());
    let mut s = Stream::new(5, "voltage", 0);
    let mut seen: BTreeMap<u32, bool> = BTreeMap::new();
    let mut held = [0, 0];
    for part in 0..400 {
        let light = part / 20 % 2 == 1;
        overwrite(&mut host, &mut s, 40, light);
        let layout = &host.device.shape().layout;
        let deferred: Vec<u32> = host.device.last_loops().0.collect();
        seen.retain(|extent, _| deferred.contains(extent));
        for extent in deferred {
            let (lane, index) = layout.lane_of(extent);
            let blocks = host.device.blocks();
            let of_plane = |plane| blocks.is_at_full_voltage(blocks.id(plane, index));
            let full: Vec<bool> = layout.planes_of(lane).map(of_plane).collect();
            assert!(full.iter().all(|&f| f == full[0]), "the blocks of an extent are at one voltage");
            if let Some(&before) = seen.get(&extent) {
                held[usize::from(before)] += 1;
                assert_eq!(before, full[0], "extent {extent}");
            }
            seen.insert(extent, full[0]);
        }
    }
    assert!(held.iter().all(|&n| n > 20), "{held:?}");
}
