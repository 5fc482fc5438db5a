//! Rotating: one collecting plane in each group, so that reads can always be rebuilt from parity.
//!
//! **What it does.** A lane starts a collection when its free extents fall to `start` and no other
//! lane of its plane group collects. A collection under way never yields. `mode` says what happens
//! when this frees too little space. With `yielding`, a lane at or below `hard` collects beside
//! others of its group (counted as `rotation_broken`). With `forced` it never does. With `dynamic`
//! it does while at least 30 % of all lanes are at or below `hard` and one collection at a time per
//! group frees pages more slowly than they are written. At `stop` host writes to the lane wait.
//! Above `hard`, a lane starts collecting only after all reconstruction reads sent to it have
//! finished. (They were sent to it because another lane of the group collected.) Otherwise they
//! would wait for this collection, and a reconstruction read is not itself rebuilt.
//!
//! **Why it matters for the tail.** One parity can replace one busy plane of a stripe. If two are
//! busy, reads of both wait.
//!
//! **Parameters and source.** `start`, `hard`, `stop`: extents, or shares of the lane's extents;
//! `wait_for_channel_above`: above this many free extents a collection starts only while no host
//! operation uses its channel or waits for it, and collections that wait start in the order in which they
//! began to wait (the authors' simulator: 10 %; the paper never waits: 100 %). Yan et al., FAST'17 section 4.4 and Figure 11; `dynamic` after the TOS'17 version
//! and the authors' simulator.
//!
//! **Left out.** The order in which the lanes of a group collect: where they do not wait for their channel,
//! the one with the least free space goes first.
//!
//! **Checked by** `policy_laws`, `policy_decisions`, `rain` (never two while rotation holds).

use super::threshold::{ALWAYS, limits};
use super::{GcSchedule, PolicyContext, SpaceView};
use serde::{Deserialize, Serialize};
use tailcut_units::quantity::Level;

/// What happens when one collection at a time per group frees too little.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Mode {
    /// A lane at or below `hard` collects beside others of its group.
    Yielding,
    /// Never more than one lane of a group collects.
    Forced,
    /// As `yielding`, but only while many lanes are at or below `hard` and rotation does not keep
    /// up with the writes.
    Dynamic,
}

/// The limits: free extents of a lane, or shares of its extents.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    /// A collection starts at or below this many free extents, if no other lane of the group
    /// collects.
    ///
    /// - Range: at least 1; at least `hard`
    pub start: Level,
    /// At or below this many free extents a collection may start beside others of the group: see
    /// `mode`.
    ///
    /// - Range: at least 1; at most `start`, at least `stop`
    pub hard: Level,
    /// At or below this many free extents host writes to the lane wait.
    ///
    /// - Range: at least 1; at most `hard`
    pub stop: Level,
    /// What happens at or below `hard`.
    pub mode: Mode,
    /// Above this many free extents a collection starts only while no host operation uses its channel or
    /// waits for it. A program whose data are in its die does not.
    pub wait_for_channel_above: Level,
}

impl Default for Config {
    fn default() -> Config {
        Config {
            start: Level::Count(4),
            hard: Level::Count(2),
            stop: Level::Count(1),
            mode: Mode::Yielding,
            wait_for_channel_above: ALWAYS,
        }
    }
}

/// The limits in extents, and the mode.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Policy {
    start: u32,
    hard: u32,
    stop: u32,
    mode: Mode,
    wait_for_channel_above: u32,
}

impl Policy {
    /// Build the policy; an error if the limits are out of order, or without plane groups.
    pub fn new(c: &Config, x: &PolicyContext) -> Result<Policy, String> {
        let (start, hard) = limits(c.start, c.hard, "rotating", x)?;
        let (_, stop) = limits(c.hard, c.stop, "rotating", x).map_err(|_| {
            "policy.gc_schedule.rotating.stop is 0 or above hard: writes would stop before collections of one group may run at the same time".to_string()
        })?;
        if x.groups == 0 {
            return Err(
                "policy.gc_schedule.rotating needs plane groups to rotate in: set policy.redundancy to rain"
                    .into(),
            );
        }
        let wait_for_channel_above = c.wait_for_channel_above.of(x.extents_per_lane);
        Ok(Policy { start, hard, stop, mode: c.mode, wait_for_channel_above })
    }
}

impl GcSchedule for Policy {
    #[inline]
    fn start(&self, view: &SpaceView) -> bool {
        let held_back = view.channel_active && view.free > self.wait_for_channel_above
            || view.rebuilds_here && view.free > self.hard;
        if view.free > self.start || held_back {
            return false;
        }
        let out_of_turn = view.free <= self.hard
            && match self.mode {
                Mode::Yielding => true,
                Mode::Forced => false,
                // 30 % of the lanes, as in the authors' simulator.
                Mode::Dynamic => {
                    u64::from(view.urgent_lanes) * 10 >= u64::from(view.lanes) * 3 && !view.keeps_up
                }
            };
        view.group_collecting == 0 || out_of_turn
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
        self.stop
    }
    fn heeds_channel(&self) -> bool {
        self.wait_for_channel_above < self.start
    }
    fn rotates(&self) -> bool {
        true
    }
}
