//! Tests the function and the cost of parity.
//!
//! Small drives with stripes run a random workload: collections of a group rotate, a rebuilt
//! unit equals the written one, and parity programs are counted. On an idle drive a write costs
//! what its stripe needs, and a read costs nothing extra.

use tailcut_core::device::config::DeviceConfig;
use tailcut_core::device::{Counters, Device, GroupTime, InMemory, Medium, NoData, StepEvent};
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
use tailcut_units::{Cause, Command, HostOp, Occupant, SimTime, Stream};

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

/// Reads and overwrites on a full drive, some of them in the same few stripes.
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
        fails: 0,
        interventions: Default::default(),
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
            // With the same load and space, lanes at `hard` break the rotation.
            c.policy.gc_schedule = rotating(Mode::Yielding, 5, 5);
            let n = run(seed, &c, &plan(gap), NoData).counters().clone();
            assert!((n.most_in_group > 1) == (n.rotation_broken > 0), "seed {seed}, gap {gap}: {n:?}");
            broken += n.rotation_broken;
        }
        // Where rotation provides enough space, no lane falls to `hard`, and so none collects
        // out of rotation.
        let mut c = parity_drive();
        c.policy.gc_schedule = rotating(Mode::Yielding, 6, 2);
        let n = run(seed, &c, &plan(3_000_000), NoData).counters().clone();
        assert!(n.collections > 100, "seed {seed}: {n:?}");
        assert_eq!((n.rotation_broken, n.most_in_group), (0, 1), "seed {seed}: {n:?}");
    }
    assert!(broken > 50, "yielding never broke the rotation: {broken}");
}

/// Tests the collection time of all groups against the sum over observations at every event,
/// and the most planes at once against the observed maximum.
#[test]
fn what_groups_collected_is_what_all_lanes_did() {
    let schedules = [
        ("forced", rotating(Mode::Forced, 5, 2)),
        ("yielding", rotating(Mode::Yielding, 5, 5)),
        ("threshold", threshold(6)),
        ("instant", GcScheduleConfig::Instant(instant::Config { start: Level::Count(4) })),
    ];
    for (name, schedule) in schedules {
        let mut c = parity_drive();
        let timed = schedule.name() != "instant";
        c.policy.gc_schedule = schedule;
        let mut device = Device::new(&c, 1, ()).unwrap();
        let bytes = device.host_bytes();
        device.fill(bytes);
        device.age_uniform(0..bytes, PAGE as u32, &mut |_| true);
        let mut s = Stream::new(1, "groups", 0);
        let (mut at, mut lane_ns, mut seen, mut reset) = (0, 0, 0, 0);
        for i in 0..3_000 {
            if i == 1_000 {
                // Reset the counters while collections are under way.
                assert!(!timed || device.gauges().collecting > 0, "{name}");
                device.reset_counters();
                (lane_ns, seen, reset) = (0, device.most_in_group(), at);
            }
            let arrival = at + s.below(400_000);
            while at < arrival || !device.has_place() {
                let next = device.next_deadline().0;
                let due = if at < arrival { next.min(arrival) } else { next };
                lane_ns += u64::from(device.gauges().collecting) * (due - at);
                at = due;
                device.advance(SimTime(at), &mut |_| {});
                seen = seen.max(device.group_times(SimTime(at)).map(|g| g.collecting).max().unwrap());
            }
            let command = Command::new(HostOp::Write, s.below(bytes / PAGE) * PAGE, PAGE as u32);
            device.submit(SimTime(at), SimTime(at), command, 0).unwrap();
        }
        let groups: Vec<GroupTime> = device.group_times(SimTime(at)).collect();
        assert_eq!(groups.iter().map(|g| g.lane_ns).sum::<u64>(), lane_ns, "{name}: {groups:?}");
        assert!(groups.iter().all(|g| g.lane_ns <= u64::from(g.most) * (at - reset)), "{name}: {groups:?}");
        let most = groups.iter().map(|g| g.most).max().unwrap();
        let n = device.counters().clone();
        assert_eq!((u64::from(most), device.most_in_group()), (n.most_in_group, most), "{name}");
        assert!(most >= seen && n.collections > 100, "{name}: {n:?}");
        assert_eq!(name == "forced", most == 1 && timed, "{name}: {groups:?}");
        assert!(!timed || lane_ns > at / 10, "{name}: {lane_ns} of {at} ns");
    }
}

