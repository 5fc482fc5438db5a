//! The dimensions of a drive.

use crate::address::BusyUnit;

/// The dimensions of a drive that drivers and reports need.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dimensions {
    /// Bytes of a mapping unit.
    pub unit_bytes: u64,
    /// Number of commands that the drive accepts at the same time.
    pub queue_depth: u32,
    /// Bytes of the largest command.
    pub max_transfer: u64,
    /// Channels.
    pub channels: u32,
    /// Dies.
    pub dies: u32,
    /// Planes of a die.
    pub planes: u32,
    /// Busy units: dies, or planes where planes work independently.
    pub units: u32,
    /// Planes of a busy unit that read independently; 1 if a read occupies the whole unit.
    pub planes_read: u32,
    /// Physical blocks that are erased and counted together: those of an extent, or of a chunk of pblk.
    pub blocks_per_extent: u32,
    /// Whether there is parity.
    pub has_parity: bool,
    /// Whether programs and erases wait at the gate of a stride, and reads avoid the LUNs that execute them.
    pub has_write_gate: bool,
    /// Whether pages have raw bit errors.
    pub has_errors: bool,
}

impl Dimensions {
    /// Whether planes work independently.
    pub fn has_independent_planes(&self) -> bool {
        self.units != self.dies
    }

    /// The channel of a busy unit.
    pub fn channel_of(&self, unit: BusyUnit) -> u32 {
        unit.0 / (self.units / self.channels)
    }
}
