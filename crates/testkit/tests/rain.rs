//! Does parity do what it is for?
//!
//! Small drives with stripes under random work: collections of a group take turns, what is
//! rebuilt is what was written, parity is counted, and a drive at rest pays for a write what
//! its stripe costs and for a read nothing.

use tailcut_core::device::config::DeviceConfig;
use tailcut_core::device::{Counters, Device, InMemory, Medium, NoData, StepEvent};
use tailcut_core::ftl::config::{CopyMode, ExtentKind};
use tailcut_core::policy::buffer::{BufferConfig, lru::PowerLoss};
use tailcut_core::policy::gc_schedule::GcScheduleConfig;
use tailcut_core::policy::gc_schedule::instant;
use tailcut_core::policy::gc_schedule::rotating::{self, Mode};
use tailcut_core::policy::gc_schedule::threshold;
use tailcut_core::policy::redundancy::{RedundancyConfig, rain};
use tailcut_testkit::swarm::{self, Case, Plan, member};
use tailcut_testkit::{Host, operations, parity_drive};
use tailcut_units::quantity::Level;
use tailcut_units::{HostOp, Occupant};

const PAGE: u64 = 4096;
/// Data units of a stripe.
const DATA: u64 = 3;

fn rotating(mode: Mode, start: u32, hard: u32) -> GcScheduleConfig {
    GcScheduleConfig::Rotating(rotating::Config {
        start: Level::Count(start),
        hard: Level::Count(hard),
        stop: Level::Count(1),
        mode,
        ..Default::default()
    })
}

fn threshold(start: u32) -> GcScheduleConfig {
    GcScheduleConfig::Threshold(threshold::Config { start: Level::Count(start), ..Default::default() })
}

/// Reads and overwrites all over a full drive, some of them in the same few stripes.
fn plan(gap: u64) -> Plan {
    Plan {
        commands: 3_000,
        fill: 256,
        aged: true,
        weights: [8, 8, 0, 0],
        astray: 0,
        grain: PAGE,
        largest: 2 * PAGE,
        hot: 16,
        gap,
        pause: 0,
        sequential: false,
        audit_every: 2_000,
    }
}

fn run<M: Medium>(seed: u64, config: &DeviceConfig, plan: &Plan, medium: M) -> Device<(), M> {
    let case = Case { seed, config: config.clone(), plan: plan.clone() };
    let (_, device) = swarm::run_over(&case, medium).unwrap_or_else(|e| panic!("seed {seed}: {e}"));
    device
}

#[test]
fn lanes_of_a_group_collect_in_turn() {
    let mut broken = 0;
    for seed in 0..4 {
        for gap in [0, 100_000, 1_000_000] {
            let mut c = parity_drive();
            c.policy.gc_schedule = rotating(Mode::Forced, 5, 2);
            let forced = run(seed, &c, &plan(gap), NoData);
            let n = forced.counters();
            assert!(n.collections > 100, "seed {seed}, gap {gap}: {n:?}");
            assert!(n.most_in_group <= 1 && n.rotation_broken == 0, "seed {seed}, gap {gap}: {n:?}");
            // With the same load and room, lanes at `hard` break the rotation.
            c.policy.gc_schedule = rotating(Mode::Yielding, 5, 5);
            let n = run(seed, &c, &plan(gap), NoData).counters().clone();
            assert!((n.most_in_group > 1) == (n.rotation_broken > 0), "seed {seed}, gap {gap}: {n:?}");
            broken += n.rotation_broken;
        }
        // Where turns suffice, no lane falls to `hard`, and so none goes out of turn.
        let mut c = parity_drive();
        c.policy.gc_schedule = rotating(Mode::Yielding, 6, 2);
        let n = run(seed, &c, &plan(3_000_000), NoData).counters().clone();
        assert!(n.collections > 100, "seed {seed}: {n:?}");
        assert_eq!((n.rotation_broken, n.most_in_group), (0, 1), "seed {seed}: {n:?}");
    }
    assert!(broken > 50, "yielding never broke the rotation: {broken}");
}

/// Drives that rebuild much: in turn, side by side, and through the controller.
fn rebuilding() -> Vec<(&'static str, DeviceConfig)> {
    let mut out = Vec::new();
    for read_path in ["gc-tolerant", "gc-tolerant-authors"] {
        for (name, schedule) in [("in turn", rotating(Mode::Yielding, 5, 2)), ("side by side", threshold(6))]
        {
            let mut c = parity_drive();
            (c.policy.gc_schedule, c.policy.read_path) = (schedule, member(read_path));
            out.push((name, c.clone()));
            c.ftl.gc.copy = CopyMode::Controller;
            c.ftl.gc.in_flight = 2;
            out.push((name, c));
        }
    }
    out
}

