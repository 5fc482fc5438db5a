//! Instant: collection takes no time and no resource, the bound that no scheme can beat.
//!
//! **What it does.** At `start` a lane collects until it lies above it, at once: data are
//! moved and blocks erased, and counted, but no die or channel is busy with it. (An erase
//! waits for reads of the block that are under way.)
//!
//! **Why it matters for the tail.** What is left of a tail is not collection's: the "NoGC"
//! that FAST'17 measures slowdowns against, on an aged drive of the same write
//! amplification.
//!
//! **Parameters and source.** `start`: extents, or a share of the lane's extents. FAST'17
//! section 6.1 gets the same by an unaged drive.
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
    /// At and below this many free extents a lane collects.
    ///
    /// - Range: at least 1
    pub start: Level,
}

impl Default for Config {
    fn default() -> Config {
        Config { start: Level::Count(4) }
    }
}

/// The limit.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Policy {
    start: u32,
}

impl Policy {
    /// Refused when `start` is 0.
    pub fn new(c: &Config, x: &PolicyContext) -> Result<Policy, String> {
        let start = c.start.of(x.extents_per_lane);
        if start == 0 {
            return Err("policy.gc_schedule.instant.start is 0 extents; it is at least 1".into());
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
