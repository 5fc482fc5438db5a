//! Adds its measurements to the summary of a scheme, and makes one summary from several runs.

use crate::ordered::Ordered;
use crate::summary::{
    BlameSummary, JobSummary, Latency, LatencyCounts, OpSummary, Parts, Scheme, SeriesPoint,
};
use tailcut_stats::batch::{BATCHES, Groups};
use tailcut_stats::blame::{Blame, BlameTable};
use tailcut_stats::percentile::{self, BLAME_LEVELS, LEVELS};
use tailcut_stats::{Ci95, Failures, Gauges, Interval, JobStats, Measured, Population, Side, across_runs};
use tailcut_units::{HostOp, Span, Status};

impl Scheme {
    /// The summary of a run: `self` holds what the program that ran the simulation knows (name, digest, times, how the
    /// drive was aged, the counters of the drive), and the measurements are added. Values for which the drive has no
    /// mechanism stay `None`.
    pub fn with_measurements(mut self, measured: &Measured) -> Scheme {
        let completed: u64 = measured.sides.iter().map(|side| side.population.count()).sum();
        let requests = completed + measured.errors.total();
        let runtime = measured.runtime;
        [self.read, self.write, self.trim, self.flush] =
            measured.sides.each_ref().map(|of| side(of, runtime));
        self.runtime_ns = runtime.0;
        self.requests_per_cpu_second = ratio(requests as f64, self.cpu_seconds);
        (self.trims, self.flushes) = (self.trim.total_ios, self.flush.total_ios);
        self.errors = measured.errors.total();
        self.failed = failed(&measured.errors);
        self.jobs = measured.jobs.iter().map(|job| JobSummary::new(job, runtime)).collect();
        self.series = series(&measured.series);
        self.waf = waf(&self.programs);
        self.waf_shifts = self.waf.map_or(Vec::new(), |_| waf_shifts(&measured.series));
        self
    }

    /// Combines several runs of the same scheme with different seeds (at least one) into one
    /// summary, from each run's summary and measurements. Rates, mean latencies and percentiles
    /// (of the jobs too) and write amplification are means over the runs. Confidence intervals
    /// are across runs. Minimum and maximum are over all runs. The blame covers the requests of
    /// all runs. Everything else is of the first run: counts, the series, the drive's counters.
    pub fn over_runs(runs: &[Scheme], measured: &[&Measured]) -> Scheme {
        debug_assert_eq!(runs.len(), measured.len());
        let mut all = runs[0].clone();
        if runs.len() == 1 {
            return all;
        }
        all.runs = Some(runs.len() as u32);
        for op in HostOp::ALL {
            let of_runs: Vec<&OpSummary> = runs.iter().map(|r| r.side(op)).collect();
            combine(all.side_mut(op), &of_runs);
            all.side_mut(op).batch_shifts = None;
            all.side_mut(op).by_run = by_run(&of_runs);
            all.side_mut(op).blame = blame_over(measured.iter().map(|m| m.side(op)));
            for (i, job) in all.jobs.iter_mut().enumerate() {
                let each = runs.iter().filter_map(|r| r.jobs.get(i));
                combine(job.side_mut(op), &each.map(|j| j.side(op)).collect::<Vec<_>>());
            }
        }
        let wafs: Option<Vec<f64>> = runs.iter().map(|r| r.waf).collect();
        all.waf = wafs.as_ref().and_then(|w| across_runs(w)).map(|ci| ci.mean);
        (all.waf_shifts, all.waf_by_run) = (Vec::new(), wafs.unwrap_or_default());
        all
    }
}

/// Write amplification: all programs divided by those of class `user`. `None` when nothing was programmed for the host.
fn waf(programs: &Ordered<u64>) -> Option<f64> {
    let user = *programs.get("user").filter(|&&user| user > 0)?;
    let all: u64 = programs.iter().map(|(_, n)| n).sum();
    Some(all as f64 / user as f64)
}

impl JobSummary {
    /// The summary of a job in a run of this length.
    fn new(job: &JobStats, runtime: Span) -> JobSummary {
        let [read, write, trim, flush] = job.populations.each_ref().map(|of| requests(of, job.runtime));
        let runtime_ns = (job.runtime != runtime).then_some(job.runtime.0);
        JobSummary { name: job.name.clone(), runtime_ns, read, write, trim, flush }
    }
}

/// The requests that ended without success, by kind and status.
fn failed(failures: &Failures) -> Ordered<Ordered<u64>> {
    let named = |by: Vec<(Status, u64)>| by.into_iter().map(|(s, n)| (s.name().to_string(), n)).collect();
    failures.by_kind().map(|(kind, by)| (kind.to_string(), named(by))).collect()
}

