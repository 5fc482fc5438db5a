//! How late completions reach their clients.

use hdrhistogram::Histogram;

/// The lateness of completions by the wall clock: from the moment at which the model ends a request to the moment at which
/// its answer is written.
#[derive(Clone, Debug)]
pub struct Lateness {
    ns: Histogram<u64>,
}

impl Default for Lateness {
    fn default() -> Lateness {
        // One nanosecond to an hour, three digits: these bounds are valid.
        Lateness { ns: Histogram::new_with_bounds(1, 3_600_000_000_000, 3).expect("valid bounds") }
    }
}

impl Lateness {
    /// Count a completion that was late by `ns`.
    #[inline]
    pub fn count(&mut self, ns: u64) {
        self.ns.saturating_record(ns);
    }

    /// Completions counted.
    pub fn completions(&self) -> u64 {
        self.ns.len()
    }

    /// The lateness that a share of the completions, in percent, does not exceed, ns.
    pub fn percentile(&self, percent: f64) -> u64 {
        self.ns.value_at_percentile(percent)
    }

    /// The bounds of the histogram in ns, and how many completions were late by at most each; those late by more
    /// are only in [`Lateness::completions`].
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
