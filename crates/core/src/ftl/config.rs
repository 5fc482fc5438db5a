//! The translation layer's parameters.

use serde::{Deserialize, Serialize};
use tailcut_units::quantity;

/// What is opened, collected and erased as one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ExtentKind {
    /// One block of one plane.
    Block,
    /// The block of one index on every plane of a die.
    Superblock,
    /// The block of one index on every plane of every die.
    Line,
}

/// How collection moves a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CopyMode {
    /// Read to the controller, decode, program.
    Controller,
    /// Inside the plane, over its page register.
    Copyback,
}

/// The translation layer's parameters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FtlConfig {
    /// Granularity of the map; divides the page or is a multiple of it.
    #[serde(with = "quantity::bytes")]
    pub mapping_unit: u64,
    /// Capacity the host sees. Exactly one of this and `over_provisioning` is given.
    #[serde(default, skip_serializing_if = "Option::is_none", with = "quantity::maybe_bytes")]
    pub user_capacity: Option<u64>,
    /// Share of the raw capacity that the host does not see.
    #[serde(default, skip_serializing_if = "Option::is_none", with = "quantity::maybe_fraction")]
    pub over_provisioning: Option<f64>,
    /// What is opened, collected and erased as one.
    pub extent: ExtentKind,
    /// Planes of a die that one program operation covers.
    pub write_planes: u32,
    /// Host reads queued at one die that address the same page of their blocks, on planes
    /// of their own, join into one multi-plane read.
    pub join_reads: bool,
    /// Programs queued at one die for the same page index of their blocks, on planes of their
    /// own, join into one multi-plane program: the host's with the host's, a collection's with
    /// those of other collections. For extents of one block.
    pub join_programs: bool,
    /// Collection mechanics.
    pub gc: GcConfig,
}

/// Collection mechanics (who decides when and what is in `policy`).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GcConfig {
    /// How a valid page moves.
    pub copy: CopyMode,
    /// Planes of a die that one collection read covers.
    pub copy_planes: u32,
    /// Planes of a die that one collection program covers; a write unit takes several where
    /// that is less than `ftl.write_planes`.
    pub program_planes: u32,
    /// Reads of several collections queued at one die join as host reads do.
    pub join_reads: bool,
    /// Planes of a die that one erase covers at most. An extent of more planes is erased by
    /// several; erases of single blocks queued at one die join up to that width.
    pub erase_planes: u32,
    /// Collection reads (or copybacks) under way at once in one collection.
    pub in_flight: u32,
}
