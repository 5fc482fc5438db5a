//! Which lane a write goes to.
//!
//! A *lane* is a place where an extent can be open: a plane, a die, or the whole drive,
//! as `ftl.extent` says. Placement chooses the lane; inside it, data are appended. It does so
//! in two steps: a unit is bound to a *pool* of neighbouring lanes when it is written, and
//! to one lane of that pool when it leaves for flash.

pub mod die;
pub mod dynamic;
pub mod fixed;

use super::PolicyContext;
pub use super::lane_load::LaneLoad;
use crate::address::Lpn;

/// What a placement sees when a write unit leaves for flash.
#[derive(Clone, Copy, Debug)]
pub struct LaneView<'a> {
    /// By lane.
    pub load: &'a [LaneLoad],
    /// Host write units that have gone to each lane.
    pub written: &'a [u64],
}

/// The contract: pool `p` is the `pool_lanes` lanes from `p * pool_lanes` on. A sequential fill by
/// `chunk` and `order` puts each unit into its pool.
pub trait Placement {
    /// Number of lanes in a pool, a divisor of the number of all lanes; fixed for the drive's life.
    /// With 1 the address alone decides the lane.
    fn pool_lanes(&self) -> u32;
    /// The pool of a mapping unit, the same at each write.
    fn pool(&self, lpn: Lpn) -> u32;
    /// The lane of the pool that the next write unit goes to: a lane with room, if there is one.
    fn lane(&mut self, pool: u32, view: &LaneView<'_>) -> u32;
    /// Whether the lanes of a pool get equally many write units; fixed for the drive's life.
    fn levels(&self) -> bool {
        false
    }
    /// Consecutive mapping units that a sequential fill puts into one lane.
    fn chunk(&self) -> u32;
    /// The lanes in the order in which a sequential fill takes them, chunk by chunk.
    fn order(&self) -> Vec<u32>;
}

family! {
    key: "placement",
    decides: "Which lane a write goes to.",
    config: PlacementConfig,
    policy: PlacementPolicy: Placement,
    context: PolicyContext,
    members: {
        fixed Static "static",
        die Die "die",
        dynamic Dynamic "dynamic",
    }
    answers: {
        fn pool_lanes() -> u32;
        fn pool(lpn: Lpn) -> u32;
        fn levels() -> bool;
        fn chunk() -> u32;
        fn order() -> Vec<u32>;
    }
    changes: {
        fn lane(pool: u32, view: &LaneView<'_>) -> u32;
    }
}