fn combine(all: &mut OpSummary, runs: &[&OpSummary]) {
    let over = |figure: &dyn Fn(&OpSummary) -> f64| {
        let values: Vec<f64> = runs.iter().map(|r| figure(r)).collect();
        across_runs(&values).expect("more than one run")
    };
    let whole = |ci: Ci95| [ci.low.max(0.0).round() as u64, ci.high.round() as u64];
    all.iops = over(&|r| r.iops).mean;
    all.bw_bytes = over(&|r| r.bw_bytes).mean;
    let lat = &mut all.lat_ns;
    lat.min = runs.iter().map(|r| r.lat_ns.min).min().unwrap_or(0);
    lat.max = runs.iter().map(|r| r.lat_ns.max).max().unwrap_or(0);
    let mean = over(&|r| r.lat_ns.mean);
    lat.mean = mean.mean;
    lat.stddev = over(&|r| r.lat_ns.stddev).mean;
    lat.mean_ci95 = (all.total_ios > 0).then_some([mean.low, mean.high]);
    lat.ci95.0.clear();
    for (key, value) in &mut lat.percentile.0 {
        let ci = over(&|r| r.lat_ns.percentile.get(key).copied().unwrap_or(0) as f64);
        *value = ci.mean.round() as u64;
        lat.ci95.0.push((key.clone(), whole(ci)));
    }
}

/// The figures of each run; `None` if a run has no such request.
fn by_run(runs: &[&OpSummary]) -> Option<Parts> {
    if runs.iter().any(|r| r.total_ios == 0) {
        return None;
    }
    let each = |figure: &dyn Fn(&OpSummary) -> f64| runs.iter().map(|r| figure(r)).collect::<Vec<f64>>();
    let keys = runs[0].lat_ns.percentile.iter().map(|(key, _)| key);
    let of = |key: &str| each(&|r| r.lat_ns.percentile.get(key).copied().unwrap_or(0) as f64);
    Some(Parts {
        iops: each(&|r| r.iops),
        mean: each(&|r| r.lat_ns.mean),
        percentile: keys.map(|key| (key.clone(), of(key))).collect(),
    })
}

/// The shifts of the write amplification by equal parts of the series; empty if it has too few intervals.
fn waf_shifts(series: &[Interval]) -> Vec<f64> {
    if series.len() < BATCHES {
        return Vec::new();
    }
    let mut parts = [(0.0, 0.0); BATCHES];
    let mut before = Gauges::default();
    for (i, gauges) in series.iter().enumerate().filter_map(|(i, s)| Some((i, s.gauges?))) {
        let (total, user) = &mut parts[i * BATCHES / series.len()];
        *total += gauges.programs_total.saturating_sub(before.programs_total) as f64;
        *user += gauges.programs_user.saturating_sub(before.programs_user) as f64;
        before = gauges;
    }
    let sum = |of: &dyn Fn(&(f64, f64)) -> f64| parts.iter().map(of).sum::<f64>();
    let (total, user) = (sum(&|p| p.0), sum(&|p| p.1));
    if user == 0.0 {
        return Vec::new();
    }
    let shift = |&(t, u): &(f64, f64)| millionths((t - total / user * u) * BATCHES as f64 / total);
    parts.iter().map(shift).collect()
}

/// The blame of one kind of request in all runs.
fn blame_over<'a>(mut sides: impl Iterator<Item = &'a Side>) -> Vec<BlameSummary> {
    let Some(first) = sides.next() else { return Vec::new() };
    let mut table = first.blame.clone();
    sides.for_each(|side| table.merge(&side.blame));
    blame(&table)
}

fn blame(table: &BlameTable) -> Vec<BlameSummary> {
    BLAME_LEVELS.iter().filter_map(|&level| table.above(level)).map(From::from).collect()
}

fn side(side: &Side, runtime: Span) -> OpSummary {
    let mut summary = requests(&side.population, runtime);
    if let Some(groups) = side.batches.group() {
        let mean = groups.mean();
        summary.lat_ns.mean_ci95 = Some([mean.low, mean.high]);
        summary.lat_ns.ci95 = LEVELS
            .iter()
            .map(|&level| {
                let (low, high) = groups.percentile(level, &side.population);
                (percentile::key(level), [low, high])
            })
            .collect();
        summary.batch_shifts = Some(batch_shifts(side, &groups));
    }
    summary.blame = blame(&side.blame);
    summary
}

fn batch_shifts(side: &Side, groups: &Groups) -> Parts {
    let short = |shifts: [f64; BATCHES]| shifts.map(millionths).to_vec();
    let of = |&level: &f64| {
        let shifts = groups.percentile_shifts(level, &side.population)?;
        Some((percentile::key(level), short(shifts)))
    };
    Parts {
        iops: groups.rate_shifts().map_or(Vec::new(), short),
        mean: short(groups.mean_shifts()),
        percentile: LEVELS.iter().filter_map(of).collect(),
    }
}

