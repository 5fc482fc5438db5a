//! The ratings of Aerospike's certification tool (ACT): the largest multiplier of its
//! load that a drive stands.
//!
//! Two rules. The paper's (Kim et al., section 3.3), over all small reads of the run:
//! 95 % within 1 ms, 99 % within 8 ms, 99.9 % within 64 ms, and the mean latency of each
//! request type below its period; the last alone is the stress test. The tool's own: in
//! every slice (an hour of the tool's; here the search's `slice` of virtual time) fewer
//! than 5 % of small reads above 1 ms, 1 % above 8 ms, 0.1 % above 64 ms, and no large
//! request more than ten seconds late, which alone is the stress test.
//!
//! A run ends when all its requests have: what a drive would leave waiting for ever waits
//! for the end of the load here, and counts with that latency.
//!
//! The search halves the interval, so it takes for granted that a load heavier than one
//! that fails fails too.

use crate::error::ReproduceError;
use crate::execute::{Options, scheme_spec};
use crate::file::{Experiment, Search};
use crate::follow::{Follow, Quiet};
use serde::Serialize;
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use tailcut_sim::measure::SinkError;
use tailcut_sim::{ExperimentError, SchemeSpec, Sink, summarise};
use tailcut_stats::{Interval, Sample};
use tailcut_units::quantity::parse_time;
use tailcut_workload::{TraceReplay, WorkloadSpec};

/// What a scheme stands.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Rating {
    /// The scheme.
    pub scheme: String,
    /// The largest multiplier that passes the performance test; 0 if none does.
    pub performance: u32,
    /// The largest multiplier that passes the stress test; 0 if none does.
    pub stress: u32,
    /// Every multiplier tried, with what it came to.
    pub tried: Vec<Tried>,
}

/// One multiplier.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Tried {
    /// The multiplier.
    pub multiplier: u32,
    /// Whether the performance test is passed.
    pub performance: bool,
    /// Whether the stress test is passed.
    pub stress: bool,
    /// Shares of small reads above 1, 8 and 64 ms: of the worst slice.
    pub above: [f64; 3],
    /// Mean latency of small reads, large reads and large writes in ns.
    pub means_ns: [f64; 3],
}

/// The tool's limits: latency in ns and share allowed above it.
const LIMITS: [(u64, f64); 3] = [(1_000_000, 0.05), (8_000_000, 0.01), (64_000_000, 0.001)];

/// Small reads and large requests a second at multiplier 1.
const RATES: [f64; 3] = [2000.0, 24.0, 24.0];

/// The tool aborts when large requests lag by more.
const MAX_LAG_NS: u64 = 10_000_000_000;

/// Search every scheme; `Err` inside says why there is nothing to show.
pub(crate) fn run(
    e: &Experiment,
    s: &Search,
    options: &Options,
    first: usize,
    follow: &dyn Follow,
) -> Result<Result<Vec<Rating>, String>, ReproduceError> {
    if options.quick && s.quick.is_none() {
        (0..s.schemes.len()).for_each(|i| follow.done(first + i));
        return Ok(Err("this search has no quick size".to_string()));
    }
    let slice_ns = parse_time(&s.slice).map(|t| t.0).ok().filter(|&ns| ns > 0).ok_or_else(|| {
        let message = format!("search `{}`: slice: `{}` is no length of time", s.name, s.slice);
        ReproduceError::File { file: e.id.clone(), message }
    })?;
    let specs: Result<Vec<SchemeSpec>, _> =
        s.schemes.iter().map(|n| scheme_spec(&e.id, &s.name, &s.device, (n, n), &[])).collect();
    let specs = specs?;
    let searcher = Searcher { e, s, options, slice_ns, follow };
    // The first load ages the drive for all of them.
    searcher.attempt(&specs[0], 1)?;
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
    std::thread::scope(|scope| {
        for _ in 1..options.threads.min(specs.len()) {
            scope.spawn(work);
        }
        work();
    });
    let slots = slots.into_inner().unwrap_or_else(PoisonError::into_inner);
    let ratings: Result<Vec<Rating>, _> = slots.into_iter().map(|r| r.expect("all searched")).collect();
    ratings.map(Ok)
}

