//! When a collection may start, continue, yield.

pub mod instant;
pub mod preemptive;
pub mod rotating;
pub mod threshold;

use super::PolicyContext;

/// What is known of one lane when the question is asked.
#[derive(Clone, Copy, Debug)]
pub struct SpaceView {
    /// Free extents of the lane.
    pub free: u32,
    /// All usable extents of the lane.
    pub extents: u32,
    /// A host operation waits or is under way on a die of the lane, or of its scope where a
    /// collection closes more (`gc_scope`) …
    pub host_active: bool,
    /// … and among these there is a read …
    pub host_reads: bool,
    /// … or a program that waits.
    pub host_programs: bool,
    /// A host operation waits or is under way on the lane's channels; asked for only where
    /// `heeds_channel`.
    pub channel_active: bool,
    /// Other lanes of the lane's group that collect.
    pub group_collecting: u32,
    /// Reads that rebuild a unit elsewhere wait or are under way on a die of the lane's scope;
    /// asked for only where collections `rotate`.
    pub rebuilds_here: bool,
    /// Lanes of the drive for which `urgent` holds, and all of them.
    pub urgent_lanes: u32,
    /// Lanes of the drive.
    pub lanes: u32,
    /// One collection a group at a time frees pages as fast as they are written, by what
    /// collections and writes took so far.
    pub keeps_up: bool,
}

/// The contract: with no host operation active and no other collection under way, `proceed`
/// is yes; a reserve of at least one extent is kept, so that collection always has room to
/// copy into.
pub trait GcSchedule {
    /// Whether a collection shall begin in this lane.
    fn start(&self, view: &SpaceView) -> bool;
    /// Whether a collection under way may move its next page.
    fn proceed(&self, view: &SpaceView) -> bool;
    /// Whether the lane is so short of space that its collection goes before host programs,
    /// where `schedule` heeds that.
    fn urgent(&self, view: &SpaceView) -> bool;
    /// Free extents of a lane that host data leave alone, at least 1.
    fn reserve(&self) -> u32;
    /// Whether host programs in the lane's scope wait for a collection under way, also while
    /// it yields.
    fn closes_programs(&self, _: &SpaceView) -> bool {
        false
    }
    /// Whether it ever does; fixed for the drive's life.
    fn may_close_programs(&self) -> bool {
        false
    }
    /// Collections take no time and no resource; fixed for the drive's life.
    fn instant(&self) -> bool {
        false
    }
    /// Whether `start` looks at the lane's channel; fixed for the drive's life.
    fn heeds_channel(&self) -> bool {
        false
    }
    /// Whether the lanes of a group are meant to collect one at a time; fixed for the
    /// drive's life.
    fn rotates(&self) -> bool {
        false
    }
}

family! {
    key: "gc_schedule",
    decides: "When a collection may start, continue, yield.",
    config: GcScheduleConfig,
    policy: GcSchedulePolicy: GcSchedule,
    context: PolicyContext,
    members: {
        threshold Threshold "threshold",
        preemptive Preemptive "preemptive",
        rotating Rotating "rotating",
        instant Instant "instant",
    }
    answers: {
        fn start(view: &SpaceView) -> bool;
        fn proceed(view: &SpaceView) -> bool;
        fn urgent(view: &SpaceView) -> bool;
        fn reserve() -> u32;
        fn closes_programs(view: &SpaceView) -> bool;
        fn may_close_programs() -> bool;
        fn instant() -> bool;
        fn heeds_channel() -> bool;
        fn rotates() -> bool;
    }
}
