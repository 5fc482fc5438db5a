//! Batch means: confidence intervals for latencies that are correlated.
//!
//! One slow collection delays many requests, so neighbouring latencies are correlated, and
//! intervals that assume independent samples are too narrow. A run is therefore cut into twenty
//! consecutive batches. They are much longer than the correlation, so that their means are nearly
//! independent.
//!
//! The length of a run is not known beforehand. So up to forty batches are kept; when all are full,
//! neighbours are merged and batches become twice as long.

use crate::bucket;
use crate::confidence::{Ci95, t95};
use crate::percentile;
use crate::population::Population;

const BITS: u32 = 8;
const BUCKETS: usize = bucket::count::<BITS>();
const KEPT: usize = 40;

/// The number of batches that an interval is computed from.
pub const BATCHES: usize = 20;

/// Requests in a batch at first. With fewer than twenty full batches there is no interval.
const FIRST_SIZE: u64 = 16;

/// The batches of one direction.
#[derive(Clone, Debug)]
pub struct Batches {
    size: u64,
    current: usize,
    in_current: u64,
    /// When the last request completed, ns from the start of measurement.
    last: u64,
    sums: [u64; KEPT],
    /// The same of each full batch.
    ends: [u64; KEPT],
    counts: Vec<u32>,
}

impl Default for Batches {
    fn default() -> Batches {
        Batches::new()
    }
}

impl Batches {
    /// An empty set of batches. Allocates about 1.4 MiB (touched as it is used), and nothing
    /// afterwards.
    pub fn new() -> Batches {
        Batches {
            size: FIRST_SIZE,
            current: 0,
            in_current: 0,
            last: 0,
            sums: [0; KEPT],
            ends: [0; KEPT],
            counts: vec![0; KEPT * BUCKETS],
        }
    }

    /// Add the next latency, ns, of a request that completed `at` ns after the start of measurement.
    #[inline]
    pub fn record(&mut self, ns: u64, at: u64) {
        let bucket = bucket::index::<BITS>(ns.min(bucket::LONGEST));
        self.counts[self.current * BUCKETS + bucket] += 1;
        self.sums[self.current] += ns;
        self.last = at;
        self.in_current += 1;
        if self.in_current == self.size {
            self.close();
        }
    }

    #[inline(never)]
    fn close(&mut self) {
        self.ends[self.current] = self.last;
        self.current += 1;
        self.in_current = 0;
        if self.current < KEPT {
            return;
        }
        for to in 0..KEPT / 2 {
            self.sums[to] = self.sums[2 * to] + self.sums[2 * to + 1];
            self.ends[to] = self.ends[2 * to + 1];
            for bucket in 0..BUCKETS {
                let (a, b) = (2 * to * BUCKETS + bucket, (2 * to + 1) * BUCKETS + bucket);
                self.counts[to * BUCKETS + bucket] = self.counts[a] + self.counts[b];
            }
        }
        self.sums[KEPT / 2..].fill(0);
        self.counts[KEPT / 2 * BUCKETS..].fill(0);
        self.size *= 2;
        self.current = KEPT / 2;
    }

    /// The twenty batches from which intervals are computed. `None` for fewer than 320 requests.
    pub fn group(&self) -> Option<Groups> {
        if self.current < BATCHES {
            return None;
        }
        let mut groups = Groups {
            requests: [0; BATCHES],
            sums: [0; BATCHES],
            ends: [0; BATCHES],
            beyond: vec![[0; BATCHES]; BUCKETS + 1],
        };
        // A batch that is not yet full is added to the last full one.
        let slots = self.current + usize::from(self.in_current > 0);
        for slot in 0..slots {
            let group = slot.min(self.current - 1) * BATCHES / self.current;
            let full = slot < self.current;
            groups.requests[group] += if full { self.size } else { self.in_current };
            groups.sums[group] += u128::from(self.sums[slot]);
            groups.ends[group] = if full { self.ends[slot] } else { self.last };
            let counts = &self.counts[slot * BUCKETS..(slot + 1) * BUCKETS];
            for (beyond, &count) in groups.beyond.iter_mut().zip(counts) {
                beyond[group] += u64::from(count);
            }
        }
        for bucket in (0..BUCKETS).rev() {
            let next = groups.beyond[bucket + 1];
            for (beyond, more) in groups.beyond[bucket].iter_mut().zip(next) {
                *beyond += more;
            }
        }
        Some(groups)
    }
}

