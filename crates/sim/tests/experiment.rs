//! Do all schemes get the same requests, and do the measurements describe the run?

mod common;

use common::{experiment, job};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use tailcut_core::device::Shape;
use tailcut_core::device::config::{DeviceConfig, Overwrites};
use tailcut_core::policy::buffer::BufferConfig;
use tailcut_core::policy::gc_schedule::{GcScheduleConfig, rotating::Mode};
use tailcut_report::summary::SeriesPoint;
use tailcut_sim::measure::SinkError;
use tailcut_sim::{ExperimentError, PastKind, SchemeSpec, Sink, Snapshots, Watch, summarise};
use tailcut_stats::{Interval, Sample};
use tailcut_testkit::{parity_drive, small_drive};
use tailcut_units::quantity::Level;
use tailcut_units::{HostOp, SimTime, Span};
use tailcut_workload::{TraceReplay, WorkloadSpec};

/// Schemes `scheme 0`, `scheme 1`, …, one for each drive.
fn on(drives: Vec<DeviceConfig>) -> Vec<SchemeSpec> {
    let spec = |(i, config)| SchemeSpec { name: format!("scheme {i}"), config };
    drives.into_iter().enumerate().map(spec).collect()
}

/// The small drive with a smaller host capacity.
fn smaller() -> DeviceConfig {
    let mut config = small_drive();
    config.ftl.over_provisioning = Some(0.5);
    config.ftl.user_capacity = None;
    config
}

/// The requests that each scheme received: (scheme, index, offset, bytes).
type Asked = Mutex<Vec<(usize, u64, u64, u32)>>;

struct Listener<'a>(usize, &'a Asked);

impl Sink for Listener<'_> {
    fn request(&mut self, s: &Sample) -> Result<(), SinkError> {
        self.1.lock().unwrap().push((self.0, s.index, s.offset, s.bytes));
        Ok(())
    }
    fn interval(&mut self, _: &Interval) -> Result<(), SinkError> {
        Ok(())
    }
    fn finish(self: Box<Self>) -> Result<(), SinkError> {
        Ok(())
    }
}

#[test]
fn every_scheme_meets_the_same_requests_on_the_smallest_capacity() {
    let workload = job("randrw,bs=4k,iodepth=8,number_ios=3000");
    let e = experiment(&workload, on(vec![small_drive(), smaller()]));
    let plan = e.plan().unwrap();
    assert!(plan.capacities[1].user < plan.capacities[0].user);
    assert_eq!(
        (plan.capacity, plan.expected, plan.past),
        (plan.capacities[1].user, Some(3000), PastKind::Steady)
    );
    let asked: &'static Asked = Box::leak(Box::default());
    let results = e.run(&plan, &(), &|scheme, _| Ok(Some(Box::new(Listener(scheme, asked))))).unwrap();
    assert!(results.iter().flatten().all(|r| r.as_ref().is_some_and(|r| !r.outcome.partial)));
    let mut all = asked.lock().unwrap().clone();
    all.sort_unstable();
    let (first, second) = all.split_at(3000);
    let what =
        |asked: &[(usize, u64, u64, u32)]| asked.iter().map(|&(_, i, o, b)| (i, o, b)).collect::<Vec<_>>();
    assert_eq!(what(first), what(second));
    assert!(first.iter().all(|r| r.2 + u64::from(r.3) <= plan.capacity));
}

#[test]
fn a_ramp_is_run_but_not_measured() {
    let workload =
        job("randread,rate_iops=10000,rate_process=poisson,ramp_time=50ms,runtime=100ms,time_based");
    let e = experiment(&workload, on(vec![small_drive()]));
    let plan = e.plan().unwrap();
    assert_eq!(plan.past, PastKind::Sequential);
    let mut results = e.run(&plan, &(), &|_, _| Ok(None)).unwrap();
    let outcome = results.remove(0).remove(0).unwrap().outcome;
    let reads = outcome.measured.side(HostOp::Read).population.count();
    // About 500 in the ramp and 1,000 after it.
    assert!((900..1100).contains(&reads) && outcome.issued > reads + 400, "{reads} of {}", outcome.issued);
    assert!(outcome.measured.runtime > Span(95_000_000) && outcome.measured.runtime < Span(105_000_000));
    assert_eq!(outcome.digest.count(), outcome.issued);
    // Counters begin with the measurement, except for the few requests of the ramp still
    // outstanding.
    assert!((reads..reads + 20).contains(&outcome.counters.reads), "{} for {reads}", outcome.counters.reads);
}