/// Drives that rebuild many units: collections in rotation and concurrently, by copyback and
/// through the controller.
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
            // Whole stripes and parts of pages; units of a stripe are overwritten, buffered and
            // moved meanwhile.
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

/// Tests that partly written units are completed without reading a collecting plane, and that
/// parity is computed from the rest of the stripe.
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

/// A filled drive after random reads and writes, two to one, half a millisecond apart on
/// average.
fn mixed(c: &DeviceConfig, seed: u64) -> Host {
    let mut host = Host::new(c);
    host.device.fill(host.device.host_bytes());
    let mut stream = Stream::new(seed, "mixed", 0);
    let (units, mut at) = (host.device.host_bytes() / PAGE, 0);
    for _ in 0..8_000 {
        at += stream.below(1_000_000);
        while !host.device.has_place() {
            at = at.max(host.device.next_deadline().0);
            host.advance(at);
        }
        let op = if stream.below(3) == 0 { HostOp::Write } else { HostOp::Read };
        host.submit(at, op, stream.below(units) * PAGE, PAGE as u32);
    }
    host.drain();
    host
}

/// Tests that with rotating collections a read waits at most for the operation under way when
/// the read arrives or when a collection starts; the other members are read instead of waiting
/// for the rest of the collection. This includes a read whose reconstruction met another
/// collection, and a read of a member that left the buffer before its stripe committed. (At
/// `hard` a collection does not wait for anything; this drive stays above.)
#[test]
fn no_read_waits_out_a_collection_that_takes_its_turn() {
    // A block has eight pages: up to seven moves of 540 us, and an erase of 3 ms.
    let (page_move, erase) = (540_000, 3_000_000);
    let mut rebuilt = 0;
    for seed in 0..4 {
        let mut c = parity_drive();
        c.policy.gc_schedule = rotating(Mode::Forced, 8, 1);
        let host = mixed(&c, seed);
        let n = host.device.counters();
        assert!(n.collections > 300 && n.rotation_broken == 0, "seed {seed}: {n:?}");
        rebuilt += n.rebuilt_units;
        for read in host.done.iter().filter(|d| d.command.op == HostOp::Read) {
            let gc = [Occupant::GcRead, Occupant::GcProgram, Occupant::Erase].map(Cause::die_wait);
            let waited: u64 = gc.iter().map(|&c| read.ledger.get(c)).sum();
            let held = read.ledger.get(Cause::GC_HOLD) + read.ledger.get(Cause::GC_HOLD_ERASE);
            assert!(waited + held <= erase + page_move, "seed {seed}: {read:?}");
        }
    }
    assert!(rebuilt > 1_000, "{rebuilt} units rebuilt");
}

/// Tests that reads which wait for the program of the last page under the authors' rule meet
/// the erase that follows; under the paper's rule reads that arrive then do not.
#[test]
fn the_authors_reads_wait_out_some_erases() {
    let erase = 3_000_000;
    let mut long = [0, 0];
    for (rule, long) in ["gc-tolerant", "gc-tolerant-authors"].into_iter().zip(&mut long) {
        for seed in 0..3 {
            let mut c = parity_drive();
            c.policy.gc_schedule = rotating(Mode::Forced, 8, 1);
            c.policy.read_path = member(rule);
            let host = mixed(&c, seed);
            let causes = [Occupant::GcRead, Occupant::GcProgram, Occupant::Erase].map(Cause::die_wait);
            let causes = || causes.into_iter().chain([Cause::GC_HOLD, Cause::GC_HOLD_ERASE]);
            let waited = |d: &tailcut_testkit::Done| causes().map(|c| d.ledger.get(c)).sum::<u64>();
            let reads = host.done.iter().filter(|d| d.command.op == HostOp::Read);
            *long += reads.filter(|d| waited(d) > erase).count();
        }
    }
    let [paper, authors] = long;
    assert!(authors > 20 && authors > 4 * paper, "{authors} reads waited out an erase, {paper} by the paper");
}

