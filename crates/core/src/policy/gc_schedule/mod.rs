//! When a collection may start or continue, and when it yields.

pub mod instant;
pub mod preemptive;
pub mod rotating;
pub mod threshold;
pub mod tokens;

use super::PolicyContext;

/// One token, in the unit of the view.
pub const TOKEN: i64 = 1 << 16;

/// The state of one lane at the time of the question.
#[derive(Clone, Copy, Debug, Default)]
pub struct SpaceView {
    /// Free extents of the lane.
    pub free: u32,
    /// All usable extents of the lane.
    pub extents: u32,
    /// Whether a host operation is queued or under way on the dies of the view: those of the lane or, where a
    /// collection closes more than its lane (`gc_scope`), all dies that it closes.
    pub host_active: bool,
    /// Whether a host read is queued or under way on the dies of the view. Set only where `may_close_programs` is true.
    pub host_reads: bool,
    /// Whether a host program is queued on the dies of the view. Set only where `may_close_programs` is true.
    pub host_programs: bool,
    /// Whether a host program is queued or under way on the dies of the view. Set only where `most_tokens` is more than
    /// 0.
    pub host_writes: bool,
    /// Tokens of the lane's collection, in 1/[`TOKEN`]. Each host program pays one at its end, so that the number can
    /// become negative.
    pub tokens: i64,
    /// Whether a host operation uses one of the lane's channels, or is going to; a program whose data are in its die
    /// does not count. Set only where `heeds_channel` is true.
    pub channel_active: bool,
    /// Number of other lanes of the lane's parity group that collect.
    pub group_collecting: u32,
    /// Whether a reconstruction read is queued or under way on a die that the lane's collection
    /// closes; set only where `rotates` is true.
    pub rebuilds_here: bool,
    /// Number of lanes of the drive for which `urgent` is true.
    pub urgent_lanes: u32,
    /// Number of lanes of the drive.
    pub lanes: u32,
    /// Whether one collection at a time per group frees pages as fast as they are written, judged
    /// by the collections and writes so far.
    pub keeps_up: bool,
}

/// The contract: `proceed` returns true when no host operation is active and no other collection is
/// under way. `reserve` is at least one extent, so that collection always has room to copy into.
pub trait GcSchedule {
    /// Whether a collection should start in this lane.
    fn start(&self, view: &SpaceView) -> bool;
    /// Whether a collection under way may move its next page.
    fn proceed(&self, view: &SpaceView) -> bool;
    /// Whether the lane is so short of space that its collection goes before host programs. Not
    /// every member of `schedule` takes account of this.
    fn urgent(&self, view: &SpaceView) -> bool;
    /// Free extents of a lane that host data may not use; at least 1.
    fn reserve(&self) -> u32;
    /// Whether a collection under way blocks host programs in the lane's scope, even while it
    /// yields.
    fn closes_programs(&self, _: &SpaceView) -> bool {
        false
    }
    /// Whether `closes_programs` is ever true; fixed for the drive's life.
    fn may_close_programs(&self) -> bool {
        false
    }
    /// Largest number of tokens of a collection, with which it begins; 0 without tokens. Each copied page adds the
    /// ratio of invalid to valid pages of the victim. This never changes in a drive.
    fn most_tokens(&self) -> u32 {
        0
    }
    /// Whether collections take no time and no resource; fixed for the drive's life.
    fn instant(&self) -> bool {
        false
    }
    /// Whether `start` depends on `channel_active`; fixed for the drive's life.
    fn heeds_channel(&self) -> bool {
        false
    }
    /// Whether the lanes of a group should collect one at a time; fixed for the drive's life.
    fn rotates(&self) -> bool {
        false
    }
}

family! {
    key: "gc_schedule",
    decides: "When a collection may start or continue, and when it yields.",
    config: GcScheduleConfig,
    policy: GcSchedulePolicy: GcSchedule,
    context: PolicyContext,
    members: {
        threshold Threshold "threshold",
        preemptive Preemptive "preemptive",
        rotating Rotating "rotating",
        instant Instant "instant",
        tokens Tokens "tokens",
    }
    answers: {
        fn start(view: &SpaceView) -> bool;
        fn proceed(view: &SpaceView) -> bool;
        fn urgent(view: &SpaceView) -> bool;
        fn reserve() -> u32;
        fn closes_programs(view: &SpaceView) -> bool;
        fn may_close_programs() -> bool;
        fn most_tokens() -> u32;
        fn instant() -> bool;
        fn heeds_channel() -> bool;
        fn rotates() -> bool;
    }
}
