//! The earliest of a few deadlines.

use super::timers::UNSET;
use serde::{Deserialize, Serialize};

/// Number of deadlines.
const LANES: usize = 8;

/// A deadline for each of eight lanes, and the earliest of them. Among equal deadlines the lowest
/// slot goes first; each lane has at most one slot at a time.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(into = "[u128; LANES]", from = "[u128; LANES]")]
pub struct Fronts {
    /// By lane: deadline, slot and lane, from the highest bits down. They are compared as one
    /// number, which needs no branch.
    keys: [u128; LANES],
    /// The earliest of each two lanes, of each four, and of all.
    pairs: [u128; LANES / 2],
    halves: [u128; 2],
    first: u128,
}

impl Default for Fronts {
    fn default() -> Fronts {
        Fronts::from(std::array::from_fn(|lane| key(UNSET, 0, lane)))
    }
}

#[inline]
fn key(at: u64, slot: u32, lane: usize) -> u128 {
    u128::from(at) << 64 | u128::from(slot) << 32 | lane as u128
}

#[inline]
fn deadline(key: u128) -> u64 {
    (key >> 64) as u64
}

impl Fronts {
    /// The lane with the earliest deadline, and that deadline ([`UNSET`] if no lane has one).
    #[inline]
    pub fn first(&self) -> (usize, u64) {
        (self.first as usize % LANES, deadline(self.first))
    }

    /// Set a lane's deadline, and the slot that decides between equal deadlines.
    #[inline]
    pub fn set(&mut self, lane: usize, at: u64, slot: u32) {
        let lane = lane % LANES;
        let mut first = key(at, slot, lane);
        self.keys[lane] = first;
        first = first.min(self.keys[lane ^ 1]);
        self.pairs[lane / 2] = first;
        first = first.min(self.pairs[(lane / 2) ^ 1]);
        self.halves[lane / 4] = first;
        self.first = first.min(self.halves[(lane / 4) ^ 1]);
    }
}

impl From<[u128; LANES]> for Fronts {
    fn from(keys: [u128; LANES]) -> Fronts {
        let [a, b, c, d, e, f, g, h] = keys;
        let pairs = [a.min(b), c.min(d), e.min(f), g.min(h)];
        let halves = [pairs[0].min(pairs[1]), pairs[2].min(pairs[3])];
        Fronts { keys, pairs, halves, first: halves[0].min(halves[1]) }
    }
}

impl From<Fronts> for [u128; LANES] {
    fn from(fronts: Fronts) -> [u128; LANES] {
        fronts.keys
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// The first lane is the one that a scan of a table finds.
        #[test]
        fn agrees_with_a_scan(sets in prop::collection::vec((0..LANES, 0u64..9, 0u32..4), 0..100)) {
            let mut fronts = Fronts::default();
            let mut table = [(UNSET, 0); LANES];
            for (lane, at, slot) in sets {
                let at = if at == 8 { UNSET } else { at };
                fronts.set(lane, at, slot);
                table[lane] = (at, slot);
                let first = (0..LANES).min_by_key(|&lane| table[lane]).unwrap();
                prop_assert_eq!(fronts.first().1, table[first].0);
                if table[first].0 != UNSET {
                    prop_assert_eq!(fronts.first().0, first);
                }
            }
        }
    }
}
