//! Whether rotating collections (one lane of a parity group at a time) free units as fast as the host writes them.

use serde::{Deserialize, Serialize};

/// Totals of collections and host writes so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::device) struct Pace {
    /// Number of groups of lanes, each with one collection at a time.
    groups: u64,
    /// Sum of the durations of all ended collections, ns.
    collecting_ns: u64,
    /// Units that these collections freed.
    freed: u64,
    /// Units programmed for host writes, including parity.
    written: u64,
    /// When the first of these units was written, ns.
    since: u64,
}

impl Pace {
    pub fn new(groups: u32) -> Pace {
        Pace { groups: u64::from(groups), ..Pace::default() }
    }

    /// Count a collection that took `ns` and freed `units` units.
    pub fn collected(&mut self, ns: u64, units: u32) {
        self.collecting_ns += ns;
        self.freed += u64::from(units);
    }

    /// Count `units` units written at `now`.
    #[inline]
    pub fn wrote(&mut self, now: u64, units: u32) {
        if self.written == 0 {
            self.since = now;
        }
        self.written += u64::from(units);
    }

    /// Whether all groups together, with one collection in each at all times, would free units as fast as they were
    /// written so far. True until a collection has freed units.
    pub fn keeps_up(&self, now: u64) -> bool {
        let elapsed = u128::from(now.saturating_sub(self.since));
        let freed = u128::from(self.freed) * u128::from(self.groups) * elapsed;
        self.freed == 0 || freed >= u128::from(self.written) * u128::from(self.collecting_ns)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_compares_the_two_rates() {
        let mut p = Pace::new(2);
        assert!(p.keeps_up(5), "nothing is known");
        p.wrote(1_000, 100);
        p.collected(1_000, 100);
        assert!(p.keeps_up(1_500), "two groups win 200 in 1,000 ns, and 100 were written in 500");
        assert!(!p.keeps_up(1_499));
    }
}