#[test]
fn the_series_covers_the_run_and_knows_the_drive() {
    let workload = job("randrw,bs=4k,iodepth=8,number_ios=20000");
    let e = experiment(&workload, on(vec![small_drive()]));
    let plan = e.plan().unwrap();
    let mut results = e.run(&plan, &(), &|_, _| Ok(None)).unwrap();
    let outcome = results.remove(0).remove(0).unwrap().outcome;
    let series = &outcome.measured.series;
    assert!((50..=200).contains(&series.len()), "{} intervals", series.len());
    let requests: u64 = series.iter().flat_map(|i| &i.sides).map(|side| side.requests).sum();
    assert_eq!(requests, 20_000);
    let gauges: Vec<_> = series.iter().map(|i| i.gauges.expect("a gauge in every interval")).collect();
    assert!(gauges.windows(2).all(|w| w[0].collections <= w[1].collections));
    assert_eq!(gauges.last().unwrap().collections, outcome.counters.collections);
    assert!(outcome.counters.collections > 0);
}

/// Stores the fine intervals.
struct Intervals(&'static Mutex<Vec<Interval>>);

impl Sink for Intervals {
    fn request(&mut self, _: &Sample) -> Result<(), SinkError> {
        Ok(())
    }
    fn interval(&mut self, interval: &Interval) -> Result<(), SinkError> {
        self.0.lock().unwrap().push(interval.clone());
        Ok(())
    }
    fn finish(self: Box<Self>) -> Result<(), SinkError> {
        Ok(())
    }
}

/// Fine intervals are shorter than an erase, so that a collection lasts through some
/// intervals without another event.
#[test]
fn the_series_has_every_collection_of_every_group() {
    let workload = job("randrw,bs=4k,rate_iops=5000,ramp_time=20ms,runtime=600ms,time_based");
    for (i, (parity, mode)) in
        [(true, Mode::Forced), (true, Mode::Yielding), (false, Mode::Forced)].into_iter().enumerate()
    {
        let mut drive = if parity { parity_drive() } else { small_drive() };
        if let GcScheduleConfig::Rotating(c) = &mut drive.policy.gc_schedule {
            (c.start, c.hard, c.mode) = (Level::Count(5), Level::Count(5), mode);
            if mode == Mode::Forced {
                c.hard = Level::Count(2);
            }
        }
        let mut e = experiment(&workload, on(vec![drive]));
        e.fine = Some(Span(100_000));
        let plan = e.plan().unwrap();
        let kept: &'static Mutex<Vec<Interval>> = Box::leak(Box::default());
        let mut results = e.run(&plan, &(), &|_, _| Ok(Some(Box::new(Intervals(kept))))).unwrap();
        let run = results.remove(0).remove(0).unwrap();
        let (o, summary) = (&run.outcome, summarise("x", &run));
        let (gc, fine) = (summary.gc.unwrap(), kept.lock().unwrap());
        assert!(gc.collections > 50, "{gc:?}");
        let of = |rows: &[Interval], group: usize| -> f64 {
            let ns = |r: &Interval| Some(r.groups.as_ref()?.planes[group] * r.length_ns as f64);
            rows.iter().filter_map(ns).sum()
        };
        let most =
            |rows: &[Interval]| rows.iter().filter_map(|r| Some(r.groups.as_ref()?.most_in_group)).max();
        for rows in [&fine[..], &o.measured.series] {
            assert_eq!(most(rows), gc.most_in_group, "drive {i}");
            for (group, g) in gc.groups.iter().enumerate() {
                let whole = g.mean * o.measured.runtime.0 as f64;
                let off = of(rows, group) - whole;
                assert!(off.abs() < 1.0 && whole > 0.0, "drive {i}, group {group}: {off} of {whole} ns");
            }
            for r in rows.iter().filter(|r| r.groups.is_some()) {
                let g = r.groups.as_ref().unwrap();
                let limit = g.most_in_group as f64 + 1e-9;
                assert!(g.planes.iter().all(|&p| p <= limit), "{r:?}");
                assert!(g.groups_collecting == 0 || g.most_in_group > 0, "{r:?}");
                assert!(g.groups_collecting <= g.planes.len() as u64, "{r:?}");
            }
        }
        assert_eq!(gc.groups.iter().map(|g| g.most).max(), gc.most_in_group);
        let silent = |r: &&Interval| r.sides.iter().all(|side| side.requests == 0) && r.groups.is_some();
        match (parity, mode) {
            (false, _) => {
                assert_eq!((gc.groups.len(), most(&fine), gc.most_in_group), (0, None, None));
                assert!(summary.series.iter().all(|p| p.planes_collecting.is_empty()));
            }
            (true, Mode::Forced) => {
                assert_eq!((gc.groups.len(), gc.rotation_broken, gc.most_in_group), (2, Some(0), Some(1)));
                assert!(fine.iter().filter(silent).count() > 100);
            }
            (true, _) => {
                assert!(gc.rotation_broken > Some(0) && gc.most_in_group > Some(1), "{gc:?}");
                let broken = |p: &SeriesPoint| p.most_in_group > Some(1);
                assert!(summary.series.iter().any(broken) && !summary.series.iter().all(broken));
            }
        }
    }
}

/// Asks to stop after this many requests.
struct StopAfter(u64, AtomicU64, AtomicBool);

impl Watch for StopAfter {
    fn requests(&self, _: usize, done: u64, _: SimTime) {
        self.1.store(done, Ordering::Relaxed);
        self.2.store(done >= self.0, Ordering::Relaxed);
    }
    fn stopped(&self) -> bool {
        self.2.load(Ordering::Relaxed)
    }
}

#[test]
fn a_stopped_run_keeps_what_it_has_and_others_do_not_begin() {
    let workload = job("randread,iodepth=4,number_ios=100000000,norandommap");
    let mut e = experiment(&workload, on(vec![small_drive(), small_drive()]));
    e.threads = 1;
    let plan = e.plan().unwrap();
    let watch = StopAfter(10_000, AtomicU64::new(0), AtomicBool::new(false));
    let mut results = e.run(&plan, &watch, &|_, _| Ok(None)).unwrap();
    assert!(results[1][0].is_none());
    let outcome = results[0].remove(0).unwrap().outcome;
    let done = outcome.measured.side(HostOp::Read).population.count();
    assert!(outcome.partial && done == watch.1.load(Ordering::Relaxed) && done < 1_000_000, "{done}");
}

struct Full;

impl Sink for Full {
    fn request(&mut self, _: &Sample) -> Result<(), SinkError> {
        Err("no space left".into())
    }
    fn interval(&mut self, _: &Interval) -> Result<(), SinkError> {
        Ok(())
    }
    fn finish(self: Box<Self>) -> Result<(), SinkError> {
        Ok(())
    }
}

#[test]
fn a_sink_that_fails_ends_the_run() {
    let workload = job("randread,iodepth=4,number_ios=100000000,norandommap");
    let e = experiment(&workload, on(vec![small_drive(), small_drive()]));
    let plan = e.plan().unwrap();
    let error = e.run(&plan, &(), &|_, _| Ok(Some(Box::new(Full)))).unwrap_err();
    assert!(matches!(&error, ExperimentError::Sink(_)) && !error.is_input());
    assert!(error.to_string().contains("no space left"));
}

#[test]
fn a_buffer_larger_than_the_drive_is_said_once() {
    let workload = job("randread");
    let with = |capacity: u64| {
        let mut config = small_drive();
        let BufferConfig::Lru(lru) = &mut config.policy.buffer else { panic!("it has a buffer") };
        lru.capacity = capacity;
        config
    };
    let warnings = |drives| experiment(&workload, on(drives)).plan().unwrap().warnings;
    let shape = Shape::new(&small_drive(), 1).unwrap();
    let parts = u64::from(shape.most_parts() * shape.host.queue_depth);
    let most = shape.host_bytes() + parts * shape.layout.unit_bytes;
    assert_eq!(warnings(vec![small_drive(), with(most)]), [""; 0]);
    let larger = most + shape.layout.unit_bytes;
    let said = warnings(vec![with(larger), with(larger), small_drive()]);
    assert_eq!(said.len(), 1, "{said:?}");
    for part in ["policy.buffer.lru.capacity", &larger.to_string(), &most.to_string()] {
        assert!(said[0].contains(part), "{part}: {said:?}");
    }
}

#[test]
fn a_drive_that_cannot_be_is_named_with_its_scheme() {
    let workload = job("randread");
    let mut bad = small_drive();
    bad.geometry.channels = 0;
    let error = experiment(&workload, on(vec![small_drive(), bad])).plan().unwrap_err();
    assert!(error.is_input() && error.to_string().contains("scheme 1"), "{error}");
}

/// Does a trace age the drive with its own writes, or uniformly, as configured?
#[test]
fn a_trace_ages_the_drive_as_the_configuration_says() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("few.csv");
    // The trace overwrites 64 KiB at a time: stale pages lie together, and collection moves
    // little.
    let line = |i: u64| {
        format!("{},web,0,Write,{},65536,500\n", 128_166_372_000_000_000 + i * 10_000, i * 7 % 16 * 65_536)
    };
    let trace = |lines: u64| {
        std::fs::write(&path, (0..lines).map(line).collect::<String>()).unwrap();
        WorkloadSpec::parse(path.to_str().unwrap(), |_| None, &TraceReplay::default()).unwrap()
    };
    let aged = |overwrites: Overwrites, workload: &WorkloadSpec| {
        let mut drive = small_drive();
        drive.age.overwrites = overwrites;
        let e = experiment(workload, on(vec![drive]));
        let results = e.run(&e.plan().unwrap(), &(), &|_, _| Ok(None)).unwrap();
        let result = results[0][0].as_ref().unwrap();
        result.past.report.as_ref().map(|r| (r.programs, r.waf.to_bits()))
    };
    // The trace writes 12.5 MiB, and then more than the drive holds.
    for (lines, is_short) in [(200, true), (2_000, false)] {
        let trace = trace(lines);
        assert_ne!(aged(Overwrites::Workload, &trace), aged(Overwrites::Uniform, &trace));
        assert_eq!(aged(Overwrites::UniformTraces, &trace), aged(Overwrites::Uniform, &trace));
        let same = if is_short { Overwrites::Uniform } else { Overwrites::Workload };
        assert_eq!(aged(Overwrites::WorkloadOrUniform, &trace), aged(same, &trace), "{lines} lines");
    }
    let generated = job("randwrite,bs=16k,iodepth=4,number_ios=200,random_distribution=zipf:1.1");
    assert_ne!(aged(Overwrites::Workload, &generated), aged(Overwrites::Uniform, &generated));
    assert_eq!(aged(Overwrites::Workload, &generated), aged(Overwrites::UniformTraces, &generated));
    assert_eq!(aged(Overwrites::Workload, &generated), aged(Overwrites::WorkloadOrUniform, &generated));
}