struct Searcher<'a> {
    e: &'a Experiment,
    s: &'a Search,
    options: &'a Options,
    slice_ns: u64,
    follow: &'a dyn Follow,
}

impl Searcher<'_> {
    fn rate(&self, spec: &SchemeSpec) -> Result<Rating, ReproduceError> {
        let mut tried: BTreeMap<u32, Tried> = BTreeMap::new();
        let stress = self.bisect(spec, self.s.most, &mut tried, |t| t.stress)?;
        let performance = self.bisect(spec, stress, &mut tried, |t| t.performance)?;
        let tried = tried.into_values().collect();
        Ok(Rating { scheme: spec.name.clone(), performance, stress, tried })
    }

    /// The largest multiplier up to `most` that passes, if all below it pass too.
    fn bisect(
        &self,
        spec: &SchemeSpec,
        most: u32,
        tried: &mut BTreeMap<u32, Tried>,
        passes: impl Fn(&Tried) -> bool,
    ) -> Result<u32, ReproduceError> {
        let (mut pass, mut fail) = (0, most + 1);
        while fail - pass > 1 {
            let middle = pass + (fail - pass) / 2;
            if let Entry::Vacant(place) = tried.entry(middle) {
                place.insert(self.attempt(spec, middle)?);
            }
            if passes(&tried[&middle]) { pass = middle } else { fail = middle }
        }
        Ok(pass)
    }

    fn attempt(&self, spec: &SchemeSpec, multiplier: u32) -> Result<Tried, ReproduceError> {
        let s = self.s;
        let size = if self.options.quick { s.quick.as_deref().unwrap_or(&s.full) } else { &s.full };
        let text = s.workload.replace("{multiplier}", &multiplier.to_string()).replace("{size}", size);
        let workload = WorkloadSpec::parse(&text, |_| None, &TraceReplay::default()).map_err(|source| {
            ReproduceError::Workload {
                file: self.e.id.clone(),
                run: s.name.clone(),
                source: Box::new(source),
            }
        })?;
        let experiment = tailcut_sim::Experiment {
            schemes: vec![spec.clone()],
            workload: &workload,
            seed: s.seed,
            runs: 1,
            past: None,
            snapshots: self.options.snapshots.clone(),
            threads: 1,
            fine: None,
            timeline: None,
        };
        let failed = |source| ReproduceError::Run {
            file: self.e.id.clone(),
            run: s.name.clone(),
            source: Box::new(source),
        };
        let plan = experiment.plan().map_err(failed)?;
        let counts = Arc::new(Mutex::new(BTreeMap::new()));
        let sink = |_: usize, _: &[String]| -> Result<Option<Box<dyn Sink>>, SinkError> {
            let slice_ns = if self.options.official { self.slice_ns } else { u64::MAX };
            Ok(Some(Box::new(Counting { slice_ns, slices: BTreeMap::new(), out: Arc::clone(&counts) })))
        };
        let result = match experiment.run(&plan, &Quiet(self.follow), &sink) {
            Ok(results) => results.into_iter().flatten().next().flatten(),
            // A drive that gets nowhere stands nothing.
            Err(ExperimentError::Stuck { .. }) => return Ok(Tried::failed(multiplier)),
            Err(e) => return Err(failed(e)),
        };
        let Some(result) = result.filter(|r| !r.outcome.partial) else {
            return Err(ReproduceError::Interrupted);
        };
        let scheme = summarise(&spec.name, &result);
        let slices = counts.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let official = self.options.official;
        Ok(judge(multiplier, official, &slices, &scheme))
    }
}

impl Tried {
    fn failed(multiplier: u32) -> Tried {
        Tried { multiplier, performance: false, stress: false, above: [1.0; 3], means_ns: [f64::MAX; 3] }
    }
}

