//! What several rules for the choice of a victim compute.

use super::gc_victim::VictimView;

impl VictimView<'_> {
    /// Valid units of an extent that can be collected: those that its collection moves.
    #[inline]
    pub fn moves(&self, index: usize) -> u32 {
        self.valid[index] - self.holes.get(index).copied().unwrap_or(0)
    }

    /// The collectable extent whose collection wins most, the lowest index among equals. Without holes
    /// it has the fewest valid units.
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
