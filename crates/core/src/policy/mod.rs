//! The decisions of the firmware, one folder a family, one file a policy.
//!
//! A policy reads the view it is given and its own state, and returns a verdict; it
//! starts nothing. Adding one is a file and a line: the line, in the family's list of
//! members, gives its configuration name, its dispatch and its entry in the manual.

#[macro_use]
mod family;

pub mod background;
pub mod buffer;
pub mod flush;
pub mod gc_schedule;
pub mod gc_scope;
pub mod gc_victim;
pub mod placement;
pub mod read_path;
pub mod redundancy;
pub mod schedule;
pub mod suspend_erase;
pub mod suspend_program;
pub mod wear;

pub use family::MemberDoc;
use serde::{Deserialize, Serialize};

/// One member of each family: `[policy]` of a configuration.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PolicyConfig {
    /// The next operation of a die among those queued.
    ///
    /// - Read by: the queues of dies (`flash::dispatch`)
    pub schedule: schedule::ScheduleConfig,
    /// What a busy erase does when something urgent waits for its die.
    ///
    /// - Read by: suspension (`flash::suspend`)
    #[serde(default)]
    pub suspend_erase: suspend_erase::SuspendEraseConfig,
    /// What a busy program does when something urgent waits for its die.
    ///
    /// - Read by: suspension (`flash::suspend`)
    #[serde(default)]
    pub suspend_program: suspend_program::SuspendProgramConfig,
    /// How host writes are held.
    ///
    /// - Read by: writes (`device::write::hold`)
    pub buffer: buffer::BufferConfig,
    /// When data leave the write buffer.
    ///
    /// - Read by: flushes (`device::write::write_unit`)
    pub flush: flush::FlushConfig,
    /// Where a write goes.
    ///
    /// - Read by: flushes (`device::write::write_unit`)
    pub placement: placement::PlacementConfig,
    /// Parity across the drive.
    ///
    /// - Read by: the stripes (`device::write::stripe`), set up in `device::shape`
    #[serde(default)]
    pub redundancy: redundancy::RedundancyConfig,
    /// What a host read does whose plane a collection keeps busy.
    ///
    /// - Read by: reads (`device::parity::rebuild`)
    #[serde(default)]
    pub read_path: read_path::ReadPathConfig,
    /// Which extent is collected.
    ///
    /// - Read by: collection (`device::gc::collect`)
    pub gc_victim: gc_victim::GcVictimConfig,
    /// When a collection may start, continue, yield.
    ///
    /// - Read by: collection (`device::gc::collect`)
    pub gc_schedule: gc_schedule::GcScheduleConfig,
    /// What a collection blocks.
    ///
    /// - Read by: what a collection closes (`device::gc::scope`)
    pub gc_scope: gc_scope::GcScopeConfig,
    /// What happens in idle time.
    ///
    /// - Read by: scrubbing (`device::scrub`)
    #[serde(default)]
    pub background: background::BackgroundConfig,
    /// Which stripes move to colder planes.
    ///
    /// - Read by: wear levelling (`device::parity::wear`)
    #[serde(default)]
    pub wear: wear::WearConfig,
}

/// What every member may know of the drive when it is built.
#[derive(Clone, Debug)]
pub struct PolicyContext {
    /// The run's seed.
    pub seed: u64,
    /// Lanes: places where an extent can be opened.
    pub lanes: u32,
    /// Geometry behind the lanes: channels, chips a channel, dies a chip.
    pub channels: u32,
    /// Chips a channel.
    pub chips: u32,
    /// Dies a chip.
    pub dies: u32,
    /// Planes of a die that are lanes of their own (1 when an extent spans them).
    pub plane_lanes: u32,
    /// Extents in each lane, at least.
    pub extents_per_lane: u32,
    /// Mapping units in an extent.
    pub units_per_extent: u32,
    /// Mapping units in a page, at least 1.
    pub units_per_page: u32,
    /// Mapping units in a write unit.
    pub units_per_write: u32,
    /// Bytes in a mapping unit.
    pub unit_bytes: u64,
    /// Groups of lanes that stripes go round; 0 without parity.
    pub groups: u32,
    /// What is served between two loops of an erase.
    pub served_after_loop: suspend_erase::Serve,
}

/// One family's entry in the manual.
pub struct FamilyDoc {
    /// The key under `[policy]`.
    pub name: &'static str,
    /// What the family decides.
    pub decides: &'static str,
    /// Its members.
    pub members: &'static [MemberDoc],
    /// The member that changes nothing, which a configuration has that does not name one.
    pub neutral: Option<&'static str>,
    /// The family's own source file, for the types that its members share.
    pub source: &'static str,
}

/// Every family, in configuration order.
pub const FAMILIES: &[FamilyDoc] = &[
    schedule::ScheduleConfig::DOC,
    suspend_erase::SuspendEraseConfig::DOC,
    suspend_program::SuspendProgramConfig::DOC,
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
];
