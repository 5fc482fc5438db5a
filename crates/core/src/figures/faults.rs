//! Reports on the failures of a drive.

use crate::nand::blocks::BlockCounts;
use serde::{Deserialize, Serialize};
use std::ops::Range;
use tailcut_units::{ReadOnlyReason, SimTime};

/// Since when a drive is read-only, and why.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReadOnly {
    /// When it became read-only.
    pub since: SimTime,
    /// Why.
    pub reason: ReadOnlyReason,
}

/// The blocks of a drive that can fail.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BlockReport {
    /// Numbers of blocks by health.
    pub blocks: BlockCounts,
    /// Good blocks in holes of extents: their write units have a bad block or a dead plane.
    pub in_holes: u64,
    /// Extents retired since the drive was made. If extents can have holes, this includes those that consisted of holes
    /// from the beginning.
    pub retired_extents: u64,
    /// Number of extents that a lane can still lose before the drive becomes read-only; the smallest over all lanes.
    pub spare_extents: u64,
}

/// The state of a drive that can fail.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FaultReport {
    /// The blocks.
    pub blocks: BlockReport,
    /// The host's byte ranges whose data are lost, in order.
    pub lost: Vec<Range<u64>>,
    /// Number of units on flash whose copy cannot be read.
    pub lost_units: u64,
    /// Number of dead planes.
    pub dead_planes: u32,
    /// Since when the drive is read-only, and why.
    pub read_only: Option<ReadOnly>,
}
