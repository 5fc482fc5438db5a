//! The capacity of a drive.

/// The capacity arithmetic of a drive, in bytes.
#[derive(Clone, Debug, PartialEq)]
pub struct Capacity {
    /// All pages of all blocks.
    pub raw: u64,
    /// Lost to factory-bad blocks, and to good blocks without a partner on another plane for that reason.
    pub bad: u64,
    /// The blocks of the SLC region, if they held as much as others.
    pub slc: u64,
    /// Capacity of the host.
    pub user: u64,
    /// Taken by parity.
    pub parity: u64,
    /// Needed to continue writing: open extents, and extents into which collection copies.
    pub reserved: u64,
    /// `raw − bad − slc − user − parity`: room for stale data.
    pub spare: u64,
}
