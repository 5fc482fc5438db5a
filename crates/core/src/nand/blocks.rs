//! Counts of erases and of erase suspensions for each block.

use serde::{Deserialize, Serialize};

/// Counts by extent: a block, or blocks of several planes or dies that are erased together.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Blocks {
    /// Program/erase cycles.
    cycles: Vec<u32>,
    /// Suspensions of erases.
    suspensions: Vec<u32>,
}

impl Blocks {
    /// Create counts for `count` blocks that were never erased.
    pub fn new(count: u32) -> Blocks {
        Blocks { cycles: vec![0; count as usize], suspensions: vec![0; count as usize] }
    }

    /// Count an erase of a block.
    #[inline]
    pub fn erased(&mut self, block: u32) {
        self.cycles[block as usize] += 1;
    }

    /// Count a suspension of a block's erase.
    #[inline]
    pub fn suspended(&mut self, block: u32) {
        self.suspensions[block as usize] += 1;
    }

    /// Program/erase cycles by block.
    pub fn cycles(&self) -> &[u32] {
        &self.cycles
    }

    /// Erase suspensions by block.
    pub fn suspensions(&self) -> &[u32] {
        &self.suspensions
    }

    /// Whether restored tables have `count` entries.
    pub fn fits(&self, count: u32) -> bool {
        [&self.cycles, &self.suspensions].iter().all(|table| table.len() == count as usize)
    }
}
