//! The ratings of Aerospike's certification tool (ACT): the largest multiplier of its load
//! under which a drive passes.
//!
//! There are two rules with two tests each, over the requests that arrive from `after` on:
//!
//! - The paper's (Kim et al., section 3.3). Stress: the mean latency of large reads and that of
//!   large writes are below their period, so that the drive keeps up. Performance: the same,
//!   and of the small reads 95 % take at most 1 ms, 99 % at most 8 ms, 99.9 % at most 64 ms.
//! - The tool's own. Stress: no large request is more than ten seconds late, at which the tool
//!   aborts. Performance: the same, and in every slice (an hour in the tool; here the search's
//!   `slice` of virtual time) fewer than 5 % of the small reads take more than 1 ms, 1 % more
//!   than 8 ms, 0.1 % more than 64 ms.
//!
//! The paper requires the mean of *each* type to be below its period. For small reads that
//! contradicts its own Table 3: a drive that breaks one of the three limits has a mean of at
//! least min(5 % x 1 ms, 1 % x 8 ms, 0.1 % x 64 ms) = 50 us, which is the period at 10 times
//! the load, and could never be rated 32 for stress and 14 for performance. So small reads are
//! judged by their limits only.
//!
//! Two minutes do not expose a drive whose collection frees a little less space than is
//! written, so that its free blocks last for an hour. So there is a third rating, *sustained*:
//! the paper's stress test, and the free blocks of the last third of the judged time are no
//! fewer than those of the first third, except for the 4 % by which whole superblocks make the
//! number fluctuate.
//!
//! A run ends when all its requests have ended: a request that would wait for ever on a real
//! drive waits for the end of the load here, and counts with that latency. A run also ends as
//! soon as the rule under test has certainly failed: no further request could bring the mean
//! below the period again.
//!
//! The search tries the largest multiplier first and then bisects. It assumes that every load
//! heavier than a failing one fails too.

use crate::error::ReproduceError;
use crate::file::{Experiment, RatingSearch, Run};
use crate::options::Options;
use crate::rating::{Passed, Rating, Tried};
use crate::specs::scheme_specs;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use tailcut_report::summary::Scheme;
use tailcut_sim::measure::SinkError;
use tailcut_sim::points::Follow;
use tailcut_sim::threads::on_threads;
use tailcut_sim::{ExperimentError, SchemeSpec, Sink, Watch, summarise};
use tailcut_stats::{Interval, Sample};
use tailcut_units::quantity::parse_time;
use tailcut_workload::{TraceReplay, WorkloadSpec};

/// The limits of the rules: latency in ns, and the share of small reads that may exceed it.
const LIMITS: [(u64, f64); 3] = [(1_000_000, 0.05), (8_000_000, 0.01), (64_000_000, 0.001)];

/// Large reads a second, and large writes a second, at multiplier 1.
const LARGE_RATE: f64 = 24.0;

/// The tool aborts when a large request is later than this.
const MAX_LAG_NS: u64 = 10_000_000_000;

/// The share by which the free blocks may be fewer at the end than at the start.
const FALL: f64 = 0.04;

/// Jobs of the load in the order of [`Tried::means_ns`].
const JOBS: usize = 3;

/// Searches every scheme; the inner `Err` says why there is nothing to show.
pub(crate) fn run(
    e: &Experiment,
    (run, search): (&Run, &RatingSearch),
    options: &Options,
    first: usize,
    follow: &dyn Follow,
) -> Result<Result<Vec<Rating>, String>, ReproduceError> {
    if options.quick && !run.has_quick() {
        (0..run.names().count()).for_each(|i| follow.done(first + i));
        return Ok(Err("this search has no quick size".to_string()));
    }
    // Checked when the file was read.
    let time = |text: &String| parse_time(text).map_or(0, |t| t.0);
    let (slice_ns, after_ns) = (time(&search.slice).max(1), search.after.as_ref().map_or(0, time));
    let specs = scheme_specs(e, run, options.quick)?;
    let searcher = Searcher { e, run, search, options, slice_ns, after_ns, follow };
    let slots: Mutex<Vec<Option<Result<Rating, ReproduceError>>>> =
        Mutex::new(specs.iter().map(|_| None).collect());
    let next = AtomicUsize::new(0);
    let work = || {
        loop {
            let i = next.fetch_add(1, Ordering::Relaxed);
            let Some(spec) = specs.get(i) else { return };
            let rating = searcher.rate(spec);
            slots.lock().unwrap_or_else(PoisonError::into_inner)[i] = Some(rating);
            follow.done(first + i);
        }
    };
    on_threads(options.threads.min(specs.len()), work);
    let slots = slots.into_inner().unwrap_or_else(PoisonError::into_inner);
    let ratings: Result<Vec<Rating>, _> = slots.into_iter().map(|r| r.expect("all searched")).collect();
    ratings.map(Ok)
}

