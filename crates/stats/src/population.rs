//! One latency population: every read, or every write, of one job.

use crate::bucket::LONGEST;
use crate::percentile;
use hdrhistogram::Histogram;

/// Latencies in ns: an HdrHistogram (1 ns to 1 h, 3 significant digits), with exact count, sum, sum
/// of squares, minimum and maximum.
#[derive(Clone, Debug)]
pub struct Population {
    histogram: Histogram<u64>,
    count: u64,
    bytes: u64,
    min: u64,
    max: u64,
    saturated: u64,
    sum: u128,
    sum_of_squares: u128,
}

impl Default for Population {
    fn default() -> Population {
        Population::new()
    }
}

impl Population {
    /// An empty population. Allocates about 270 KiB, and nothing afterwards.
    pub fn new() -> Population {
        Population {
            histogram: Histogram::new_with_bounds(1, LONGEST, 3).expect("constant bounds are valid"),
            count: 0,
            bytes: 0,
            min: u64::MAX,
            max: 0,
            saturated: 0,
            sum: 0,
            sum_of_squares: 0,
        }
    }

    /// An empty population that allocates as its latencies need it: 16 KiB for those up to 2 us, and 8 KiB for each
    /// doubling. It allocates again whenever a latency is longer than those before.
    pub fn growing() -> Population {
        let histogram = Histogram::new(3).expect("three digits are allowed");
        Population { histogram, ..Population::new() }
    }

    /// Add one request of `bytes` bytes that took `ns`. Above one hour the histogram saturates, and
    /// such requests are counted; the exact figures do not saturate.
    #[inline]
    pub fn record(&mut self, ns: u64, bytes: u32) {
        self.count += 1;
        self.bytes += u64::from(bytes);
        self.sum += u128::from(ns);
        self.sum_of_squares += u128::from(ns) * u128::from(ns);
        self.min = self.min.min(ns);
        self.max = self.max.max(ns);
        self.saturated += u64::from(ns > LONGEST);
        self.histogram.record(ns.min(LONGEST)).expect("the bounds hold this latency, or grow");
    }

    /// Add another population. The result is the same as if all requests had been recorded in one.
    pub fn merge(&mut self, other: &Population) {
        self.histogram.add(&other.histogram).expect("all populations have the same bounds");
        self.count += other.count;
        self.bytes += other.bytes;
        self.sum += other.sum;
        self.sum_of_squares += other.sum_of_squares;
        self.min = self.min.min(other.min);
        self.max = self.max.max(other.max);
        self.saturated += other.saturated;
    }

    /// Number of requests.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Bytes of all requests.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Number of requests that took longer than the histogram's limit of one hour.
    pub fn saturated(&self) -> u64 {
        self.saturated
    }

    /// The shortest latency in ns, exact; 0 when empty.
    pub fn min(&self) -> u64 {
        if self.count == 0 { 0 } else { self.min }
    }

    /// The longest latency in ns, exact; 0 when empty.
    pub fn max(&self) -> u64 {
        self.max
    }

    /// The sum of all latencies in ns, exact.
    pub fn sum(&self) -> u128 {
        self.sum
    }

    /// The mean in ns from the exact sum; 0 when empty.
    pub fn mean(&self) -> f64 {
        if self.count == 0 {
            return 0.0;
        }
        let n = u128::from(self.count);
        // Whole part and remainder are divided separately, so that a sum above 2^53 keeps its
        // fraction.
        (self.sum / n) as f64 + (self.sum % n) as f64 / n as f64
    }

    /// The sample standard deviation (divisor `n - 1`, as fio's) in ns from exact sums;
    /// 0 for fewer than two samples.
    pub fn stddev(&self) -> f64 {
        if self.count < 2 {
            return 0.0;
        }
        // Sum of (v - mean)^2 = S2 - S^2 / n. With S = m n + r that is the integer
        // S2 - m S - m r, minus r^2 / n: no cancellation between large floats.
        let n = u128::from(self.count);
        let (m, r) = (self.sum / n, self.sum % n);
        let (q, rest) = (r * r / n, r * r % n);
        let whole = self.sum_of_squares - m * self.sum - m * r - q;
        let squares = whole as f64 - rest as f64 / n as f64;
        libm::sqrt(squares.max(0.0) / (n - 1) as f64)
    }

