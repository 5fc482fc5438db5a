//! When a collection may start, continue, yield.

pub mod preemptive;
pub mod threshold;

use super::PolicyContext;

/// What is known of one lane when the question is asked.
#[derive(Clone, Copy, Debug)]
pub struct SpaceView {
    /// Free extents of the lane.
    pub free: u32,
    /// All usable extents of the lane.
    pub extents: u32,
    /// A host operation waits or is under way on a die of the lane.
    pub host_active: bool,
}

/// The contract: with no host operation active, `proceed` is yes; a reserve of at least
/// one extent is kept, so that collection always has room to copy into.
pub trait GcSchedule {
    /// Whether a collection shall begin in this lane.
    fn start(&mut self, view: &SpaceView) -> bool;
    /// Whether a collection under way may move its next page.
    fn proceed(&mut self, view: &SpaceView) -> bool;
    /// Whether the lane is so short of space that its collection goes before host programs,
    /// where `schedule` heeds that.
    fn urgent(&mut self, view: &SpaceView) -> bool;
    /// Free extents of a lane that host data leave alone, at least 1.
    fn reserve(&mut self) -> u32;
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
    }
    methods: {
        fn start(view: &SpaceView) -> bool;
        fn proceed(view: &SpaceView) -> bool;
        fn urgent(view: &SpaceView) -> bool;
        fn reserve() -> u32;
    }
}