/// Twenty consecutive batches of nearly equal length.
pub struct Groups {
    requests: [u64; BATCHES],
    sums: [u128; BATCHES],
    /// When the last request of each completed, ns from the start of measurement.
    ends: [u64; BATCHES],
    /// By bucket, then by batch: requests in that bucket or above.
    beyond: Vec<[u64; BATCHES]>,
}

impl Groups {
    /// The 95 % interval of the mean, in ns.
    pub fn mean(&self) -> Ci95 {
        let (mean, half) = self.weighted(&self.means());
        Ci95 { mean, low: mean - half, high: mean + half }
    }

    fn means(&self) -> [f64; BATCHES] {
        std::array::from_fn(|i| self.sums[i] as f64 / self.requests[i] as f64)
    }

    /// The shifts of the mean: see [`difference`](crate::difference). Zero if the mean is.
    pub fn mean_shifts(&self) -> [f64; BATCHES] {
        let means = self.means();
        let (mean, _) = self.weighted(&means);
        let scale = if mean > 0.0 { 1.0 / mean } else { 0.0 };
        self.shifts(&means, mean, scale)
    }

    /// The shifts of the rate: see [`difference`](crate::difference). `None` if a batch took no time.
    pub fn rate_shifts(&self) -> Option<[f64; BATCHES]> {
        // The rate is the inverse of the mean time from one completion to the next.
        let mut before = 0;
        let mut gaps = [0.0; BATCHES];
        for (gap, (&end, &n)) in gaps.iter_mut().zip(self.ends.iter().zip(&self.requests)) {
            *gap = end.saturating_sub(before) as f64 / n as f64;
            before = end;
        }
        let (mean, _) = self.weighted(&gaps);
        gaps.iter().all(|&gap| gap > 0.0).then(|| self.shifts(&gaps, mean, -1.0 / mean))
    }

    /// The 95 % interval of percentile `percent` of `all` (the same requests), in ns.
    ///
    /// The value of each batch is the share of its requests that lie beyond the percentile. The
    /// average of these shares is known to be `1 - p`. Their spread gives an interval for `p`, and
    /// the distribution of all requests turns this interval into latencies. So no batch needs to be
    /// long enough to hold the percentile itself. If the upper end equals the maximum, the run is
    /// too short to bound it.
    pub fn percentile(&self, percent: f64, all: &Population) -> (u64, u64) {
        let (low, high) = self.rank_interval(percent, self.weighted(&self.beyond(percent)).1);
        (all.at_rank(low), all.at_rank(high))
    }

    /// The shifts of percentile `percent` of `all` (the same requests): see [`difference`](crate::difference). The
    /// slope of the distribution is that between the ends of the percentile's interval. `None` if the run is too short
    /// to bound the percentile, or if a latency is 0.
    pub fn percentile_shifts(&self, percent: f64, all: &Population) -> Option<[f64; BATCHES]> {
        let beyond = self.beyond(percent);
        let (mean, half) = self.weighted(&beyond);
        let n: u64 = self.requests.iter().sum();
        if percentile::beyond(percent, n) == 0 {
            return None;
        }
        if half == 0.0 {
            return Some([0.0; BATCHES]);
        }
        let (low, high) = self.rank_interval(percent, half);
        let (from, to) = (all.at_rank(low), all.at_rank(high));
        let bounded = low > 1 && high < n && from > 0;
        bounded.then(|| self.shifts(&beyond, mean, libm::log(to as f64 / from as f64) / (2.0 * half)))
    }

