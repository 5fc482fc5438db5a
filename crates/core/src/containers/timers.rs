//! One timer slot for each server, in a winner tree that finds the earliest deadline.

use serde::{Deserialize, Serialize};

/// Deadline of an unset timer.
pub const UNSET: u64 = u64::MAX;

/// Deadline of an unset timer in the tree, where all times are below 2^63.
const LAST: u64 = u64::MAX >> 1;

/// A timer: its deadline and its slot.
#[derive(Clone, Copy, Debug)]
struct Timer {
    at: u64,
    slot: u32,
}

/// A fixed table of timers. Setting and clearing happen in place; among equal
/// deadlines the lowest slot fires first. Deadlines are below 2^63.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(into = "Vec<u64>", from = "Vec<u64>")]
pub struct Timers {
    /// The nodes of the tree in pairs of siblings. Node `i` is the earlier of nodes `2i` and
    /// `2i + 1`; node 1 is the root, and the second half of the nodes are the timers.
    pairs: Vec<[Timer; 2]>,
}

impl Timers {
    /// Create `slots` unset timers.
    pub fn new(slots: usize) -> Timers {
        Timers::from(vec![UNSET; slots])
    }

    /// The slot that fires next and its deadline ([`UNSET`] when none is set).
    #[inline]
    pub fn first(&self) -> (usize, u64) {
        let Timer { at, slot } = self.pairs[0][1];
        (slot as usize, if at == LAST { UNSET } else { at })
    }

    /// Set or move a timer.
    #[inline]
    pub fn set(&mut self, slot: usize, at: u64) {
        debug_assert!(slot < self.pairs.len() && (at < LAST || at == UNSET));
        let mut node = self.pairs.len() + slot;
        let mut first = Timer { at: at.min(LAST), slot: slot as u32 };
        loop {
            let pair = &mut self.pairs[node >> 1];
            let side = node & 1;
            pair[side] = first;
            if node == 1 {
                return;
            }
            first = earlier(first, pair[side ^ 1], side as u64);
            node >>= 1;
        }
    }

    /// Unset a timer.
    #[inline]
    pub fn clear(&mut self, slot: usize) {
        self.set(slot, UNSET);
    }

    /// When a timer fires; [`UNSET`] when it is not set.
    #[inline]
    pub fn deadline(&self, slot: usize) -> u64 {
        let node = self.pairs.len() + slot;
        let at = self.pairs[node >> 1][node & 1].at;
        if at == LAST { UNSET } else { at }
    }

    /// Memory of the tree, in bytes.
    pub fn bytes(&self) -> usize {
        self.pairs.len() * size_of::<[Timer; 2]>()
    }

    /// Whether a timer is set.
    #[inline]
    pub fn is_set(&self, slot: usize) -> bool {
        self.deadline(slot) != UNSET
    }
}

/// The earlier of a node and its sibling; at equal times the left one. `side` is 0 if `node` is the
/// left one, else 1.
///
/// The choice is by a mask. Which of two timers is earlier is random, so that a branch would be
/// mispredicted half of the time, and the compiler makes a branch of anything that looks like a
/// choice.
#[inline(always)]
fn earlier(node: Timer, sibling: Timer, side: u64) -> Timer {
    let sign = (sibling.at.wrapping_sub(side).wrapping_sub(node.at) as i64) >> 63;
    let (at, slot) = ((node.at ^ sibling.at) & sign as u64, (node.slot ^ sibling.slot) & sign as u32);
    Timer { at: node.at ^ at, slot: node.slot ^ slot }
}

impl From<Vec<u64>> for Timers {
    fn from(deadlines: Vec<u64>) -> Timers {
        let leaves = deadlines.len().next_power_of_two();
        let mut timers = Timers { pairs: vec![[Timer { at: LAST, slot: 0 }; 2]; leaves] };
        for slot in 0..leaves {
            timers.set(slot, deadlines.get(slot).copied().unwrap_or(UNSET));
        }
        timers
    }
}

impl From<Timers> for Vec<u64> {
    fn from(timers: Timers) -> Vec<u64> {
        (0..timers.pairs.len()).map(|slot| timers.deadline(slot)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// The winner is always the first minimum of the table.
        #[test]
        fn agrees_with_a_scan(slots in 1usize..40, ops in prop::collection::vec((0usize..40, 0u64..20), 0..200)) {
            let mut timers = Timers::new(slots);
            let mut table = vec![UNSET; slots];
            for (slot, at) in ops {
                let slot = slot % slots;
                let at = if at == 0 { UNSET } else { at };
                table[slot] = at;
                timers.set(slot, at);
                prop_assert_eq!(timers.deadline(slot), at);
                let least = *table.iter().min().unwrap();
                let (first, deadline) = timers.first();
                prop_assert_eq!(deadline, least);
                if least != UNSET {
                    prop_assert_eq!(first, table.iter().position(|&d| d == least).unwrap());
                }
            }
        }
    }
}
