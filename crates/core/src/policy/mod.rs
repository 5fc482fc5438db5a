//! The decisions of the firmware: one folder per family, one file per policy.
//!
//! A policy reads its view and its own state and returns a verdict. It starts no operation. To add
//! a policy, add its file and one line in the family's list of members. The configuration name, the
//! dispatch and the entry in the manual come from that line.

#[macro_use]
mod family;
mod erase_timing;
mod lane_load;
mod retries;
mod victims;

pub mod background;
pub mod buffer;
pub mod erase_scheme;
pub mod flush;
pub mod gc_schedule;
pub mod gc_scope;
pub mod gc_victim;
pub mod outside;
pub mod placement;
pub mod read_path;
pub mod read_retry;
pub mod redundancy;
pub mod schedule;
pub mod suspend_erase;
pub mod suspend_program;
pub mod wear;
pub mod write_gate;

pub use family::MemberDoc;
use serde::{Deserialize, Serialize};

/// One member of each family: `[policy]` of a configuration.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PolicyConfig {
    /// Which queued operation a die executes next.
    ///
    /// - Read by: the queues of dies (`flash::dispatch`)
    pub schedule: schedule::ScheduleConfig,
    /// What a busy erase does when an urgent operation waits for its die.
    ///
    /// - Read by: suspension (`flash::suspend`)
    #[serde(default)]
    pub suspend_erase: suspend_erase::SuspendEraseConfig,
    /// Which pulses an erase consists of.
    ///
    /// - Read by: the plans of erases (`flash::erase`)
    #[serde(default)]
    pub erase_scheme: erase_scheme::EraseSchemeConfig,
    /// What a busy program does when an urgent operation waits for its die.
    ///
    /// - Read by: suspension (`flash::suspend`)
    #[serde(default)]
    pub suspend_program: suspend_program::SuspendProgramConfig,
    /// What a read does whose data cannot be decoded.
    ///
    /// - Read by: the senses of reads (`flash::senses`)
    #[serde(default)]
    pub read_retry: read_retry::ReadRetryConfig,
    /// How host writes are held before they are programmed.
    ///
    /// - Read by: writes (`device::write::hold`)
    pub buffer: buffer::BufferConfig,
    /// When data leave the write buffer.
    ///
    /// - Read by: flushes (`device::write::path`)
    pub flush: flush::FlushConfig,
    /// Which lane a write goes to.
    ///
    /// - Read by: flushes (`device::write::write_unit`)
    pub placement: placement::PlacementConfig,
    /// Parity across the drive.
    ///
    /// - Read by: the stripes (`device::write::stripe`), set up in `device::shape`
    #[serde(default)]
    pub redundancy: redundancy::RedundancyConfig,
    /// What a host read does when a collection keeps its plane busy.
    ///
    /// - Read by: reads (`device::parity::rebuild`)
    #[serde(default)]
    pub read_path: read_path::ReadPathConfig,
    /// Which extent a collection empties.
    ///
    /// - Read by: collection (`device::gc::collect`)
    pub gc_victim: gc_victim::GcVictimConfig,
    /// When a collection may start or continue, and when it yields.
    ///
    /// - Read by: collection (`device::gc::collect`)
    pub gc_schedule: gc_schedule::GcScheduleConfig,
    /// What a collection blocks while it runs.
    ///
    /// - Read by: what a collection closes (`device::gc::scope`)
    pub gc_scope: gc_scope::GcScopeConfig,
    /// What the drive does by itself, without a request of the host.
    ///
    /// - Read by: scrubbing (`device::scrub`), refreshing (`device::refresh`)
    #[serde(default)]
    pub background: background::BackgroundConfig,
    /// Which stripes move to colder planes.
    ///
    /// - Read by: wear levelling (`device::parity::wear`)
    #[serde(default)]
    pub wear: wear::WearConfig,
    /// Which LUNs of a stride may program or erase at once.
    ///
    /// - Read by: pblk's writer and reads (`pblk::rail::gate`)
    #[serde(default)]
    pub write_gate: write_gate::WriteGateConfig,
}

/// What every policy member knows of the drive when it is built.
#[derive(Clone, Debug)]
pub struct PolicyContext {
    /// The run's seed.
    pub seed: u64,
    /// Number of lanes: places where an extent can be open.
    pub lanes: u32,
    /// Channels of the drive.
    pub channels: u32,
    /// Chips per channel.
    pub chips: u32,
    /// Dies per chip.
    pub dies: u32,
    /// Planes of a die that are lanes of their own (1 when an extent spans them).
    pub plane_lanes: u32,
    /// Usable extents in the lane that has the fewest.
    pub extents_per_lane: u32,
    /// Mapping units in an extent.
    pub units_per_extent: u32,
    /// Mapping units in a page; 1 if a unit is larger than a page.
    pub units_per_page: u32,
    /// Mapping units in a write unit.
    pub units_per_write: u32,
    /// Bytes in a mapping unit.
    pub unit_bytes: u64,
    /// Plane groups, each holding whole stripes; under pblk, strides. 0 without parity.
    pub groups: u32,
    /// Which operations are served between two loops of an erase.
    pub served_after_loop: suspend_erase::Serve,
    /// The array under erase pulses, if it is described.
    pub erase: Option<erase_scheme::EraseContext>,
}

/// One family's entry in the manual.
pub struct FamilyDoc {
    /// The key under `[policy]`.
    pub name: &'static str,
    /// What the family decides.
    pub decides: &'static str,
    /// Its members.
    pub members: &'static [MemberDoc],
    /// The member that changes nothing; a configuration that names no member gets it.
    pub neutral: Option<&'static str>,
    /// The family's own source file, for the types that its members share.
    pub source: &'static str,
}

/// Every family, in configuration order.
pub const FAMILIES: &[FamilyDoc] = &[
    schedule::ScheduleConfig::DOC,
    suspend_erase::SuspendEraseConfig::DOC,
    erase_scheme::EraseSchemeConfig::DOC,
    suspend_program::SuspendProgramConfig::DOC,
    read_retry::ReadRetryConfig::DOC,
    buffer::BufferConfig::DOC,
    flush::FlushConfig::DOC,
    placement::PlacementConfig::DOC,
    redundancy::RedundancyConfig::DOC,
    read_path::ReadPathConfig::DOC,
    gc_victim::GcVictimConfig::DOC,
    gc_schedule::GcScheduleConfig::DOC,
    gc_scope::GcScopeConfig::DOC,
    background::BackgroundConfig::DOC,
    wear::WearConfig::DOC,
    write_gate::WriteGateConfig::DOC,
];
