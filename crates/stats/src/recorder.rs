//! The recorder: one call per finished request, and the results at the end.

use crate::batch::Batches;
use crate::blame::BlameTable;
use crate::failures::Failures;
use crate::population::Population;
use crate::series::{Gauges, Interval, Series};
use crate::worst::{SlowRequest, Worst};
use tailcut_units::{HostOp, Ledger, SimTime, Span, Status};

/// Jobs up to which each has histograms that never grow. With thousands, each has as much as it needs.
const FIXED_JOBS: usize = 16;

/// One finished request.
#[derive(Clone, Copy, Debug)]
pub struct Sample<'a> {
    /// Submission index within the run.
    pub index: u64,
    /// The job that sent the request: an index into the recorder's jobs.
    pub job: u16,
    /// The kind of request.
    pub op: HostOp,
    /// First byte.
    pub offset: u64,
    /// Length in bytes.
    pub bytes: u32,
    /// When the host had the request ready.
    pub arrived: SimTime,
    /// When the request completed.
    pub completed: SimTime,
    /// How the request ended.
    pub status: Status,
    /// The latency by cause; the sum is exactly `completed - arrived`.
    pub ledger: &'a Ledger,
}

impl Sample<'_> {
    /// Latency in ns.
    #[inline]
    pub fn latency_ns(&self) -> u64 {
        (self.completed - self.arrived).0
    }
}

/// The options of a recorder.
#[derive(Clone, Copy, Debug)]
pub struct RecorderOptions {
    /// Start of the measurement, and origin of the series.
    pub start: SimTime,
    /// The number of slowest requests kept of each kind, and again of those without success.
    pub worst: usize,
    /// First length of the coarse intervals; it doubles as the run grows.
    pub coarse: Span,
    /// Length of the fine intervals; `None` for no fine series.
    pub fine: Option<Span>,
}

impl Default for RecorderOptions {
    fn default() -> RecorderOptions {
        RecorderOptions { start: SimTime::ZERO, worst: 4096, coarse: Span(100_000), fine: None }
    }
}

/// The measurements of one kind of request over all jobs.
#[derive(Clone, Debug)]
struct Shared {
    blame: BlameTable,
    worst: Worst,
    failed: Worst,
    batches: Batches,
}

/// Measures one run of one scheme.
///
/// Everything is allocated at construction, except up to 200 coarse intervals (19 KiB each) and the
/// fine intervals not yet drained, and what the first request of a kind needs. Recording updates the histogram of the job
/// and kind, and the measurements of the kind. Totals over jobs are computed at the end.
#[derive(Clone, Debug)]
pub struct Recorder {
    jobs: Vec<String>,
    start: SimTime,
    /// By job, and by kind of request.
    populations: Vec<Population>,
    shared: [Shared; HostOp::COUNT],
    series: Series,
    errors: Failures,
}

impl Recorder {
    /// A recorder for these jobs. There must be at least one; names are printed as given.
    pub fn new(jobs: &[String], options: RecorderOptions) -> Recorder {
        assert!(!jobs.is_empty(), "a run has at least one job");
        let shared = || Shared {
            blame: BlameTable::new(),
            worst: Worst::new(options.worst),
            failed: Worst::new(options.worst),
            batches: Batches::new(),
        };
        // Drives are measured by reads and writes: these have room from the start.
        let population = |op: HostOp| match op {
            HostOp::Read | HostOp::Write if jobs.len() <= FIXED_JOBS => Population::new(),
            _ => Population::growing(),
        };
        Recorder {
            jobs: jobs.to_vec(),
            start: options.start,
            populations: jobs.iter().flat_map(|_| HostOp::ALL.map(population)).collect(),
            shared: HostOp::ALL.map(|_| shared()),
            series: Series::new(options.start, options.coarse, options.fine),
            errors: Failures::default(),
        }
    }

    /// Add a finished request, in order of completion. Failed requests are only counted; they have no latency. The slowest
    /// of them are kept.
    ///
    /// # Panics
    ///
    /// If the job is not one of the recorder's.
    #[inline]
    pub fn record(&mut self, s: &Sample) {
        if s.status != Status::Ok {
            self.fails(s);
            return;
        }
        let ns = s.latency_ns();
        let kind = s.op as usize;
        self.populations[usize::from(s.job) * HostOp::COUNT + kind].record(ns, s.bytes);
        self.series.record(s.completed, s.op, ns);
        let shared = &mut self.shared[kind];
        shared.batches.record(ns, s.completed.0.saturating_sub(self.start.0));
        shared.blame.record(ns, s.ledger);
        shared.worst.offer(ns, s.index, || SlowRequest::of(s));
    }

    #[inline(never)]
    fn fails(&mut self, s: &Sample) {
        self.errors.count(s.op, s.status);
        let failed = &mut self.shared[s.op as usize].failed;
        failed.offer(s.latency_ns(), s.index, || SlowRequest::of(s));
    }

    /// Report the state of the device at `at`. Calls are in order of time.
    pub fn gauge(&mut self, at: SimTime, gauges: &Gauges) {
        self.series.gauge(at, gauges);
    }

    /// Report the collections of plane groups since the last report: see [`Series::groups`].
    pub fn groups(&mut self, most: u64, collecting: u64, plane_ns: impl Iterator<Item = u64>) {
        self.series.groups(most, collecting, plane_ns);
    }

    /// The end of the interval being filled. Its last gauge must be reported before.
    #[inline]
    pub fn interval_end(&self) -> SimTime {
        self.series.interval_end()
    }

    /// Pass the fine intervals finished since the last call to `each`, in order.
    pub fn drain_fine(&mut self, each: impl FnMut(&Interval)) {
        self.series.drain_fine(each);
    }

