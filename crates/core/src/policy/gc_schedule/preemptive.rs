//! Preemptive: between page moves a collection yields to host work.
//!
//! **What it does.** As `threshold`, but above the hard limit a collection starts and
//! moves its next page only while no host operation waits or runs on the lane's dies; at
//! or below it, it runs on.
//!
//! **Why it matters for the tail.** A host request waits for one page move at most
//! instead of a whole collection, as long as free space lasts.
//!
//! **Parameters and source.** `start`, `hard`: extents, or shares of the lane's extents.
//! Lee et al. (TCAD'13) as PGC; the baseline of ATC'19.
//!
//! **Left out.** Merging a request with the page being moved; the four states of Lee et
//! al. for writes.
//!
//! **Checked by** `policy_laws`.

use super::threshold::limits;
use super::{GcSchedule, PolicyContext, SpaceView};
use serde::{Deserialize, Serialize};
use tailcut_units::quantity::Level;

/// Both limits: free extents of a lane, or a share of its extents.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    /// At and below this many free extents a collection starts.
    pub start: Level,
    /// At and below this many free extents a collection yields no more.
    pub hard: Level,
}

impl Default for Config {
    fn default() -> Config {
        Config { start: Level::Count(4), hard: Level::Count(1) }
    }
}

/// The two limits.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Policy {
    start: u32,
    hard: u32,
}

impl Policy {
    /// Refused when `hard` is 0 or above `start`.
    pub fn new(c: &Config, x: &PolicyContext) -> Result<Policy, String> {
        let (start, hard) = limits(c.start, c.hard, "preemptive", x)?;
        Ok(Policy { start, hard })
    }

    #[inline]
    fn may_run(&self, view: &SpaceView) -> bool {
        !view.host_active || view.free <= self.hard
    }
}

impl GcSchedule for Policy {
    #[inline]
    fn start(&mut self, view: &SpaceView) -> bool {
        view.free <= self.start && self.may_run(view)
    }
    #[inline]
    fn proceed(&mut self, view: &SpaceView) -> bool {
        self.may_run(view)
    }
    #[inline]
    fn urgent(&mut self, view: &SpaceView) -> bool {
        view.free <= self.hard
    }
    #[inline]
    fn reserve(&mut self) -> u32 {
        1
    }
}
