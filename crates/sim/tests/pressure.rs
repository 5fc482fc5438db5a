//! Does a drive report that it does not keep up, and only then? Do jobs wait for one another at a
//! stonewall, and does a workload that only trims age its drive?

mod common;

use common::{experiment, job};
use std::time::{Duration, Instant};
use tailcut_sim::{PastKind, RunResult, SchemeSpec, summarise};
use tailcut_testkit::small_drive;
use tailcut_units::HostOp;
use tailcut_workload::{TraceReplay, WorkloadSpec};

fn run_spec(workload: &WorkloadSpec, past: PastKind) -> RunResult {
    let scheme = SchemeSpec { name: "small".into(), config: small_drive() };
    let mut e = experiment(workload, vec![scheme]);
    e.past = Some(past);
    let results = e.run(&e.plan().unwrap(), &(), &|_, _| Ok(None)).unwrap();
    results.into_iter().flatten().flatten().next().unwrap()
}

fn run(text: &str) -> RunResult {
    run_spec(&job(text), PastKind::Sequential)
}

#[test]
fn arrivals_faster_than_the_drive_are_said_with_their_rates() {
    // The drive serves random reads of 4 KiB at about 30,000 a second.
    let closed = run("randread,iodepth=256,number_ios=20000");
    assert_eq!(closed.outcome.offered, None);
    let capacity = closed.outcome.measured.side(HostOp::Read).population.count() as f64
        / (closed.outcome.measured.runtime.0 as f64 / 1e9);
    let at = |share: f64| {
        let rate = (capacity * share) as u64;
        let o = run(&format!("randread,rate_iops={rate},rate_process=poisson,number_ios=40000")).outcome;
        let offered = o.offered.unwrap();
        assert!((offered.per_second().unwrap() / rate as f64 - 1.0).abs() < 0.03, "{offered:?}");
        (offered, o.measured.side(HostOp::Read).population.mean())
    };
    let (fast, mean_fast) = at(0.7);
    assert!(fast.keeps_up() && fast.backlog < 64, "{fast:?}");
    let (slow, mean_slow) = at(1.3);
    assert!(!slow.keeps_up(), "{slow:?}");
    assert!((slow.served_per_second / capacity - 1.0).abs() < 0.05, "{slow:?} of {capacity}");
    // A third more than it serves: at the last arrival a quarter of all requests is left.
    assert!((slow.backlog as f64 / 40_000.0 - 0.3 / 1.3).abs() < 0.03, "{slow:?}");
    assert!(mean_slow > 10.0 * mean_fast, "{mean_slow} {mean_fast}");
}

/// A job with few places delays arrivals itself; its latencies count from the due times.
#[test]
fn a_paced_job_that_falls_behind_with_few_places_does_not_keep_up() {
    let at = |rate: u64| {
        let paced = "iodepth=32,io_submit_mode=offload,time_based,runtime=500ms,norandommap";
        run(&format!("randread,rate_iops={rate},{paced}")).outcome.offered.unwrap()
    };
    let fast = at(5_000);
    assert!(fast.keeps_up(), "{fast:?}");
    let slow = at(500_000);
    assert!(!slow.keeps_up() && slow.longest.0 > 490_000_000, "{slow:?}");
}

#[test]
fn a_trace_that_is_too_fast_says_so_and_a_bursty_one_does_not() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.csv");
    let of = |gap_us: &dyn Fn(u64) -> u64| {
        let mut now = 0;
        let line = |i: u64| {
            now += gap_us(i);
            format!("0,{},4096,r,{}.{:06}\n", i * 7919 % 4096 * 8, now / 1_000_000, now % 1_000_000)
        };
        std::fs::write(&path, (0..30_000).map(line).collect::<String>()).unwrap();
        let trace = WorkloadSpec::parse(path.to_str().unwrap(), |_| None, &TraceReplay::default()).unwrap();
        run_spec(&trace, PastKind::Sequential)
    };
    let fast = of(&|_| 5);
    assert!(!fast.outcome.offered.unwrap().keeps_up(), "{:?}", fast.outcome.offered);
    let scheme = summarise("small", &fast);
    let text = tailcut_report::tables::comparison(std::slice::from_ref(&scheme));
    assert!(text.starts_with("small DOES NOT KEEP UP: 200k requests a second arrived"), "{text}");
    assert!(text.contains("latencies below measure the backlog"), "{text}");
    // Bursts of 500 requests, which the drive works off in a tenth of the time between bursts.
    let bursty = of(&|i| if i % 500 == 0 { 300_000 } else { 0 });
    assert!(bursty.outcome.offered.unwrap().keeps_up(), "{:?}", bursty.outcome.offered);
    let scheme = summarise("small", &bursty);
    assert_eq!(scheme.load.map(|l| l.keeps_up), Some(true));
    assert!(!tailcut_report::tables::comparison(&[scheme]).contains("KEEP UP"));
}

#[test]
fn behind_a_stonewall_jobs_begin_when_all_before_have_ended() {
    let first = run("randread,iodepth=4,number_ios=2000");
    let alone = first.outcome.measured.runtime;
    let both =
        run("randread,iodepth=4,number_ios=2000;randread,stonewall,iodepth=8,number_ios=3000,randseed=5");
    let o = &both.outcome;
    assert_eq!(
        o.measured.jobs[0].of(HostOp::Read).count() + o.measured.jobs[1].of(HostOp::Read).count(),
        5000
    );
    // The first job runs as if it were alone, and the jobs' times follow one another.
    let jobs = &o.measured.jobs;
    assert_eq!(
        (jobs[0].runtime, jobs[0].of(HostOp::Read).mean()),
        (alone, first.outcome.measured.jobs[0].of(HostOp::Read).mean())
    );
    assert_eq!(jobs[0].runtime.0 + jobs[1].runtime.0, o.measured.runtime.0);
    // The rate of each job refers to its own time.
    let s = summarise("small", &both);
    let of = |i: usize| s.jobs[i].read.total_ios as f64 / (s.jobs[i].runtime_ns.unwrap() as f64 / 1e9);
    for i in 0..2 {
        assert!((s.jobs[i].read.iops / of(i) - 1.0).abs() < 1e-9);
    }
    // Without the wall the jobs run at the same time, and no job has its own time.
    let beside = run("randread,iodepth=4,number_ios=2000;randread,iodepth=8,number_ios=3000,randseed=5");
    assert!(beside.outcome.measured.runtime < o.measured.runtime);
    assert!(summarise("small", &beside).jobs.iter().all(|j| j.runtime_ns.is_none()));
}

