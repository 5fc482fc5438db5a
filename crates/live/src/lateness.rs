//! Lateness of completions.

use hdrhistogram::Histogram;

/// The lateness of completions on the wall clock: from the time at which the model ends a request to the time at
/// which its answer is written.
#[derive(Clone, Debug)]
pub struct Lateness {
    ns: Histogram<u64>,
}

impl Default for Lateness {
    fn default() -> Lateness {
        // One nanosecond to one hour with three digits.
        Lateness { ns: Histogram::new_with_bounds(1, 3_600_000_000_000, 3).expect("valid bounds") }
    }
}

impl Lateness {
    /// Count a completion that was late by `ns`.
    #[inline]
    pub fn count(&mut self, ns: u64) {
        self.ns.saturating_record(ns);
    }

    /// Number of counted completions.
    pub fn completions(&self) -> u64 {
        self.ns.len()
    }

    /// The lateness that a given percentage of the completions does not exceed, ns.
    pub fn percentile(&self, percent: f64) -> u64 {
        self.ns.value_at_percentile(percent)
    }

    /// Upper bounds in ns, and the number of completions that were late by at most each bound. Completions beyond the
    /// last bound only count in [`Lateness::completions`].
    pub fn histogram(&self) -> Vec<(u64, u64)> {
        let decades = (3..9).flat_map(|power| [1, 2, 5].map(|digit| digit * 10_u64.pow(power)));
        decades.map(|bound| (bound, self.ns.count_between(0, bound))).collect()
    }

    /// The mean, ns.
    pub fn mean(&self) -> f64 {
        self.ns.mean()
    }

    /// The largest, ns.
    pub fn max(&self) -> u64 {
        self.ns.max()
    }
}
