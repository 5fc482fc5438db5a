//! Where a write goes.
//!
//! A *lane* is a place where an extent can be open: a plane, a die, or the whole drive,
//! as `ftl.extent` says. Placement chooses the lane; inside it, data are appended.

pub mod dynamic;
pub mod fixed;

use super::PolicyContext;

/// What a placement sees when a write unit leaves for flash.
#[derive(Clone, Copy, Debug)]
pub struct LaneView<'a> {
    /// Host programs under way or queued by lane; 2^31 or more where no room was found.
    pub load: &'a [u32],
}

/// The contract: a placement is fixed (`fixed_lane` is `Some` for every unit) or free
/// (`None` for every unit, and `free_lane` is asked for each write unit).
pub trait Placement {
    /// The lane of this mapping unit, whenever it is written.
    fn fixed_lane(&mut self, lpn: u32) -> Option<u32>;
    /// The lane of the next write unit.
    fn free_lane(&mut self, view: &LaneView<'_>) -> u32;
    /// Consecutive mapping units that stay together in one lane.
    fn chunk(&mut self) -> u32;
    /// The lanes in the order in which consecutive chunks meet them.
    fn order(&mut self) -> Vec<u32>;
}

family! {
    key: "placement",
    decides: "Where a write goes.",
    config: PlacementConfig,
    policy: PlacementPolicy: Placement,
    context: PolicyContext,
    members: {
        fixed Static "static",
        dynamic Dynamic "dynamic",
    }
    methods: {
        fn fixed_lane(lpn: u32) -> Option<u32>;
        fn free_lane(view: &LaneView<'_>) -> u32;
        fn chunk() -> u32;
        fn order() -> Vec<u32>;
    }
}