#[test]
fn times_of_a_job_count_from_its_wall_and_its_delay_from_the_start() {
    let ms = |o: &RunResult, job: usize| o.outcome.measured.jobs[job].runtime.0 as f64 / 1e6;
    // 20 ms, then 30 ms with a ramp of 10 ms: 20 ms are measured.
    let timed =
        run("randread,time_based,runtime=20ms;randread,stonewall,time_based,ramp_time=10ms,runtime=20ms");
    assert!(
        (ms(&timed, 0) - 20.0).abs() < 0.5 && (ms(&timed, 1) - 20.0).abs() < 0.5,
        "{:?}",
        timed.outcome.measured.jobs.iter().map(|j| j.runtime).collect::<Vec<_>>()
    );
    // A rate is kept after the wall.
    let paced = run("randread,time_based,runtime=20ms;randread,stonewall,rate_iops=1000,number_ios=30");
    assert!((ms(&paced, 1) - 29.0).abs() < 1.0, "{}", ms(&paced, 1));
    assert_eq!(paced.outcome.measured.jobs[1].of(HostOp::Read).count(), 30);
    // A delay that has passed when the wall ends has no effect; a longer delay has.
    for (delay, whole) in [(5, 40.0), (50, 70.0)] {
        let delayed = run(&format!(
            "randread,time_based,runtime=20ms;randread,stonewall,startdelay={delay}ms,time_based,runtime=20ms"
        ));
        let runtime = delayed.outcome.measured.runtime.0 as f64 / 1e6;
        assert!((runtime - whole).abs() < 0.5, "{delay}: {runtime}");
    }
}

#[test]
fn jobs_behind_a_wall_age_and_fill_as_if_they_were_beside_the_others() {
    let walled = job("write,size=50%,number_ios=500;randwrite,stonewall,offset=50%,number_ios=500");
    let beside = job("write,size=50%,number_ios=500;randwrite,offset=50%,number_ios=500");
    let scheme = || vec![SchemeSpec { name: "small".into(), config: small_drive() }];
    let (one, other) = (experiment(&walled, scheme()), experiment(&beside, scheme()));
    let (one, other) = (one.plan().unwrap(), other.plan().unwrap());
    assert_eq!((one.filled, one.capacity, one.past), (other.filled, other.capacity, PastKind::Steady));
    let waf = |w: &WorkloadSpec| run_spec(w, PastKind::Steady).past.report.map(|r| r.waf.to_bits());
    assert_eq!(waf(&walled), waf(&beside));
}

#[test]
fn a_workload_without_writes_ages_its_drive_uniformly_and_soon() {
    let started = Instant::now();
    let aged = |text: &str| run_spec(&job(text), PastKind::Steady).past.report.unwrap();
    let trims = aged("trim,number_ios=10");
    assert!(trims.steady && trims.waf > 1.0, "{trims:?}");
    assert_eq!((trims.programs, trims.waf), {
        let r = aged("randread,number_ios=10");
        (r.programs, r.waf)
    });
    // One write in a million trims is enough to determine the pattern of the writes.
    assert!(
        aged("randwrite,bsrange=4k-8k,number_ios=1;trim,number_ios=100000000,time_based,runtime=1ms").steady
    );
    assert!(started.elapsed() < Duration::from_secs(60), "{:?}", started.elapsed());
}

#[test]
fn a_warm_up_is_replayed_and_not_measured() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.csv");
    let line = |i: u64| {
        format!(
            "0,{},4096,{},0.{:06}\n",
            i * 7919 % 4096 * 8,
            if i.is_multiple_of(3) { 'w' } else { 'r' },
            i * 1000
        )
    };
    std::fs::write(&path, (0..900).map(line).collect::<String>()).unwrap();
    let of = |warm_up| {
        let replay = TraceReplay { warm_up, ..TraceReplay::default() };
        let trace = WorkloadSpec::parse(path.to_str().unwrap(), |_| None, &replay).unwrap();
        run_spec(&trace, PastKind::Sequential)
    };
    use tailcut_units::Span;
    use tailcut_workload::WarmUp;
    let (whole, warm) = (of(WarmUp::None), of(WarmUp::For(Span(300_000_000))));
    let (w, all) = (&warm.outcome, &whole.outcome);
    // The same run, with two thirds of it measured.
    assert_eq!((w.digest.to_string(), w.issued), (all.digest.to_string(), all.issued));
    assert_eq!(
        (w.measured.side(HostOp::Read).population.count(), w.measured.side(HostOp::Write).population.count()),
        (400, 200)
    );
    assert_eq!(w.measured_from.0, 300_000_000);
    assert_eq!(all.measured.runtime.0 - w.measured.runtime.0, 300_000_000);
    // Counters begin with the measurement.
    assert!(w.counters.reads < all.counters.reads && w.counters.programs_user < all.counters.programs_user);
    assert_eq!(w.counters.reads, 400);
}
