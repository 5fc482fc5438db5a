//! A few timers, of which the earliest is found by comparing all.

use super::timers::UNSET;
use serde::{Deserialize, Serialize};

/// Number of timers.
const COUNT: usize = 6;

/// Six timers, and the earliest of them. Among equal deadlines the lowest timer fires first.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(into = "[u64; COUNT]", from = "[u64; COUNT]")]
pub struct FewTimers {
    deadlines: [u64; COUNT],
    first: (usize, u64),
}

impl Default for FewTimers {
    fn default() -> FewTimers {
        FewTimers::from([UNSET; COUNT])
    }
}

impl FewTimers {
    /// The timer that fires next, and its deadline ([`UNSET`] if none is set).
    #[inline]
    pub fn first(&self) -> (usize, u64) {
        self.first
    }

    /// Set or move a timer.
    #[inline]
    pub fn set(&mut self, timer: usize, at: u64) {
        self.deadlines[timer] = at;
        self.first = earliest(&self.deadlines);
    }

    /// Unset a timer.
    #[inline]
    pub fn clear(&mut self, timer: usize) {
        self.set(timer, UNSET);
    }

    /// Whether a timer is set.
    #[inline]
    pub fn is_set(&self, timer: usize) -> bool {
        self.deadlines[timer] != UNSET
    }
}

/// The first of the earliest deadlines. Without a loop the choices are conditional moves.
#[inline]
fn earliest(deadlines: &[u64; COUNT]) -> (usize, u64) {
    let earlier = |a: (usize, u64), b: (usize, u64)| if b.1 < a.1 { b } else { a };
    let [a, b, c, d, e, f] = *deadlines;
    earlier(earlier(earlier((0, a), (1, b)), earlier((2, c), (3, d))), earlier((4, e), (5, f)))
}

impl From<[u64; COUNT]> for FewTimers {
    fn from(deadlines: [u64; COUNT]) -> FewTimers {
        FewTimers { first: earliest(&deadlines), deadlines }
    }
}

impl From<FewTimers> for [u64; COUNT] {
    fn from(timers: FewTimers) -> [u64; COUNT] {
        timers.deadlines
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// The first timer is the one that a scan of a table finds.
        #[test]
        fn agrees_with_a_scan(sets in prop::collection::vec((0..COUNT, 0u64..5), 0..100)) {
            let mut timers = FewTimers::default();
            let mut table = [UNSET; COUNT];
            for (timer, at) in sets {
                table[timer] = if at == 4 { UNSET } else { at };
                timers.set(timer, table[timer]);
                let first = (0..COUNT).min_by_key(|&timer| table[timer]).unwrap();
                prop_assert_eq!(timers.first(), (first, table[first]));
                prop_assert!((0..COUNT).all(|timer| timers.is_set(timer) == (table[timer] != UNSET)));
            }
        }
    }
}