struct Searcher<'a> {
    e: &'a Experiment,
    run: &'a Run,
    search: &'a RatingSearch,
    options: &'a Options,
    slice_ns: u64,
    after_ns: u64,
    follow: &'a dyn Follow,
}

/// The rule that an attempt tests.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Rule {
    Paper,
    Official,
}

impl Searcher<'_> {
    fn rate(&self, spec: &SchemeSpec) -> Result<Rating, ReproduceError> {
        let mut tried: BTreeMap<u32, Tried> = BTreeMap::new();
        let most = self.search.most / self.search.step;
        let mut of = |most, rule, passes: fn(&Tried) -> bool| {
            let result = self.bisect(spec, most, &mut tried, rule, passes);
            result.map(|steps| (steps, steps * self.search.step))
        };
        let (steps, stress) = of(most, Rule::Paper, |t| t.paper.stress)?;
        let (_, performance) = of(steps, Rule::Paper, |t| t.paper.performance)?;
        let (_, sustained) = of(steps, Rule::Paper, Tried::is_sustained)?;
        let (steps, official_stress) = of(most, Rule::Official, |t| t.official.is_some_and(|p| p.stress))?;
        let performs = |t: &Tried| t.official.is_some_and(|p| p.performance);
        let (_, official_performance) = of(steps, Rule::Official, performs)?;
        let tried = tried.into_values().collect();
        let scheme = spec.name.clone();
        Ok(Rating { scheme, performance, stress, sustained, official_performance, official_stress, tried })
    }

    /// The largest number of steps up to `most` that passes, assuming that all below it pass
    /// too.
    fn bisect(
        &self,
        spec: &SchemeSpec,
        most: u32,
        tried: &mut BTreeMap<u32, Tried>,
        rule: Rule,
        passes: fn(&Tried) -> bool,
    ) -> Result<u32, ReproduceError> {
        let mut passed = |steps: u32| -> Result<bool, ReproduceError> {
            let multiplier = steps * self.search.step;
            let known = |t: &&Tried| rule == Rule::Paper || t.official.is_some();
            if tried.get(&multiplier).filter(known).is_none() {
                let new = self.attempt(spec, multiplier, rule)?;
                // A new attempt for the other rule may end early, so the earlier results are
                // kept.
                let kept = tried.entry(multiplier).or_insert_with(|| new.clone());
                (kept.official, kept.lag_ns) = (new.official, new.lag_ns);
            }
            Ok(passes(&tried[&multiplier]))
        };
        if most == 0 || passed(most)? {
            return Ok(most);
        }
        let (mut pass, mut fail) = (0, most);
        while fail - pass > 1 {
            let middle = pass + (fail - pass) / 2;
            if passed(middle)? { pass = middle } else { fail = middle }
        }
        Ok(pass)
    }

    fn attempt(&self, spec: &SchemeSpec, multiplier: u32, rule: Rule) -> Result<Tried, ReproduceError> {
        let run = self.run;
        // A search has a workload and a full size; that was checked when the file was read.
        let text = run.load(self.options.quick).unwrap_or_default();
        let text = text.replace("{multiplier}", &multiplier.to_string());
        let workload = WorkloadSpec::parse(&text, |_| None, &TraceReplay::default()).map_err(|source| {
            ReproduceError::Workload {
                file: self.e.id.clone(),
                run: run.name.clone(),
                source: Box::new(source),
            }
        })?;
        let experiment = tailcut_sim::Experiment {
            schemes: vec![spec.clone()],
            workload: &workload,
            seed: run.seed,
            runs: 1,
            past: None,
            snapshots: self.options.snapshots.clone(),
            threads: 1,
            fine: None,
            one_past: false,
            timeline: None,
        };
        let failed = |source| ReproduceError::Run {
            file: self.e.id.clone(),
            run: run.name.clone(),
            source: Box::new(source),
        };
        let plan = experiment.plan().map_err(failed)?;
        let judged_ns = plan.runtime.map_or(0, |r| r.0).saturating_sub(self.after_ns);
        let (counts, hopeless) = (Arc::new(Mutex::new(Counts::default())), Arc::new(AtomicBool::new(false)));
        let sink = |_: usize, _: &[String]| -> Result<Option<Box<dyn Sink>>, SinkError> {
            Ok(Some(Box::new(Counting {
                rule,
                slice_ns: self.slice_ns,
                after_ns: self.after_ns,
                judged_ns,
                counts: Counts::default(),
                out: Arc::clone(&counts),
                hopeless: Arc::clone(&hopeless),
            })))
        };
        let watch = Until { to: self.follow, hopeless: &hopeless };
        let result = match experiment.run(&plan, &watch, &sink) {
            Ok(results) => results.into_iter().flatten().next().flatten(),
            // A drive that makes no progress passes nothing.
            Err(ExperimentError::Stuck { .. }) => return Ok(Tried::stuck(multiplier)),
            Err(e) => return Err(failed(e)),
        };
        let cut = hopeless.load(Ordering::Relaxed);
        let Some(result) = result.filter(|r| !r.outcome.partial || (cut && !self.follow.stopped())) else {
            return Err(ReproduceError::Interrupted);
        };
        let scheme = summarise(&spec.name, &result);
        let counts = counts.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let geometry = &spec.config.geometry;
        let block = geometry.page * u64::from(geometry.pages);
        let mut tried = judge(multiplier, (cut, rule), &counts);
        tried.used_up_ns = used_up(&scheme, block);
        tried.free_blocks = free_blocks(&scheme, self.after_ns, judged_ns);
        Ok(tried)
    }
}