    /// The latency in ns at percentile `percent`, within 3 significant digits and never
    /// outside the exact minimum and maximum; 0 when empty.
    pub fn percentile(&self, percent: f64) -> u64 {
        self.at_rank(percentile::rank(percent, self.count))
    }

    /// The latency in ns of the sample with this 1-based rank (clamped to `1..=count`).
    pub fn at_rank(&self, rank: u64) -> u64 {
        if self.count == 0 {
            return 0;
        }
        let rank = rank.clamp(1, self.count);
        if rank == self.count {
            return self.max;
        }
        // Half a rank lower, so that the histogram, which rounds up, returns the rank itself.
        let quantile = (rank as f64 - 0.5) / self.count as f64;
        self.histogram.value_at_quantile(quantile).clamp(self.min, self.max)
    }

    /// Whether fewer than ten samples lie beyond percentile `percent`.
    pub fn is_thin(&self, percent: f64) -> bool {
        percentile::is_thin(percent, self.count)
    }

    /// The histogram, for export.
    pub fn histogram(&self) -> &Histogram<u64> {
        &self.histogram
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn of(values: &[u64]) -> Population {
        let mut p = Population::new();
        for &v in values {
            p.record(v, 4096);
        }
        p
    }

    #[test]
    fn stddev_is_exact_where_floats_cancel() {
        // Large values with a spread of one: naive sums of squares in doubles give nonsense.
        let base = 3_000_000_000_000;
        let p = of(&[base, base + 1, base + 2]);
        assert_eq!((p.mean(), p.stddev()), (base as f64 + 1.0, 1.0));
        assert_eq!(of(&[1, 2]).stddev(), 0.5f64.sqrt());
        assert_eq!(of(&[7]).stddev(), 0.0);
        assert_eq!(of(&[7; 1000]).stddev(), 0.0);
    }

    #[test]
    fn an_hour_and_more_saturates_and_is_counted() {
        let p = of(&[5, LONGEST, LONGEST * 3]);
        assert_eq!((p.saturated(), p.max(), p.count()), (1, LONGEST * 3, 3));
        let third = p.percentile(60.0) as f64;
        assert!((third / LONGEST as f64 - 1.0).abs() < 1e-3);
    }

    #[test]
    fn an_empty_population_is_all_zeros() {
        let p = Population::new();
        assert_eq!((p.min(), p.max(), p.mean(), p.stddev(), p.percentile(99.0)), (0, 0, 0.0, 0.0, 0));
    }

    proptest! {
        #[test]
        fn percentiles_are_those_of_the_sorted_samples(
            mut values in prop::collection::vec(0u64..50_000_000, 1..400),
        ) {
            let p = of(&values);
            values.sort_unstable();
            for percent in percentile::LEVELS {
                let exact = values[percentile::rank(percent, values.len() as u64) as usize - 1];
                let got = p.percentile(percent);
                prop_assert!(got >= exact && got as f64 <= exact as f64 * 1.001 + 1.0, "{percent}: {got} for {exact}");
            }
            prop_assert_eq!(p.min(), values[0]);
        }

        #[test]
        fn merging_is_recording_together(
            a in prop::collection::vec(0u64..u64::from(u32::MAX), 0..100),
            b in prop::collection::vec(0u64..LONGEST * 2, 0..100),
        ) {
            let mut merged = of(&a);
            merged.merge(&of(&b));
            let both = of(&[a, b].concat());
            prop_assert_eq!(merged.histogram(), both.histogram());
            prop_assert_eq!((merged.count(), merged.sum(), merged.min(), merged.max()),
                (both.count(), both.sum(), both.min(), both.max()));
            prop_assert_eq!(merged.stddev(), both.stddev());
            prop_assert_eq!((merged.bytes(), merged.saturated()), (both.bytes(), both.saturated()));
        }
    }
}
