//! One timer slot for each server, in a winner tree that finds the earliest deadline.

use serde::{Deserialize, Serialize};

/// Deadline of an unset timer.
const UNSET: u64 = u64::MAX;

/// A fixed table of timers. Setting and clearing happen in place; among equal
/// deadlines the lowest slot fires first.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Timers {
    /// Deadlines by slot, padded to a power of two.
    deadlines: Vec<u64>,
    /// For each inner node, the slot that wins below it; the root is node 1.
    winners: Vec<u32>,
}

impl Timers {
    /// Create `slots` unset timers.
    pub fn new(slots: usize) -> Timers {
        let leaves = slots.next_power_of_two().max(2);
        let mut winners = vec![0u32; leaves];
        for node in (1..leaves).rev() {
            winners[node] = if node >= leaves / 2 { (2 * node - leaves) as u32 } else { winners[2 * node] };
        }
        Timers { deadlines: vec![UNSET; leaves], winners }
    }

    /// The slot that fires next and its deadline (`u64::MAX` when none is set).
    #[inline]
    pub fn first(&self) -> (usize, u64) {
        let slot = self.winners[1] as usize;
        (slot, self.deadlines[slot])
    }

    /// Set or move a timer.
    #[inline]
    pub fn set(&mut self, slot: usize, at: u64) {
        self.deadlines[slot] = at;
        let leaves = self.deadlines.len();
        debug_assert!(self.winners.len() == leaves && slot < leaves);
        let (left, right) = (slot & !1, slot | 1);
        let mut winner =
            if self.deadlines[right] < self.deadlines[left] { right as u32 } else { left as u32 };
        let mut node = (leaves + slot) / 2;
        self.winners[node] = winner;
        while node > 1 {
            let other = self.winners[node ^ 1];
            // The left child holds the lower slots and wins ties.
            let (l, r) = if node & 1 == 0 { (winner, other) } else { (other, winner) };
            winner = if self.deadlines[r as usize] < self.deadlines[l as usize] { r } else { l };
            node /= 2;
            self.winners[node] = winner;
        }
    }

    /// Unset a timer.
    #[inline]
    pub fn clear(&mut self, slot: usize) {
        self.set(slot, UNSET);
    }

    /// When a timer fires; `u64::MAX` when it is not set.
    #[inline]
    pub fn deadline(&self, slot: usize) -> u64 {
        self.deadlines[slot]
    }

    /// Whether a timer is set.
    #[inline]
    pub fn is_set(&self, slot: usize) -> bool {
        self.deadlines[slot] != UNSET
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