/// Time at which as much had been programmed as the blocks that were free at the start can
/// hold, ns.
fn used_up(scheme: &Scheme, block_bytes: u64) -> Option<u64> {
    let mut left = scheme.series.first()?.free_blocks? as f64 * block_bytes as f64;
    let bytes = scheme.write.bw_bytes / scheme.write.iops;
    for point in &scheme.series {
        let programs = point.write_iops * bytes * point.waf.unwrap_or(1.0).max(1.0);
        left -= programs * point.length_ns as f64 / 1e9;
        if left <= 0.0 {
            return Some(point.at_ns + point.length_ns);
        }
    }
    None
}

/// Mean number of free blocks in the first and in the last third of the judged time.
fn free_blocks(scheme: &Scheme, after_ns: u64, judged_ns: u64) -> Option<[f64; 2]> {
    let mean = |from: u64| {
        let within = |at: &u64| (from..from + judged_ns / 3).contains(at);
        let points = scheme.series.iter().filter(|p| within(&p.at_ns)).filter_map(|p| p.free_blocks);
        let (sum, n) = points.fold((0, 0), |(sum, n), free| (sum + free, n + 1));
        (n > 0).then(|| sum as f64 / f64::from(n))
    };
    Some([mean(after_ns)?, mean(after_ns + judged_ns / 3 * 2)?])
}

impl Tried {
    /// Whether the stress test is passed without using up free blocks.
    fn is_sustained(&self) -> bool {
        self.paper.stress && self.free_blocks.is_none_or(|[first, last]| last >= first * (1.0 - FALL))
    }

    fn stuck(multiplier: u32) -> Tried {
        Tried {
            multiplier,
            paper: Passed::default(),
            official: Some(Passed::default()),
            above: [1.0; 3],
            means_ns: [f64::MAX; 3],
            lag_ns: u64::MAX,
            free_blocks: None,
            used_up_ns: None,
        }
    }
}