/// If every drive has `age.free`, a workload that writes starts on scattered drives,
/// whether it is a trace or a job. A drive loaded from the cache equals the drive that was
/// made.
#[test]
fn a_drive_is_scattered_where_the_configuration_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("few.csv");
    let line = |i: u64| {
        // One write every 5 us: writes wait for buffer room, and so depend on the free
        // space.
        format!("{},web,0,Write,{},4096,500\n", 128_166_372_000_000_000 + i * 50, i * 7 % 1600 * 4096)
    };
    std::fs::write(&path, (0..2_000).map(line).collect::<String>()).unwrap();
    let trace = WorkloadSpec::parse(path.to_str().unwrap(), |_| None, &TraceReplay::default()).unwrap();
    let with = |free: Option<Level>| {
        let mut drive = small_drive();
        drive.age.free = free;
        drive
    };
    let some = |n| with(Some(Level::Count(n)));
    for workload in [&trace, &job("randwrite,bs=4k,iodepth=4,number_ios=2000")] {
        let run = |drive: DeviceConfig, snapshots: Snapshots| {
            let mut e = experiment(workload, on(vec![drive]));
            e.snapshots = snapshots;
            let plan = e.plan().unwrap();
            let results = e.run(&plan, &(), &|_, _| Ok(None)).unwrap();
            let r = results[0][0].as_ref().unwrap();
            assert_eq!(plan.past == PastKind::Scattered, r.past.report.is_none());
            (r.outcome.digest.to_string(), r.past.cached)
        };
        let file = |name: &str| Snapshots::File(folder.path().join(name));
        let (made, cached) = run(some(5), Snapshots::Off);
        assert!(!cached);
        let name = format!("aged {made}");
        assert_eq!(run(some(5), file(&name)), (made.clone(), false));
        assert_eq!(run(some(5), file(&name)), (made.clone(), true));
        assert_ne!(run(some(4), Snapshots::Off).0, made);
        assert_ne!(run(with(None), Snapshots::Off).0, made);
        // Another level gives another drive, so the file is refused.
        let mut e = experiment(workload, on(vec![some(4)]));
        e.snapshots = file(&name);
        assert!(matches!(e.run(&e.plan().unwrap(), &(), &|_, _| Ok(None)), Err(ExperimentError::Past(_))));
    }
    let reads = job("randread,bs=4k,iodepth=4,number_ios=20");
    assert_eq!(experiment(&reads, on(vec![some(5)])).plan().unwrap().past, PastKind::Sequential);
    // One drive scattered and another not; no `age.free` although a scattered past was
    // asked for; no room.
    let writes = job("randwrite,bs=4k,iodepth=4,number_ios=20");
    for drives in [vec![some(5), with(None)], vec![with(None)]] {
        let mut e = experiment(&writes, on(drives));
        e.past = Some(PastKind::Scattered);
        let error = e.plan().unwrap_err().to_string();
        assert!(error.contains("age.free"), "{error}");
    }
    let e = experiment(&writes, on(vec![some(20)]));
    let error = e.run(&e.plan().unwrap(), &(), &|_, _| Ok(None)).unwrap_err();
    assert!(error.is_input() && error.to_string().contains("20 is 20 of the 32 extents"), "{error}");
}