fn sums_up(n: &Counters) {
    assert_eq!(n.programs_pad, 0, "a row is a unit");
    assert_eq!(n.programs_user + n.programs_gc + n.programs_parity + n.programs_wear, n.rows_programmed);
}

/// A volatile buffer, which holds its data until a FLUSH.
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
            // Each is on flash before the next is submitted.
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

/// Write units that differ between one FLUSH and the next, so that the buffer merges nothing,
/// with or without parity.
fn write_apart(c: &DeviceConfig, seed: u64, units: u64, rounds: u64) -> Counters {
    let mut host = Host::new(c);
    let mut s = Stream::new(seed, "apart", 0);
    for round in 0..rounds {
        let at = round * 10_000_000_000;
        let (first, step) = (s.below(units), 2 * s.below(units / 2) + 1);
        for i in 0..24 {
            let unit = (first + i * step) % units;
            host.submit(at + i * 30_000, HostOp::Write, unit * PAGE, PAGE as u32);
        }
        host.one(at + 1_000_000_000, HostOp::Flush, 0, 0);
    }
    host.device.counters().clone()
}

/// Tests that without collection parity costs only its own programs: host data are programmed
/// once, with or without parity.
#[test]
fn what_parity_adds_is_its_own_programs() {
    for (flush, seed) in [("watermark", 0), ("watermark", 1), ("gc-tolerant", 2), ("gc-tolerant", 3)] {
        let mut with = volatile();
        with.policy.gc_schedule = threshold(1);
        with.policy.flush = member(flush);
        let mut without = with.clone();
        (without.policy.redundancy, without.policy.read_path) = (member("none"), member("wait"));
        without.policy.flush = member("watermark");
        // The number of units is a power of two, so that an odd step visits each unit once.
        let [with, without] = [&with, &without].map(|c| write_apart(c, seed, 256, 20));
        assert_eq!((with.collections, without.collections), (0, 0), "fresh drives");
        assert_eq!((without.programs_user, without.programs_parity), (20 * 24, 0), "{without:?}");
        assert_eq!(with.programs_user, without.programs_user, "{flush}, seed {seed}: {with:?}");
        assert_eq!(with.programs() - without.programs(), with.programs_parity, "{flush}, seed {seed}");
        // At most one parity program for each unit, if each is alone in its stripe; at least
        // one for each stripe.
        let range = (20 * 24_u64).div_ceil(DATA)..=20 * 24;
        assert!(range.contains(&with.programs_parity), "{flush}, seed {seed}: {with:?}");
        assert_eq!(with.rows_programmed, without.rows_programmed + with.programs_parity);
    }
}

/// Tests the counters of programs by class against the observed programs, and their sum against
/// the rows programmed, while collections move data and parity.
#[test]
fn programs_by_class_are_what_the_dies_did() {
    for (seed, copy) in [(0, CopyMode::Controller), (1, CopyMode::Controller), (2, CopyMode::Copyback)] {
        let mut c = parity_drive();
        c.ftl.gc.copy = copy;
        c.policy.gc_schedule = rotating(Mode::Yielding, 5, 2);
        let mut host = Host::observed(&c, Vec::<StepEvent>::new());
        let bytes = host.device.host_bytes();
        host.device.fill(bytes);
        host.device.age_uniform(0..bytes, PAGE as u32, &mut |_| true);
        host.device.reset_counters();
        let mut s = Stream::new(seed, "classes", 0);
        for i in 0..3_000 {
            let at = i * 900_000;
            host.advance(at);
            host.submit(at, HostOp::Write, s.below(bytes / PAGE) * PAGE, PAGE as u32);
        }
        host.drain();
        let n = host.device.counters();
        let ops = operations(host.device.observer());
        let of = |o| ops.iter().filter(|x| x.occupant == o).count() as u64;
        assert!(n.collections > 100 && n.programs_parity > 1_000, "{n:?}");
        assert_eq!(of(Occupant::UserProgram), n.programs_user, "seed {seed}");
        assert_eq!(of(Occupant::ParityProgram), n.programs_parity, "seed {seed}");
        let copies = if copy == CopyMode::Copyback { Occupant::GcRead } else { Occupant::GcProgram };
        assert_eq!(of(copies), n.programs_gc, "seed {seed}");
        sums_up(n);
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
        assert_eq!((n.gc_blocked_reads, n.queued_behind_reads), (0, 0), "{n:?}");
        let (ordinary, n) = with(threshold(4));
        assert!(n.gc_blocked_reads > 0, "no read was blocked: {n:?}");
        let off = instant / ordinary - 1.0;
        assert!(off.abs() < 0.03, "seed {seed}: {instant} against {ordinary}");
    }
}