fn judge(multiplier: u32, (cut, rule): (bool, Rule), counts: &Counts) -> Tried {
    let share = |c: &SmallReads| c.above.map(|n| n as f64 / c.all.max(1) as f64);
    let mut all = SmallReads::default();
    for slice in counts.slices.values() {
        all.all += slice.all;
        all.above.iter_mut().zip(slice.above).for_each(|(sum, n)| *sum += n);
    }
    let means_ns = counts.sums.map(|(sum, n)| sum as f64 / n.max(1) as f64);
    let period = 1e9 / (LARGE_RATE * f64::from(multiplier));
    let above = share(&all);
    let keeps_up = means_ns[1..].iter().all(|&mean| mean < period);
    let within = above.iter().zip(LIMITS).all(|(&share, (_, most))| share <= most);
    let paper = Passed { stress: keeps_up, performance: keeps_up && within };
    let in_time = counts.lag_ns <= MAX_LAG_NS;
    let below = |c: &SmallReads| share(c).iter().zip(LIMITS).all(|(&share, (_, most))| share < most);
    let every = counts.slices.values().all(below);
    let official = Passed { stress: in_time, performance: in_time && every };
    let known = !cut || rule == Rule::Official || !in_time;
    let lag_ns = counts.lag_ns;
    let official = known.then_some(official);
    Tried { multiplier, paper, official, above, means_ns, lag_ns, free_blocks: None, used_up_ns: None }
}

/// Counts over the judged requests.
#[derive(Clone, Debug, Default)]
struct Counts {
    /// Small reads by slice.
    slices: BTreeMap<u64, SmallReads>,
    /// Sum of latencies in ns and number, by job.
    sums: [(u128, u64); JOBS],
    /// The longest latency of a large request, ns.
    lag_ns: u64,
}

/// Small reads of one slice.
#[derive(Clone, Copy, Debug, Default)]
struct SmallReads {
    all: u64,
    above: [u64; 3],
}

/// Counts requests by their time of arrival.
struct Counting {
    rule: Rule,
    slice_ns: u64,
    after_ns: u64,
    judged_ns: u64,
    counts: Counts,
    out: Arc<Mutex<Counts>>,
    hopeless: Arc<AtomicBool>,
}

impl Counting {
    /// Counts one request; times in ns.
    fn count(&mut self, job: usize, arrived: u64, latency: u64) {
        let Some(since) = arrived.checked_sub(self.after_ns) else { return };
        let Some((sum, n)) = self.counts.sums.get_mut(job) else { return };
        *sum += u128::from(latency);
        *n += 1;
        if job == 0 {
            let slice = self.counts.slices.entry(since / self.slice_ns).or_default();
            slice.all += 1;
            for (n, (limit, _)) in slice.above.iter_mut().zip(LIMITS) {
                *n += u64::from(latency > limit);
            }
            return;
        }
        self.counts.lag_ns = self.counts.lag_ns.max(latency);
        if self.has_failed() {
            self.hopeless.store(true, Ordering::Relaxed);
        }
    }

    /// Whether the rule has failed for certain. The mean is below the period if the sum of the
    /// latencies is below the period times the number of requests, which is the judged time.
    fn has_failed(&self) -> bool {
        match self.rule {
            Rule::Paper => self.counts.sums[1..].iter().any(|(sum, _)| *sum > u128::from(self.judged_ns)),
            Rule::Official => self.counts.lag_ns > MAX_LAG_NS,
        }
    }
}

impl Sink for Counting {
    fn request(&mut self, sample: &Sample) -> Result<(), SinkError> {
        self.count(usize::from(sample.job), sample.arrived.0, sample.latency_ns());
        Ok(())
    }

    fn interval(&mut self, _: &Interval) -> Result<(), SinkError> {
        Ok(())
    }

    fn finish(self: Box<Self>) -> Result<(), SinkError> {
        *self.out.lock().unwrap_or_else(PoisonError::into_inner) = self.counts;
        Ok(())
    }
}