    /// End the measurement at `end`. `fine` is called with the fine intervals not yet drained.
    pub fn finish(mut self, end: SimTime, fine: impl FnMut(&Interval)) -> Measured {
        let series = self.series.finish(end);
        self.series.drain_fine(fine);
        let mut sides = self.shared.map(|shared| Side {
            population: Population::growing(),
            blame: shared.blame,
            slowest: shared.worst.sorted(),
            failed: shared.failed.sorted(),
            batches: shared.batches,
        });
        let mut jobs = Vec::new();
        let mut populations = self.populations.into_iter();
        for name in self.jobs {
            let of_job = HostOp::ALL.map(|_| populations.next().expect("a population for each kind"));
            sides.iter_mut().zip(&of_job).for_each(|(side, of_job)| side.population.merge(of_job));
            jobs.push(JobStats { name, runtime: end - self.start, populations: of_job });
        }
        Measured { runtime: end - self.start, sides, jobs, series, errors: self.errors }
    }
}

/// A finished measurement.
#[derive(Clone, Debug)]
pub struct Measured {
    /// Virtual time from start to end.
    pub runtime: Span,
    /// All requests by kind, in the order of [`HostOp::ALL`].
    pub sides: [Side; HostOp::COUNT],
    /// The jobs in the order given.
    pub jobs: Vec<JobStats>,
    /// The coarse series.
    pub series: Vec<Interval>,
    /// Requests that ended without success. They have no latency.
    pub errors: Failures,
}

impl Measured {
    /// All requests of one kind.
    pub fn side(&self, op: HostOp) -> &Side {
        &self.sides[op as usize]
    }
}

/// All requests of one kind.
#[derive(Clone, Debug)]
pub struct Side {
    /// The latencies.
    pub population: Population,
    /// The latencies by cause.
    pub blame: BlameTable,
    /// The slowest requests, the slowest first; `job` is the place in [`Measured::jobs`].
    pub slowest: Vec<SlowRequest>,
    /// The slowest requests that ended without success, the slowest first.
    pub failed: Vec<SlowRequest>,
    /// The batches, for confidence intervals.
    pub batches: Batches,
}

/// The latencies of one job.
#[derive(Clone, Debug)]
pub struct JobStats {
    /// The job's name.
    pub name: String,
    /// Virtual time from the start to the end of the measurement.
    pub runtime: Span,
    /// The job's requests by kind, in the order of [`HostOp::ALL`].
    pub populations: [Population; HostOp::COUNT],
}

impl JobStats {
    /// The job's requests of one kind.
    pub fn of(&self, op: HostOp) -> &Population {
        &self.populations[op as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tailcut_units::{Cause, Stream};

    fn run(requests: u64) -> (Measured, Vec<(u16, HostOp, u64)>) {
        let names = ["a".to_string(), "b".to_string()];
        let mut recorder = Recorder::new(&names, RecorderOptions::default());
        let mut stream = Stream::new(3, "recorder test", 0);
        let mut said = Vec::new();
        let mut now = 0;
        for index in 0..requests {
            let job = stream.below(2) as u16;
            let op = [HostOp::Read, HostOp::Read, HostOp::Write, HostOp::Trim, HostOp::Flush]
                [stream.below(5) as usize];
            let mut ledger = Ledger::new();
            ledger.charge(Cause::ARRAY, 3_000);
            ledger.charge(Cause::GC_HOLD, stream.below(1_000_000));
            let ns = ledger.sum();
            now += 1_000;
            let status = if index % 100 == 7 { Status::OutOfRange } else { Status::Ok };
            recorder.record(&Sample {
                index,
                job,
                op,
                offset: 0,
                bytes: 4096,
                arrived: SimTime(now),
                completed: SimTime(now + ns),
                status,
                ledger: &ledger,
            });
            if status == Status::Ok {
                said.push((job, op, ns));
            }
        }
        (recorder.finish(SimTime(now + 1_003_000), |_| ()), said)
    }

    #[test]
    fn totals_and_jobs_hold_what_was_said() {
        let (measured, said) = run(50_000);
        let of = |job: Option<u16>, op| {
            let chosen = said.iter().filter(|s| s.1 == op && job.is_none_or(|j| s.0 == j));
            chosen.fold((0u64, 0u128), |(n, sum), s| (n + 1, sum + u128::from(s.2)))
        };
        let got = |p: &Population| (p.count(), p.sum());
        for op in HostOp::ALL {
            let side = measured.side(op);
            assert_eq!(got(&side.population), of(None, op));
            for job in 0..2 {
                assert_eq!(got(measured.jobs[usize::from(job)].of(op)), of(Some(job), op));
            }
            let series: u64 = measured.series.iter().map(|i| i.side(op).requests).sum();
            assert_eq!((series, side.blame.requests()), (side.population.count(), series));
        }
        assert_eq!(measured.errors.total(), 500);
    }

    #[test]
    fn the_mean_of_all_and_the_blame_of_all_agree() {
        let (measured, _) = run(20_000);
        for op in HostOp::ALL {
            let side = measured.side(op);
            let blame = side.blame.above(0.0).unwrap();
            assert!((blame.mean_ns - side.population.mean()).abs() < 1e-3);
            assert_eq!(side.failed.len() as u64, measured.errors.of(op, Status::OutOfRange));
            assert!(side.failed.iter().all(|r| r.status == Status::OutOfRange));
            assert_eq!(side.slowest.len() as u64, side.population.count().min(4096));
            assert_eq!(side.slowest[0].latency_ns(), side.population.max());
            assert!(side.slowest.windows(2).all(|w| w[0].latency_ns() >= w[1].latency_ns()));
        }
    }
}