/// An idle drive that was filled and does not collect, with stripes of `width`, or without
/// stripes for 0.
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
        // One unit: read its old copy and the old parity, then program both. A whole stripe:
        // only programs. All but one unit of a stripe of eight: read the remaining one.
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
            c.geometry.busy_unit = tailcut_core::nand::config::BusyKind::Die;
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

/// Under a uniform load no group collects much more than another, where collections wait for their channel: a
/// channel that is seldom idle serves the lane that has waited longest. In the order of lanes the last ones
/// would starve.
#[test]
fn collections_that_wait_for_their_channel_take_turns() {
    use tailcut_core::policy::{flush, gc_scope, read_path};
    let waits = threshold::Config {
        start: Level::Count(16),
        wait_for_channel_above: Level::Count(2),
        ..Default::default()
    };
    let rotates = rotating::Config {
        start: Level::Count(16),
        hard: Level::Count(2),
        stop: Level::Count(1),
        wait_for_channel_above: Level::Count(2),
        ..Default::default()
    };
    for (name, schedule) in
        [("threshold", GcScheduleConfig::Threshold(waits)), ("rotating", GcScheduleConfig::Rotating(rotates))]
    {
        let mut c = parity_drive();
        (c.geometry.chips_per_channel, c.geometry.planes, c.geometry.blocks) = (8, 1, 64);
        c.policy.gc_schedule = schedule;
        c.policy.gc_scope = gc_scope::GcScopeConfig::Plane(gc_scope::plane::Config { one_per_channel: true });
        c.policy.read_path = read_path::ReadPathConfig::GcTolerantAuthors(Default::default());
        c.policy.flush = flush::FlushConfig::Watermark(Default::default());
        let mut device = Device::new(&c, 1, ()).unwrap();
        let bytes = device.host_bytes() / PAGE * PAGE / 2;
        device.fill(bytes);
        device.age_uniform(0..bytes, PAGE as u32, &mut |_| true);
        device.reset_counters();
        let (stripe, mut s) = (DATA * PAGE, Stream::new(1, "turns", 0));
        let mut at = 0;
        for _ in 0..30_000 {
            at += 60_000;
            let offset = s.below(bytes / stripe) * stripe;
            let op = if s.below(10) < 7 { HostOp::Read } else { HostOp::Write };
            while !device.has_place() || device.next_deadline().0 <= at {
                let next = device.next_deadline().0;
                device.advance(SimTime(next), &mut |_| {});
                at = at.max(next);
            }
            device.submit(SimTime(at), SimTime(at), Command::new(op, offset, stripe as u32), 0).unwrap();
        }
        device.audit().unwrap();
        let times: Vec<u64> = device.group_times(SimTime(at)).map(|g| g.lane_ns).collect();
        let (least, most) = (times.iter().min().unwrap(), times.iter().max().unwrap());
        println!("{name}: {} collections, {times:?} of {at} ns", device.counters().collections);
        assert!(device.counters().collections > 1_000 && *most < 3 * least, "{name}: {times:?}");
    }
}
