//! Instant: collection takes no time and no resource, the bound that no scheme can beat.
//!
//! **What it does.** When the free extents of a lane fall to `start`, the lane collects at once
//! until they are above it. Moved units and erased blocks are counted, but no die or channel is
//! occupied. (An erase waits until the reads of the block that are under way have been sensed.)
//!
//! **Why it matters for the tail.** The tail that is left does not come from collection. This is
//! the "NoGC" that FAST'17 measures slowdowns against, here on an aged drive of the same write
//! amplification.
//!
//! **Parameters and source.** `start`: extents, or a share of the lane's extents. FAST'17 section
//! 6.1 gets the same result with a drive that is not aged.
//!
//! **Left out.** Nothing.
//!
//! **Checked by** `policy_laws`, `rain`.

use super::{GcSchedule, PolicyContext, SpaceView};
use serde::{Deserialize, Serialize};
use tailcut_units::quantity::Level;

/// The limit: free extents of a lane, or a share of its extents.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    /// A lane collects at or below this many free extents.
    ///
    /// - Range: at least 1
    pub start: Level,
}

impl Default for Config {
    fn default() -> Config {
        Config { start: Level::Count(4) }
    }
}

/// The limit in extents.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Policy {
    start: u32,
}

impl Policy {
    /// Build the policy; an error if `start` is 0 extents.
    pub fn new(c: &Config, x: &PolicyContext) -> Result<Policy, String> {
        let start = c.start.of(x.extents_per_lane);
        if start == 0 {
            return Err("policy.gc_schedule.instant.start is 0 extents; it must be at least 1".into());
        }
        Ok(Policy { start })
    }
}

impl GcSchedule for Policy {
    #[inline]
    fn start(&self, view: &SpaceView) -> bool {
        view.free <= self.start
    }
    #[inline]
    fn proceed(&self, _: &SpaceView) -> bool {
        true
    }
    #[inline]
    fn urgent(&self, _: &SpaceView) -> bool {
        false
    }
    #[inline]
    fn reserve(&self) -> u32 {
        1
    }
    fn instant(&self) -> bool {
        true
    }
}
