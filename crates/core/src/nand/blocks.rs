//! What blocks remember of what was done to them.

use serde::{Deserialize, Serialize};

/// One entry for what is erased as one: a block, or the blocks of several planes or dies.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Blocks {
    /// Program/erase cycles.
    cycles: Vec<u32>,
    /// Suspensions of erases.
    suspensions: Vec<u32>,
}

impl Blocks {
    /// `count` blocks that were never erased.
    pub fn new(count: u32) -> Blocks {
        Blocks { cycles: vec![0; count as usize], suspensions: vec![0; count as usize] }
    }

    /// A block was erased.
    #[inline]
    pub fn erased(&mut self, block: u32) {
        self.cycles[block as usize] += 1;
    }

    /// An erase of a block was suspended.
    #[inline]
    pub fn suspended(&mut self, block: u32) {
        self.suspensions[block as usize] += 1;
    }

    /// Program/erase cycles by block.
    pub fn cycles(&self) -> &[u32] {
        &self.cycles
    }

    /// Suspensions of erases by block.
    pub fn suspensions(&self) -> &[u32] {
        &self.suspensions
    }

    /// Whether restored tables can be those of `count` blocks.
    pub fn fits(&self, count: u32) -> bool {
        [&self.cycles, &self.suspensions].iter().all(|table| table.len() == count as usize)
    }
}
