//! Measures how unevenly requests arrive.

/// Arrivals are counted per interval of this length, ns.
const INTERVAL_NS: u64 = 100_000_000;

/// Running sums over arrival times, which must never decrease.
#[derive(Default)]
pub(super) struct Bursts {
    requests: u64,
    first: u64,
    last: u64,
    gap_mean: f64,
    gap_squares: f64,
    interval: u64,
    in_interval: u64,
    peak: u64,
    squares: f64,
}

/// The measures; each is absent if the trace is too short for it.
pub(super) struct Burstiness {
    pub gap_cv: Option<f64>,
    pub peak_to_mean: Option<f64>,
    pub dispersion: Option<f64>,
}

impl Bursts {
    /// Add one arrival.
    pub fn add(&mut self, time: u64) {
        self.requests += 1;
        if self.requests == 1 {
            (self.first, self.last) = (time, time);
        } else {
            // Welford's running mean and sum of squared differences.
            let gap = (time - self.last) as f64;
            let before = gap - self.gap_mean;
            self.gap_mean += before / (self.requests - 1) as f64;
            self.gap_squares += before * (gap - self.gap_mean);
        }
        let interval = (time - self.first) / INTERVAL_NS;
        if interval != self.interval {
            self.close_interval();
            self.interval = interval;
        }
        self.in_interval += 1;
        self.last = time;
    }

    /// Nanoseconds from the first arrival to the last.
    pub fn span_ns(&self) -> u64 {
        self.last - self.first
    }

    /// The time of the last arrival, in ns.
    pub fn last_ns(&self) -> u64 {
        self.last
    }

    fn close_interval(&mut self) {
        self.peak = self.peak.max(self.in_interval);
        self.squares += (self.in_interval as f64).powi(2);
        self.in_interval = 0;
    }

    /// Compute the measures.
    pub fn finish(mut self) -> Burstiness {
        let intervals = (self.span_ns() / INTERVAL_NS + 1) as f64;
        self.close_interval();
        let mean = self.requests as f64 / intervals;
        let gaps = self.requests.saturating_sub(1);
        let deviation = (self.gap_squares / gaps.max(1) as f64).sqrt();
        let several = intervals > 1.0;
        Burstiness {
            gap_cv: (gaps > 1 && self.gap_mean > 0.0).then(|| deviation / self.gap_mean),
            peak_to_mean: several.then(|| self.peak as f64 / mean),
            dispersion: several.then(|| (self.squares / intervals - mean * mean).max(0.0) / mean),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn even_arrivals_are_even_and_a_burst_is_one() {
        let mut even = Bursts::default();
        (0..1000).for_each(|i| even.add(i * 1_000_000));
        let even = even.finish();
        assert!(even.gap_cv.unwrap() < 1e-9 && even.dispersion.unwrap() < 1e-9);
        assert!((even.peak_to_mean.unwrap() - 1.0).abs() < 1e-9);
        let mut burst = Bursts::default();
        (0..99).for_each(|_| burst.add(0));
        burst.add(950_000_000);
        // Ten intervals: 99, eight empty, 1; the mean is 10.
        let burst = burst.finish();
        assert!((burst.peak_to_mean.unwrap() - 9.9).abs() < 1e-9);
        assert!((burst.dispersion.unwrap() - (9802.0 / 10.0 - 100.0) / 10.0).abs() < 1e-9);
    }
}