#[test]
fn a_rebuilt_page_is_what_was_written() {
    let (mut rebuilt, mut reads, mut side_by_side) = (0, 0, 0);
    for (i, (name, config)) in (0..).zip(rebuilding()) {
        for (grain, hot, gap) in [(PAGE, 0, 150_000), (512, 4, 40_000), (1, 1, 10_000), (PAGE, 16, 0)] {
            // Whole stripes and parts of pages; neighbours overwritten, held and moved.
            let plan = Plan { grain, hot, largest: 5 * PAGE, ..plan(gap) };
            let device = run(i, &config, &plan, InMemory::new());
            let n = device.counters();
            assert_eq!(n.rotation_broken > 0, name == "in turn" && n.most_in_group > 1);
            rebuilt += n.rebuilt_units;
            reads += n.rebuild_reads;
            side_by_side += u64::from(n.most_in_group > 1);
        }
    }
    assert!(rebuilt > 5_000 && reads > rebuilt, "{rebuilt} units rebuilt by {reads} reads");
    assert!(side_by_side >= 8, "two planes of a group collected at once in {side_by_side} runs only");
}

/// Units held in part are filled up past a collection, and parity is made from the rest.
#[test]
fn a_flush_goes_round_a_collection() {
    let mut rmw = 0;
    for seed in 0..6 {
        let mut c = parity_drive();
        c.policy.gc_schedule = if seed % 2 == 0 { rotating(Mode::Forced, 8, 2) } else { threshold(8) };
        if let BufferConfig::Lru(m) = &mut c.policy.buffer {
            m.capacity = 6 * PAGE;
        }
        let plan = Plan { grain: 512, largest: PAGE, hot: 0, weights: [2, 8, 1, 1], ..plan(200_000) };
        let n = run(seed, &c, &plan, InMemory::new()).counters().clone();
        rmw += n.rmw_reads;
        assert!(n.parity_reads > 1_000, "seed {seed}: {n:?}");
    }
    assert!(rmw > 1_000, "{rmw} parts filled up");
}

fn sums_up(n: &Counters) {
    assert_eq!(n.programs_pad, 0, "a row is a unit");
    assert_eq!(n.programs_user + n.programs_gc + n.programs_parity + n.programs_wear, n.rows_programmed);
}

/// A buffer that keeps what it holds until a FLUSH comes.
fn volatile() -> DeviceConfig {
    let mut c = parity_drive();
    if let BufferConfig::Lru(m) = &mut c.policy.buffer {
        m.power_loss = PowerLoss::Volatile;
    }
    c
}

#[test]
fn each_stripe_that_leaves_programs_one_parity() {
    let mut c = volatile();
    c.policy.gc_schedule = threshold(2);
    let stripe = DATA * PAGE;
    for (bytes, step, data) in [(stripe, stripe, DATA), (PAGE, stripe, 1), (2 * PAGE, stripe, 2)] {
        let mut host = Host::observed(&c, Vec::<StepEvent>::new());
        for i in 0..20 {
            // Each is on flash before the next comes.
            host.one(i * 1_000_000_000, HostOp::Write, i * step, bytes as u32);
            host.one(i * 1_000_000_000 + 500_000_000, HostOp::Flush, 0, 0);
        }
        let n = host.device.counters();
        assert_eq!((n.programs_user, n.programs_parity), (20 * data, 20), "{bytes} bytes: {n:?}");
        sums_up(n);
        let of = |o| operations(host.device.observer()).iter().filter(|x| x.occupant == o).count();
        assert_eq!((of(Occupant::UserProgram), of(Occupant::ParityProgram)), (20 * data as usize, 20));
    }
    for seed in 0..3 {
        let n = run(seed, &parity_drive(), &plan(50_000), NoData).counters().clone();
        assert!(n.programs_parity > 300 && n.programs_gc > 300, "{n:?}");
        assert!(n.programs_parity <= n.programs_user, "a stripe that leaves has data: {n:?}");
        sums_up(&n);
    }
}

#[test]
fn collection_in_no_time_blocks_nothing_and_writes_as_much() {
    for seed in 0..3 {
        let plan = Plan { commands: 12_000, weights: [2, 8, 0, 0], hot: 0, largest: PAGE, ..plan(2_000_000) };
        let with = |schedule| {
            let mut c = parity_drive();
            c.policy.gc_schedule = schedule;
            c.policy.read_path = member("wait");
            let n = run(seed, &c, &plan, NoData).counters().clone();
            assert!(n.collections > 500, "{n:?}");
            (n.rows_programmed as f64 / n.host_units_written as f64, n)
        };
        let (instant, n) = with(GcScheduleConfig::Instant(instant::Config { start: Level::Count(4) }));
        assert_eq!((n.gc_blocked_reads, n.queue_blocked_reads), (0, 0), "{n:?}");
        let (ordinary, n) = with(threshold(4));
        assert!(n.gc_blocked_reads > 0, "the comparison says nothing: {n:?}");
        let off = instant / ordinary - 1.0;
        assert!(off.abs() < 0.03, "seed {seed}: {instant} against {ordinary}");
    }
}

/// A drive that was filled and collects nothing, with stripes of `width` or none.
fn at_rest(width: u32) -> Host<Vec<StepEvent>> {
    let mut c = volatile();
    c.geometry.channels = 8;
    c.policy.gc_schedule = threshold(1);
    (c.policy.read_path, c.policy.flush) = (member("wait"), member("watermark"));
    c.policy.redundancy = match width {
        0 => member("none"),
        width => RedundancyConfig::Rain(rain::Config { width, ..Default::default() }),
    };
    let mut host = Host::observed(&c, Vec::new());
    host.device.fill(host.device.host_bytes() / 4);
    host
}

