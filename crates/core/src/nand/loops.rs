//! The loops of one erase: ramp-up, pulse, recovery and verify, repeated until the block is erased.

use super::config::EraseTiming;
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// Largest number of loops.
pub const MOST_LOOPS: usize = 12;

/// The loops of one erase, planned when it starts. They may differ in the length of their pulses.
/// All times are ns.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Loops {
    /// Ramp-up, recovery and verify of one loop.
    others: u64,
    /// Length of the pulse of each loop; 0 after the last.
    pulses: [u32; MOST_LOOPS],
    count: u8,
}

impl Loops {
    /// No loop.
    pub const NONE: Loops = Loops { others: 0, pulses: [0; MOST_LOOPS], count: 0 };

    /// The loops of an erase that takes the configured times. There are at most [`MOST_LOOPS`].
    pub fn of(erase: &EraseTiming) -> Loops {
        let others = erase.ramp_up.0 + erase.recovery.0 + erase.verify.0;
        let mut loops = Loops { others, ..Loops::NONE };
        for (to, pulse) in loops.pulses.iter_mut().zip(erase.pulses()) {
            *to = pulse.0 as u32;
            loops.count += 1;
        }
        loops
    }

    /// The same loops with these pulses, of which there are at most [`MOST_LOOPS`], ns.
    pub fn with_pulses(&self, pulses: impl Iterator<Item = u32>) -> Loops {
        let mut loops = Loops { others: self.others, ..Loops::NONE };
        for (to, pulse) in loops.pulses.iter_mut().zip(pulses) {
            *to = pulse;
            loops.count += 1;
        }
        loops
    }

    /// The time range of the loop that an erase is in after `elapsed` ns, counted from the start of the erase. `None`
    /// after the end of the erase. A loop begins at the end of the one before it.
    pub fn around(&self, elapsed: u64) -> Option<Range<u64>> {
        let mut start = 0;
        for &pulse in &self.pulses[..usize::from(self.count)] {
            let end = start + self.others + u64::from(pulse);
            if elapsed < end {
                return Some(start..end);
            }
            start = end;
        }
        None
    }

    /// The start of the loop that an erase is in after `elapsed` ns; `elapsed` after the end of the erase.
    pub fn start(&self, elapsed: u64) -> u64 {
        self.around(elapsed).map_or(elapsed, |around| around.start)
    }

    /// Ramp-up, recovery and verify of one loop.
    pub fn others(&self) -> u64 {
        self.others
    }

    /// Time of all loops.
    pub fn total(&self) -> u64 {
        u64::from(self.count) * self.others + self.pulses.iter().map(|&pulse| u64::from(pulse)).sum::<u64>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tailcut_units::Span;

    #[test]
    fn loops_of_unequal_length_follow_each_other() {
        let execution = vec![Span(6), Span(2), Span(0)];
        let erase = EraseTiming { loops: 4, ramp_up: Span(1), execution, recovery: Span(1), verify: Span(2) };
        let loops = Loops::of(&erase);
        assert_eq!((loops.total(), erase.total()), (24, Span(24)));
        let mut seen = Vec::new();
        for elapsed in 0..24 {
            let around = loops.around(elapsed).expect("the erase is not over");
            assert!(around.contains(&elapsed) && loops.start(elapsed) == around.start);
            seen.push(around);
        }
        seen.dedup();
        assert_eq!(seen, [0..10, 10..16, 16..20, 20..24]);
        assert_eq!((loops.around(24), loops.start(24)), (None, 24));
        assert_eq!(Loops::NONE.around(0), None);
    }
}
