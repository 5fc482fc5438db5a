//! Distributions of latencies as curves.

use hdrhistogram::Histogram;
use tailcut_stats::Population;

/// A complementary distribution: by latency, the share of the requests that took at least so long.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Curve {
    /// Latency in ns and share, from the shortest latency with share 1 to the longest.
    pub points: Vec<(u64, f64)>,
}

/// Neighbours differ by at least this factor in latency or in share.
const LATENCY_STEP: f64 = 1.015;
const SHARE_STEP: f64 = 0.96;

impl Curve {
    /// The curve of a histogram of latencies in ns; empty without requests. Points that cannot be distinguished are
    /// left out, so that a curve of seven decades has at most some thousand.
    pub fn new(histogram: &Histogram<u64>) -> Curve {
        let total: u128 = histogram.iter_recorded().map(|bucket| u128::from(bucket.count_at_value())).sum();
        let mut left = total;
        let mut points: Vec<(u64, f64)> = Vec::new();
        let mut last = None;
        for bucket in histogram.iter_recorded() {
            let ns = histogram.lowest_equivalent(bucket.value_iterated_to()).max(1);
            let point = (ns, left as f64 / total as f64);
            left -= u128::from(bucket.count_at_value());
            let near = points.last().is_some_and(|&(at, share)| {
                (ns as f64) < at as f64 * LATENCY_STEP && point.1 > share * SHARE_STEP
            });
            last = near.then_some(point);
            if !near {
                points.push(point);
            }
        }
        points.extend(last);
        Curve { points }
    }

    /// The curve of a measured population.
    pub fn of(population: &Population) -> Curve {
        Curve::new(population.histogram())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_curve_gives_the_share_at_least_as_long() {
        let mut histogram = Histogram::<u64>::new(3).unwrap();
        assert_eq!(Curve::new(&histogram), Curve::default());
        histogram.record_n(100, 90).unwrap();
        histogram.record_n(1_000, 9).unwrap();
        histogram.record_n(50_000, 1).unwrap();
        let points = Curve::new(&histogram).points;
        let lowest = histogram.lowest_equivalent(50_000);
        assert_eq!(points, [(100, 1.0), (1_000, 0.1), (lowest, 0.01)]);
    }

    #[test]
    fn a_long_curve_keeps_its_ends_and_few_points() {
        let mut histogram = Histogram::<u64>::new(3).unwrap();
        for i in 1..400_000u64 {
            histogram.record(10_000 + i * i / 100).unwrap();
        }
        let points = Curve::new(&histogram).points;
        assert!(points.len() < 1_300, "{}", points.len());
        assert_eq!(points[0].1, 1.0);
        assert!(points.windows(2).all(|w| w[0].0 < w[1].0 && w[0].1 > w[1].1));
        let last = histogram.lowest_equivalent(histogram.max());
        assert_eq!(points.last().unwrap().0, last);
    }
}