#[test]
fn at_rest_parity_costs_a_read_nothing_and_a_write_its_stripe() {
    let command = 900 + 500 + 300 + 5_120 + 1_700 + 1_280 + 1_100;
    for width in [4, 8] {
        let (mut plain, mut host) = (at_rest(0), at_rest(width));
        let data = u64::from(width) - 1;
        for unit in [0, 1, 8, 20] {
            let at = 1_000_000_000 * unit;
            let read = |h: &mut Host<_>| h.one(at, HostOp::Read, unit * PAGE, PAGE as u32).latency;
            let (with, without) = (read(&mut host), read(&mut plain));
            assert_eq!(with, without, "width {width}, unit {unit}");
            assert!([command + 40_000, command + 60_000].contains(&with), "unit {unit}: {with} ns");
        }
        // A unit alone: the former copy and the old parity, then both anew. A whole stripe:
        // nothing but its programs. All but one of a stripe of eight: the other one.
        let mut cases = vec![(1, 2), (data, 0)];
        if data > 3 {
            cases.push((data - 1, 1));
        }
        for (at, (units, reads)) in (2..).zip(cases) {
            host.device.reset_counters();
            host.device.observer_mut().clear();
            let at = at * 100_000_000_000;
            host.one(at, HostOp::Write, 0, (units * PAGE) as u32);
            host.one(at + 1_000_000_000, HostOp::Flush, 0, 0);
            let n = host.device.counters();
            assert_eq!((n.parity_reads, n.rmw_reads), (reads, 0), "width {width}, {units} units");
            assert_eq!((n.programs_user, n.programs_parity), (units, 1));
            sums_up(n);
            let ops = operations(host.device.observer());
            let is_program = |o: &Occupant| matches!(o, Occupant::UserProgram | Occupant::ParityProgram);
            let (programs, others): (Vec<_>, Vec<_>) = ops.iter().partition(|o| is_program(&o.occupant));
            assert_eq!((programs.len() as u64, others.len() as u64), (units + 1, reads));
            let read = others.iter().map(|o| o.released()).max().unwrap_or(0);
            assert!(programs.iter().all(|p| p.granted >= read), "data come before programs");
            let channels: std::collections::BTreeSet<u32> = programs.iter().map(|p| p.channel).collect();
            assert_eq!(channels.len(), programs.len(), "one on each channel");
        }
    }
}

#[test]
fn what_cannot_go_together_is_refused_by_name() {
    type Change = fn(&mut DeviceConfig);
    let changes: [(&str, &str, Change); 9] = [
        ("policy.redundancy", "policy.redundancy.rain.width", |c| c.geometry.channels = 6),
        ("policy.redundancy", "policy.redundancy.rain.width", |c| {
            c.policy.redundancy = RedundancyConfig::Rain(rain::Config { width: 2, ..Default::default() });
        }),
        ("policy.redundancy", "policy.placement", |c| c.policy.placement = member("dynamic")),
        ("policy.redundancy", "policy.buffer", |c| {
            c.policy.buffer = member("none");
            c.policy.flush = member("immediate");
        }),
        ("policy.redundancy", "ftl.mapping_unit", |c| {
            (c.ftl.mapping_unit, c.ftl.gc.copy) = (2048, CopyMode::Controller);
            c.ecc.codeword = 2048;
        }),
        ("policy.redundancy", "ftl.extent", |c| {
            c.geometry.busy_unit = tailcut_core::nand::config::BusyUnit::Die;
            (c.ftl.extent, c.ftl.gc.copy) = (ExtentKind::Line, CopyMode::Controller);
            (c.policy.gc_scope, c.policy.gc_schedule) = (member("operation"), threshold(3));
        }),
        ("policy.gc_schedule", "policy.redundancy", |c| {
            without_parity(c);
            c.policy.gc_schedule = member("rotating");
        }),
        ("policy.read_path", "policy.redundancy", |c| {
            without_parity(c);
            c.policy.read_path = member("gc-tolerant");
        }),
        ("policy.flush", "policy.redundancy", |c| {
            without_parity(c);
            c.policy.flush = member("gc-tolerant");
        }),
    ];
    fn without_parity(c: &mut DeviceConfig) {
        c.policy.redundancy = member("none");
        c.policy.read_path = member("wait");
        c.policy.gc_schedule = member("threshold");
        c.policy.flush = member("watermark");
    }
    assert!(Device::new(&parity_drive(), 1, ()).is_ok());
    for (i, (key, names, change)) in changes.into_iter().enumerate() {
        let mut c = parity_drive();
        change(&mut c);
        let Err(e) = Device::new(&c, 1, ()) else { panic!("case {i} is accepted") };
        assert_eq!(e.key, key, "case {i}: {e}");
        assert!(e.problem.contains(names), "case {i}: {e}");
    }
}