fn judge(
    multiplier: u32,
    official: bool,
    slices: &BTreeMap<u64, Counts>,
    scheme: &tailcut_report::summary::Scheme,
) -> Tried {
    let mut above = [0.0f64; 3];
    for slice in slices.values() {
        for (worst, n) in above.iter_mut().zip(slice.above) {
            *worst = worst.max(n as f64 / slice.all.max(1) as f64);
        }
    }
    let mut means_ns = [0.0; 3];
    let mut lag = 0;
    for (i, (mean, job)) in means_ns.iter_mut().zip(&scheme.jobs).enumerate() {
        let side = if job.write.total_ios > 0 { &job.write } else { &job.read };
        *mean = side.lat_ns.mean;
        if i > 0 {
            lag = lag.max(side.lat_ns.max);
        }
    }
    let period = |rate: f64| 1e9 / (rate * f64::from(multiplier));
    let stress = match official {
        true => lag <= MAX_LAG_NS,
        false => means_ns.iter().zip(RATES).all(|(&mean, rate)| mean < period(rate)),
    };
    let within = above.iter().zip(LIMITS).all(|(&share, (_, most))| match official {
        true => share < most,
        false => share <= most,
    });
    Tried { multiplier, performance: stress && within, stress, above, means_ns }
}

/// Small reads of one slice.
#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    all: u64,
    above: [u64; 3],
}

/// Counts small reads (the first job) by slice of their arrival.
struct Counting {
    slice_ns: u64,
    slices: BTreeMap<u64, Counts>,
    out: Arc<Mutex<BTreeMap<u64, Counts>>>,
}

impl Sink for Counting {
    fn request(&mut self, sample: &Sample) -> Result<(), SinkError> {
        if sample.job != 0 {
            return Ok(());
        }
        let slice = self.slices.entry(sample.arrived.0 / self.slice_ns).or_default();
        let latency = sample.completed.0 - sample.arrived.0;
        slice.all += 1;
        for (n, (limit, _)) in slice.above.iter_mut().zip(LIMITS) {
            *n += u64::from(latency > limit);
        }
        Ok(())
    }

    fn interval(&mut self, _: &Interval) -> Result<(), SinkError> {
        Ok(())
    }

    fn finish(self: Box<Self>) -> Result<(), SinkError> {
        *self.out.lock().unwrap_or_else(PoisonError::into_inner) = self.slices;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tailcut_report::summary::{JobSummary, Scheme};

    fn scheme(means: [f64; 3]) -> Scheme {
        let job = |i: usize| {
            let mut job = JobSummary {
                name: String::new(),
                runtime_ns: None,
                read: Default::default(),
                write: Default::default(),
            };
            let side = if i == 2 { &mut job.write } else { &mut job.read };
            side.total_ios = 100;
            side.lat_ns.mean = means[i];
            job
        };
        Scheme { jobs: (0..3).map(job).collect(), ..Scheme::default() }
    }

    fn slices(above: [u64; 3]) -> BTreeMap<u64, Counts> {
        [(0, Counts { all: 1000, above })].into()
    }

    #[test]
    fn the_papers_rule_has_four_parts() {
        // At 10 times: periods of 50 us and 4.17 ms.
        let good = [49_000.0, 4e6, 4e6];
        let ok = |above, means| judge(10, false, &slices(above), &scheme(means));
        let passed = ok([50, 10, 1], good);
        assert!(passed.performance && passed.stress);
        for above in [[51, 0, 0], [50, 11, 0], [50, 10, 2]] {
            let t = ok(above, good);
            assert!(!t.performance && t.stress, "{t:?}");
        }
        for means in [[50_001.0, 4e6, 4e6], [49_000.0, 4.2e6, 4e6], [49_000.0, 4e6, 4.2e6]] {
            let t = ok([0, 0, 0], means);
            assert!(!t.performance && !t.stress, "{t:?}");
        }
    }

    #[test]
    fn the_tools_rule_looks_at_every_slice() {
        let mut all = slices([40, 0, 0]);
        assert!(judge(10, true, &all, &scheme([1e9, 1e9, 1e9])).performance, "means do not matter");
        all.insert(1, Counts { all: 100, above: [5, 0, 0] });
        assert!(!judge(10, true, &all, &scheme([0.0; 3])).performance);
    }
}