fn requests(population: &Population, runtime: Span) -> OpSummary {
    let seconds = runtime.0 as f64 / 1e9;
    let levels = if population.count() == 0 { &[][..] } else { &LEVELS[..] };
    OpSummary {
        total_ios: population.count(),
        iops: ratio(population.count() as f64, seconds),
        bw_bytes: ratio(population.bytes() as f64, seconds),
        lat_ns: Latency {
            min: population.min(),
            max: population.max(),
            mean: population.mean(),
            stddev: population.stddev(),
            mean_ci95: None,
            percentile: levels
                .iter()
                .map(|&level| (percentile::key(level), population.percentile(level)))
                .collect(),
            ci95: Default::default(),
            saturated: population.saturated(),
        },
        blame: Vec::new(),
        batch_shifts: None,
        by_run: None,
    }
}

impl From<Blame> for BlameSummary {
    fn from(blame: Blame) -> BlameSummary {
        BlameSummary {
            above: blame.above,
            threshold_ns: blame.threshold_ns,
            requests: blame.requests,
            mean_ns: blame.mean_ns,
            causes: blame.causes.into_iter().map(|(cause, ns)| (cause.name(), ns)).collect(),
        }
    }
}

fn series(intervals: &[Interval]) -> Vec<SeriesPoint> {
    let mut before = Gauges::default();
    intervals
        .iter()
        .map(|interval| {
            let point = SeriesPoint::new(interval, &before);
            before = interval.gauges.unwrap_or(before);
            point
        })
        .collect()
}

impl SeriesPoint {
    /// Computes the figures of one interval. `before` is the last state reported earlier (all
    /// zero at the start); write amplification is taken from the difference to it.
    pub fn new(interval: &Interval, before: &Gauges) -> SeriesPoint {
        let (gauges, groups) = (interval.gauges, interval.groups.as_ref());
        let waf = gauges.and_then(|g| {
            let user = g.programs_user.checked_sub(before.programs_user).filter(|&n| n > 0)?;
            let total = g.programs_total.checked_sub(before.programs_total)?;
            Some(total as f64 / user as f64)
        });
        let share = |used: fn(&Gauges) -> f64| {
            let g = gauges.filter(|g| g.used_until_ns > before.used_until_ns)?;
            let time = (g.used_until_ns - before.used_until_ns) as f64;
            Some(millionths(((used(&g) - used(before)) / time).clamp(0.0, 1.0)))
        };
        let [read, write, trim, flush] = &interval.sides;
        let [trim, flush] = [trim, flush].map(|side| Some(side).filter(|side| side.requests > 0));
        SeriesPoint {
            at_ns: interval.at_ns,
            length_ns: interval.length_ns,
            read_iops: read.iops,
            read_mean_ns: read.mean_ns,
            read_p50_ns: read.p50_ns,
            read_p99_ns: read.p99_ns,
            read_p999_ns: read.p999_ns,
            read_max_ns: read.max_ns,
            write_iops: write.iops,
            write_mean_ns: write.mean_ns,
            write_p50_ns: write.p50_ns,
            write_p99_ns: write.p99_ns,
            write_p999_ns: write.p999_ns,
            write_max_ns: write.max_ns,
            trim_iops: trim.map(|side| side.iops),
            trim_mean_ns: trim.map(|side| side.mean_ns),
            trim_p50_ns: trim.map(|side| side.p50_ns),
            trim_p99_ns: trim.map(|side| side.p99_ns),
            trim_p999_ns: trim.map(|side| side.p999_ns),
            trim_max_ns: trim.map(|side| side.max_ns),
            flush_iops: flush.map(|side| side.iops),
            flush_mean_ns: flush.map(|side| side.mean_ns),
            flush_p50_ns: flush.map(|side| side.p50_ns),
            flush_p99_ns: flush.map(|side| side.p99_ns),
            flush_p999_ns: flush.map(|side| side.p999_ns),
            flush_max_ns: flush.map(|side| side.max_ns),
            free_blocks: gauges.map(|g| g.free_blocks),
            buffer_fill: gauges.map(|g| g.buffer_fill),
            user_limit: gauges.and_then(|g| g.user_limit),
            queue_depth: gauges.map(|g| g.queue_depth),
            collections: gauges.map(|g| g.collections),
            erases: gauges.map(|g| g.erases),
            waf,
            most_in_group: groups.map(|g| g.most_in_group),
            groups_collecting: groups.map(|g| g.groups_collecting),
            planes_collecting: groups
                .map_or(Vec::new(), |g| g.planes.iter().map(|&p| millionths(p)).collect()),
            dies_in_use: share(|g| g.dies_used_ns),
            channels_in_use: share(|g| g.channels_used_ns),
            latencies: HostOp::ALL
                .iter()
                .zip(&interval.latencies)
                .filter(|(_, of)| !of.counts.is_empty())
                .map(|(op, of)| {
                    let counts = LatencyCounts { from: of.from as u32, counts: of.counts.clone() };
                    (op.name().to_string(), counts)
                })
                .collect(),
        }
    }
}

/// Rounds to six decimals, which keeps long lists short.
fn millionths(value: f64) -> f64 {
    (value * 1e6).round() / 1e6
}

/// `a / b`, or 0 if `b` is not positive: JSON has no infinities and no NaN.
fn ratio(a: f64, b: f64) -> f64 {
    if b > 0.0 { a / b } else { 0.0 }
}