    /// By batch: the share of its requests beyond percentile `percent` of all.
    fn beyond(&self, percent: f64) -> [f64; BATCHES] {
        let n: u64 = self.requests.iter().sum();
        let over = percentile::beyond(percent, n);
        let total = |bucket: usize| self.beyond[bucket].iter().sum::<u64>();
        // The bucket that holds the percentile: the last one for which more than `over` requests
        // are in it or above.
        let bucket = self.beyond.partition_point(|b| b.iter().sum::<u64>() > over) - 1;
        let (from, after) = (total(bucket), total(bucket + 1));
        let share = (over - after) as f64 / (from - after) as f64;
        std::array::from_fn(|i| {
            let above = self.beyond[bucket + 1][i] as f64;
            let inside = self.beyond[bucket][i] as f64 - above;
            (above + share * inside) / self.requests[i] as f64
        })
    }

    /// The ranks at the ends of an interval that is `half` of all requests wide on both sides of a percentile.
    fn rank_interval(&self, percent: f64, half: f64) -> (u64, u64) {
        let n: u64 = self.requests.iter().sum();
        let (rank, ranks) = (percentile::rank(percent, n) as f64, half * n as f64);
        ((rank - ranks).floor().max(1.0) as u64, (rank + ranks).ceil().min(n as f64) as u64)
    }

    /// How much each batch moves a figure whose logarithm changes by `scale` for each unit of the mean of `values`.
    fn shifts(&self, values: &[f64; BATCHES], mean: f64, scale: f64) -> [f64; BATCHES] {
        let n = self.requests.iter().sum::<u64>() as f64;
        let weight = |i: usize| BATCHES as f64 * self.requests[i] as f64 / n;
        std::array::from_fn(|i| weight(i) * (values[i] - mean) * scale)
    }

