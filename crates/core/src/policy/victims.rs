//! The common computations of victim policies.

use super::gc_victim::VictimView;

impl VictimView<'_> {
    /// Number of valid units of a collectable extent, which its collection moves.
    #[inline]
    pub fn moves(&self, index: usize) -> u32 {
        self.valid[index] - self.holes.get(index).copied().unwrap_or(0)
    }

    /// The collectable extent whose collection frees most units; among equals, the one with the lowest index. Without
    /// holes it is the one with the fewest valid units.
    #[inline]
    pub fn wins_most(&self) -> Option<u32> {
        // Two passes vectorise: the minimum first, its position second.
        let least = self.valid.iter().copied().min()?;
        if least > self.most_valid {
            return None;
        }
        self.valid.iter().position(|&v| v == least).map(|i| i as u32)
    }
}
