//! What each block of a plane remembers. The index of a block is that of its extent in the lane, so
//! that factory-bad blocks have none.

use crate::address::BlockId;
use serde::{Deserialize, Serialize};

/// Tables by block.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Blocks {
    /// Number of blocks of a plane.
    per_plane: u32,
    /// Program/erase cycles.
    cycles: Vec<u32>,
    /// Suspensions of erases.
    suspensions: Vec<u32>,
}

impl Blocks {
    /// Create tables for `planes` planes of `per_plane` blocks that were never erased.
    pub fn new(planes: u32, per_plane: u32) -> Blocks {
        let count = planes as usize * per_plane as usize;
        Blocks { per_plane, cycles: vec![0; count], suspensions: vec![0; count] }
    }

    /// The block with this index of a plane. Planes are counted over the drive: by channel, die and
    /// plane.
    #[inline]
    pub fn id(&self, plane: u32, index: u32) -> BlockId {
        debug_assert!(index < self.per_plane);
        BlockId(plane * self.per_plane + index)
    }

    /// Count an erase of a block.
    #[inline]
    pub fn erased(&mut self, block: BlockId) {
        self.cycles[block.index()] += 1;
    }

    /// Count a suspension of a block's erase.
    #[inline]
    pub fn suspended(&mut self, block: BlockId) {
        self.suspensions[block.index()] += 1;
    }

    /// Program/erase cycles by block: index [`BlockId::index`].
    pub fn cycles(&self) -> &[u32] {
        &self.cycles
    }

    /// Erase suspensions by block.
    pub fn suspensions(&self) -> &[u32] {
        &self.suspensions
    }

    /// Whether restored tables are of as many planes and blocks as `drive`, those of the drive.
    pub fn fits(&self, drive: &Blocks) -> bool {
        let lens = |blocks: &Blocks| (blocks.per_plane, blocks.cycles.len(), blocks.suspensions.len());
        lens(self) == lens(drive)
    }
}