/// Stops an attempt when the user interrupts it or when it has failed for certain.
struct Until<'a> {
    to: &'a dyn Follow,
    hopeless: &'a AtomicBool,
}

impl Watch for Until<'_> {
    fn stopped(&self) -> bool {
        self.hopeless.load(Ordering::Relaxed) || self.to.stopped()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tailcut_report::summary::SeriesPoint;

    fn counts(above: [u64; 3], means: [u64; 3]) -> Counts {
        Counts {
            slices: [(0, SmallReads { all: 1000, above })].into(),
            sums: means.map(|m| (u128::from(m) * 100, 100)),
            lag_ns: means[1].max(means[2]),
        }
    }

    fn judged(counts: &Counts) -> Tried {
        judge(10, (false, Rule::Paper), counts)
    }

    #[test]
    fn the_papers_rule_is_periods_of_large_requests_and_limits_of_small_ones() {
        // At 10 times the load a large request arrives every 4.17 ms; the mean of small reads
        // does not matter.
        let good = [51_000, 4_000_000, 4_000_000];
        assert_eq!(judged(&counts([50, 10, 1], good)).paper, Passed { stress: true, performance: true });
        for above in [[51, 0, 0], [50, 11, 0], [50, 10, 2]] {
            let t = judged(&counts(above, good)).paper;
            assert_eq!(t, Passed { stress: true, performance: false }, "{above:?}");
        }
        for means in [[49_000, 4_200_000, 4_000_000], [49_000, 4_000_000, 4_200_000]] {
            assert_eq!(judged(&counts([0, 0, 0], means)).paper, Passed::default());
        }
    }

    #[test]
    fn the_tools_rule_looks_at_every_slice_and_at_the_lag() {
        let mut all = counts([40, 0, 0], [0, 9_000_000_000, 0]);
        let official = |c: &Counts| judged(c).official.expect("known");
        assert_eq!(official(&all), Passed { stress: true, performance: true });
        all.slices.insert(1, SmallReads { all: 100, above: [5, 0, 0] });
        assert_eq!(official(&all), Passed { stress: true, performance: false });
        all.lag_ns = MAX_LAG_NS + 1;
        assert_eq!(official(&all), Passed::default());
        let cut = judge(10, (true, Rule::Paper), &counts([0; 3], [0; 3]));
        assert_eq!(cut.official, None, "what was cut short for one rule says nothing of the other");
    }

    #[test]
    fn a_drive_that_lives_on_its_free_blocks_is_not_sustained() {
        let mut t = judged(&counts([0; 3], [0; 3]));
        assert!(t.is_sustained());
        t.free_blocks = Some([1000.0, 961.0]);
        assert!(t.is_sustained());
        t.free_blocks = Some([1000.0, 959.0]);
        assert!(!t.is_sustained());
        let point =
            |at_ns: u64, free: u64| SeriesPoint { at_ns, free_blocks: Some(free), ..SeriesPoint::default() };
        let series = vec![point(5, 9), point(10, 8), point(19, 6), point(25, 1), point(31, 4), point(39, 2)];
        let scheme = Scheme { series, ..Scheme::default() };
        assert_eq!(free_blocks(&scheme, 10, 30), Some([7.0, 3.0]));
    }

    #[test]
    fn an_attempt_is_hopeless_once_the_sum_of_latencies_exceeds_the_time() {
        let (out, hopeless) = (Arc::default(), Arc::new(AtomicBool::new(false)));
        let mut sink = Counting {
            rule: Rule::Paper,
            slice_ns: 1,
            after_ns: 1_000,
            judged_ns: 5_000,
            counts: Counts::default(),
            out,
            hopeless: Arc::clone(&hopeless),
        };
        let mut request = |job, arrived, latency| {
            sink.count(job, arrived, latency);
            hopeless.load(Ordering::Relaxed)
        };
        assert!(!request(1, 999, 1_000_000), "too early to count");
        assert!(!request(0, 1_000, 1_000_000), "small reads count by their limits");
        assert!(!request(2, 1_000, 5_000) && request(2, 2_000, 1));
    }
}