    /// The mean of batch values weighted by length, and half its 95 % interval.
    fn weighted(&self, values: &[f64; BATCHES]) -> (f64, f64) {
        let n = self.requests.iter().sum::<u64>() as f64;
        let weights = self.requests.map(|r| r as f64 / n);
        let mean: f64 = values.iter().zip(weights).map(|(v, w)| v * w).sum();
        let spread: f64 = values.iter().zip(weights).map(|(v, w)| (w * (v - mean)) * (w * (v - mean))).sum();
        let k = BATCHES as f64;
        (mean, t95(BATCHES - 1) * libm::sqrt(spread * k / (k - 1.0)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::difference::{Shifted, change};
    use tailcut_units::Stream;

    /// Draws `n` exponential latencies with a mean of 100 us. With `memory`, each value is repeated
    /// a random number of times, so that neighbours are correlated.
    fn run(seed: u64, n: usize, memory: u64) -> (Groups, Population) {
        let mut s = Stream::new(seed, "batch test", 0);
        let (mut batches, mut all) = (Batches::new(), Population::new());
        let (mut ns, mut at) = (0, 0);
        for _ in 0..n {
            if memory == 0 || s.below(memory) == 0 || ns == 0 {
                ns = (-100_000.0 * libm::log(1.0 - s.unit())) as u64 + 1;
            }
            at += ns;
            batches.record(ns, at);
            all.record(ns, 4096);
        }
        (batches.group().unwrap(), all)
    }

    fn coverage(percent: f64, n: usize, memory: u64) -> u32 {
        let exact = -100_000.0 * libm::log(1.0 - percent / 100.0);
        (0..400)
            .filter(|&seed| {
                let (groups, all) = run(seed, n, memory);
                let (low, high) = groups.percentile(percent, &all);
                (low as f64 * 0.999..=high as f64 * 1.001).contains(&exact)
            })
            .count() as u32
    }

    // 400 intervals that each hold with 0.95: 380 on average, sd 4.4.
    #[test]
    fn intervals_of_percentiles_cover() {
        for (percent, n, memory) in [(50.0, 5_000, 0), (99.0, 7_000, 0), (90.0, 20_000, 20)] {
            let held = coverage(percent, n, memory);
            assert!((362..=396).contains(&held), "p{percent} of {n}: {held} of 400");
        }
    }

    #[test]
    fn the_interval_of_the_mean_covers() {
        let held = (0..400)
            .filter(|&seed| {
                let ci = run(seed, 4_000, 0).0.mean();
                (ci.low..=ci.high).contains(&100_000.0)
            })
            .count();
        assert!((362..=396).contains(&held), "{held} of 400");
    }

    // 400 intervals of the difference of two runs that differ in nothing.
    #[test]
    fn shifts_tell_that_nothing_differs_at_their_level() {
        let held = |shifts: &dyn Fn(&Groups, &Population) -> [f64; BATCHES],
                    value: &dyn Fn(&Population) -> f64| {
            let none = |seed: &u64| {
                let ((a, all_a), (b, all_b)) = (run(2 * seed, 7_000, 0), run(2 * seed + 1, 7_000, 0));
                let (of_a, of_b) = (shifts(&a, &all_a), shifts(&b, &all_b));
                assert!(of_a.iter().sum::<f64>().abs() < 1e-9);
                let side = |value, shifts| Shifted { value, shifts };
                let c = change(side(value(&all_a), &of_a), side(value(&all_b), &of_b), false, 0.0).unwrap();
                c.low <= 0.0 && 0.0 <= c.high
            };
            (0..400).filter(none).count()
        };
        let level = |p: f64| move |g: &Groups, all: &Population| g.percentile_shifts(p, all).unwrap();
        for p in [50.0, 90.0, 99.0] {
            let held = held(&level(p), &|all| all.percentile(p) as f64);
            assert!((362..=396).contains(&held), "p{p}: {held} of 400");
        }
        let mean = held(&|g, _| g.mean_shifts(), &|all| all.mean());
        // The requests follow one another, so that their rate is the inverse of their mean.
        let rate = held(&|g, _| g.rate_shifts().unwrap(), &|all| 1.0 / all.mean());
        assert!((362..=396).contains(&mean) && mean.abs_diff(rate) < 3, "{mean} and {rate} of 400");
    }

    #[test]
    fn a_percentile_that_the_run_does_not_bound_has_no_shifts() {
        let (groups, all) = run(1, 5_000, 0);
        assert!(groups.percentile_shifts(99.95, &all).is_none());
        // No request is beyond it.
        assert!(groups.percentile_shifts(99.9999, &all).is_none());
        assert!(groups.percentile_shifts(99.0, &all).is_some());
    }

    #[test]
    fn no_request_is_lost_by_merging() {
        for n in [320, 321, 639, 640, 641, 1_000, 100_003] {
            let (groups, all) = run(1, n, 0);
            assert_eq!(groups.requests.iter().sum::<u64>(), n as u64);
            assert_eq!(groups.beyond[0], groups.requests);
            assert_eq!(groups.sums.iter().sum::<u128>(), all.sum());
            let longest = groups.requests.iter().max().unwrap();
            assert!(*longest <= 3 * groups.requests.iter().min().unwrap(), "{:?}", groups.requests);
        }
    }

    #[test]
    fn a_constant_latency_is_certain_and_a_short_run_says_nothing() {
        let (mut batches, mut all) = (Batches::new(), Population::new());
        for _ in 0..319 {
            batches.record(5_000, 1);
        }
        assert!(batches.group().is_none());
        for _ in 0..1_000 {
            batches.record(5_000, 1);
            all.record(5_000, 1);
        }
        assert_eq!(batches.group().unwrap().percentile(99.0, &all), (5_000, 5_000));
    }
}
