//! Threshold: collect while free extents are at or below a limit.
//!
//! **What it does.** A lane starts a collection when its free extents fall to `start`, and collects
//! until they are above it. A collection that has started runs to its end. At `hard` host writes to
//! the lane wait for collection.
//!
//! **Why it matters for the tail.** Collections compete with host operations at any time, as in an
//! ordinary drive.
//!
//! **Parameters and source.** `start`, `hard`: extents, or shares of the lane's extents;
//! `wait_for_channel_above`: above this many free extents a collection starts only while no host
//! operation uses its channel or waits for it (100 %: it never waits). A program whose data are in its
//! die does not. Collections that wait for a channel start in the order in which they began to wait.
//! MQSim's GC threshold; ttFlash's authors start at 30 % and wait for the channel above 10 %, in this order.
//!
//! **Left out.** Idle-time collection.
//!
//! **Checked by** `policy_laws`, `policy_decisions`.

use super::{GcSchedule, PolicyContext, SpaceView};
use serde::{Deserialize, Serialize};
use tailcut_units::quantity::Level;

/// Both limits: free extents of a lane, or a share of its extents.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    /// A collection starts at or below this many free extents.
    ///
    /// - Range: at least 1; at least `hard`
    pub start: Level,
    /// At or below this many free extents host writes to the lane wait.
    ///
    /// - Range: at least 1; at most `start`
    pub hard: Level,
    /// Above this many free extents a collection starts only while no host operation uses its channel or
    /// waits for it. A program whose data are in its die does not.
    pub wait_for_channel_above: Level,
}

/// 100 % of the extents: free extents never exceed it, so a start never waits for its channel.
pub(super) const ALWAYS: Level = Level::Share(1_000_000);

impl Default for Config {
    fn default() -> Config {
        Config { start: Level::Count(4), hard: Level::Count(1), wait_for_channel_above: ALWAYS }
    }
}

/// The limits in extents.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Policy {
    start: u32,
    hard: u32,
    wait_for_channel_above: u32,
}

impl Policy {
    /// Build the policy; an error if `hard` is 0 extents or above `start`.
    pub fn new(c: &Config, x: &PolicyContext) -> Result<Policy, String> {
        let (start, hard) = limits(c.start, c.hard, "threshold", x)?;
        let wait_for_channel_above = c.wait_for_channel_above.of(x.extents_per_lane);
        Ok(Policy { start, hard, wait_for_channel_above })
    }
}

/// Both limits in extents. All members with two limits share this check: an error if `hard` is 0
/// extents or above `start`.
pub(super) fn limits(
    start: Level,
    hard: Level,
    member: &str,
    x: &PolicyContext,
) -> Result<(u32, u32), String> {
    let (s, h) = (start.of(x.extents_per_lane), hard.of(x.extents_per_lane));
    if h == 0 {
        return Err(format!(
            "policy.gc_schedule.{member}.hard is 0 extents; collection needs at least 1 free extent to copy into"
        ));
    }
    if h > s {
        return Err(format!(
            "policy.gc_schedule.{member}.hard ({h} extents) is above policy.gc_schedule.{member}.start ({s} extents): writes would stop before collection begins"
        ));
    }
    Ok((s, h))
}

impl GcSchedule for Policy {
    #[inline]
    fn start(&self, view: &SpaceView) -> bool {
        view.free <= self.start && !(view.channel_active && view.free > self.wait_for_channel_above)
    }
    #[inline]
    fn proceed(&self, _: &SpaceView) -> bool {
        true
    }
    #[inline]
    fn urgent(&self, view: &SpaceView) -> bool {
        view.free <= self.hard
    }
    #[inline]
    fn reserve(&self) -> u32 {
        self.hard
    }
    fn heeds_channel(&self) -> bool {
        self.wait_for_channel_above < self.start
    }
}
