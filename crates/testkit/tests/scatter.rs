//! Tests that a scattered drive is as `age.free` describes: every lane has the same free share,
//! and victims have as many valid units as random blocks.

use std::collections::BTreeSet;
use tailcut_core::address::BusyUnit;
use tailcut_core::device::config::DeviceConfig;
use tailcut_core::device::{Device, InMemory, OpKind, StepEvent};
use tailcut_core::policy::gc_schedule::{GcScheduleConfig, threshold};
use tailcut_testkit::swarm::{self, Case, Plan, member};
use tailcut_testkit::{Host, parity_drive, small_drive};
use tailcut_units::quantity::Level;
use tailcut_units::{HostOp, SimTime};

const PAGE: u64 = 4096;

/// Sixteen lanes of 64 blocks of 64 pages of 4 KiB, without parity.
fn blocks() -> DeviceConfig {
    let mut c = parity_drive();
    (c.policy.redundancy, c.policy.read_path, c.policy.flush) =
        (member("none"), member("wait"), member("watermark"));
    c.policy.gc_scope = member("operation");
    (c.geometry.chips_per_channel, c.geometry.blocks, c.geometry.pages) = (2, 64, 64);
    c.policy.gc_schedule =
        GcScheduleConfig::Threshold(threshold::Config { start: Level::Share(300_000), ..Default::default() });
    c
}

/// A drive with 30 % of its blocks free; the first `filled` 256ths of its addresses are valid
/// in the other blocks.
fn scattered(c: &DeviceConfig, seed: u64, filled: u64) -> Device<Vec<StepEvent>> {
    let mut device = Device::new(c, seed, Vec::new()).unwrap();
    let bytes = device.host_bytes() / 256 * filled;
    device.scatter(bytes, Level::Share(300_000), &mut |_| true).unwrap();
    device.audit().unwrap();
    device
}

/// Write one page to each lane; returns the lanes that erase a block, and the host.
fn lanes_that_collect(device: Device<Vec<StepEvent>>) -> (BTreeSet<BusyUnit>, Host<Vec<StepEvent>>) {
    let lanes = u64::from(device.shape().layout.lanes);
    let mut host = Host { device, done: Vec::new() };
    for lane in 0..lanes {
        // Static placement: consecutive pages are striped over the lanes.
        host.submit(lane, HostOp::Write, lane * PAGE, PAGE as u32);
    }
    // By now all writes are in the buffer.
    host.submit(1_000_000, HostOp::Flush, 0, 0);
    host.drain();
    let erases = host.device.observer().iter().filter(|e| e.kind == OpKind::Erase);
    (erases.map(|e| e.unit).collect(), host)
}

#[test]
fn all_lanes_come_to_their_collection_together() {
    for seed in 0..3 {
        let device = scattered(&blocks(), seed, 128);
        let free = Level::Share(300_000).of(64);
        assert_eq!(device.gauges().free_extents, 16 * u64::from(free));
        let (collected, host) = lanes_that_collect(device);
        assert_eq!(collected.len(), 16, "seed {seed}: each lane is at its threshold");
        assert!(host.device.counters().collections >= 16);
        // On a drive overwritten until steady, each lane is at some point between two
        // collections.
        let mut steady = Device::new(&blocks(), seed, Vec::new()).unwrap();
        let bytes = steady.host_bytes() / 2;
        steady.fill(bytes);
        steady.age_uniform(0..bytes, PAGE as u32, &mut |_| true);
        let (collected, _) = lanes_that_collect(steady);
        assert!(collected.len() < 14, "seed {seed}: {collected:?}");
    }
}

/// Tests the valid units of victims. FIFO victims have on average the share of valid units of
/// all blocks that are not free. The greedy victim is the minimum of many random blocks.
#[test]
fn victims_are_as_full_as_random_blocks() {
    for filled in [96, 192] {
        let mut valid = [0.0; 2];
        for (rule, valid) in ["fifo", "greedy"].into_iter().zip(&mut valid) {
            let mut c = blocks();
            c.policy.gc_victim = member(rule);
            let (mut moved, mut collections) = (0, 0);
            for seed in 0..6 {
                let (_, host) = lanes_that_collect(scattered(&c, seed, filled));
                let n = host.device.counters();
                (moved, collections) = (moved + n.programs_gc, collections + n.collections);
            }
            *valid = moved as f64 / collections as f64;
        }
        let device = scattered(&blocks(), 0, filled);
        let full = 16.0 * f64::from(64 - Level::Share(300_000).of(64));
        let units = (device.host_bytes() / 256 * filled / PAGE) as f64;
        let share = units / (full * 64.0);
        let (mean, sd) = (64.0 * share, (64.0 * share * (1.0 - share)).sqrt());
        let [fifo, greedy] = valid;
        // With some hundred victims, the mean is accurate to a tenth of a standard deviation.
        assert!((fifo - mean).abs() < 0.3 * sd, "fifo {fifo}, all {mean} with deviation {sd}");
        let least = (mean - greedy) / sd;
        assert!((1.4..3.0).contains(&least), "the least of 44 blocks is {least} deviations below");
    }
}

#[test]
fn what_was_scattered_is_there_and_can_be_worked_on() {
    let plan = |fill| Plan {
        commands: 2_000,
        fill,
        aged: true,
        weights: [8, 8, 1, 1],
        astray: 0,
        grain: 512,
        largest: 4 * PAGE,
        hot: 16,
        gap: 400_000,
        pause: 0,
        sequential: false,
        audit_every: 500,
        fails: 0,
        interventions: Default::default(),
    };
    for (c, free, fill) in [
        (parity_drive(), Level::Count(8), 256),
        (parity_drive(), Level::Share(500_000), 200),
        (small_drive(), Level::Count(5), 256),
        (blocks(), Level::Share(300_000), 100),
    ] {
        for seed in 0..4 {
            let mut config = c.clone();
            config.age.free = Some(free);
            let case = Case { seed, config, plan: plan(fill) };
            let run = swarm::run_over(&case, InMemory::new());
            run.unwrap_or_else(|e| panic!("{free}, seed {seed}: {e}"));
        }
    }
}

#[test]
fn the_seed_decides_and_nothing_else() {
    let digest = |seed| {
        let (_, host) = lanes_that_collect(scattered(&blocks(), seed, 128));
        host.done
            .iter()
            .map(|d| d.at)
            .chain([SimTime(host.device.counters().programs_gc)])
            .collect::<Vec<_>>()
    };
    assert_eq!(digest(3), digest(3));
    assert_ne!(digest(3), digest(4));
}

#[test]
fn a_level_that_the_data_or_the_writes_have_no_room_for_is_refused() {
    let refusal = |free: Level, filled: u64| {
        let mut device = Device::new(&blocks(), 1, ()).unwrap();
        let bytes = device.host_bytes() / 256 * filled;
        device.scatter(bytes, free, &mut |_| true).err()
    };
    // The host has 55 % of 64 blocks: 36 blocks when full.
    for (free, filled) in [(Level::Count(2), 128), (Level::Share(500_000), 256), (Level::Count(65), 0)] {
        let error = refusal(free, filled).unwrap_or_else(|| panic!("{free} of {filled} is accepted"));
        assert_eq!(error.key, "age.free");
        assert!(error.problem.contains("of the 64 extents of lane 0; 3 are needed"), "{error}");
    }
    assert!(refusal(Level::Count(28), 256).is_none() && refusal(Level::Count(3), 0).is_none());
}
