//! Rotating: one collecting plane in each group, so that parity can always go round it.
//!
//! **What it does.** A lane starts a collection when its free extents fall to `start` and no
//! other lane of its plane group collects; one under way always goes on. What happens when
//! that does not free enough is `mode`: `yielding` lets a lane at or below `hard` collect
//! beside others of its group (counted as `rotation_broken`), `forced` never does, and
//! `dynamic` does while at least 30 % of all lanes are at `hard` and collecting in turn frees
//! pages more slowly than they are written. At `stop` host writes to the lane wait.
//! Above `hard` a lane's turn begins only when the reads are gone that were sent to it to go
//! round the collection before: they would stand behind this one, and nothing rebuilds them.
//!
//! **Why it matters for the tail.** One parity can go round one busy plane; with two, reads
//! of either wait.
//!
//! **Parameters and source.** `start`, `hard`, `stop`: extents, or shares of the lane's
//! extents; `wait_for_channel_above`: above so many free extents a collection starts only
//! while no host operation waits or runs on its channel (the authors' simulator: 10 %; the
//! paper waits for nothing, 100 %). Yan et al., FAST'17 section 4.4 and Figure 11;
//! `dynamic` after the TOS'17 version and the authors' simulator.
//!
//! **Left out.** The order in which the lanes of a group take turns: the one with the least
//! free space goes first.
//!
//! **Checked by** `policy_laws`, `rain` (never two while rotation holds).

use super::threshold::{ALWAYS, limits};
use super::{GcSchedule, PolicyContext, SpaceView};
use serde::{Deserialize, Serialize};
use tailcut_units::quantity::Level;

/// What happens when collecting in turn frees too little.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Mode {
    /// A lane at `hard` collects beside others.
    Yielding,
    /// Never more than one lane of a group collects.
    Forced,
    /// As `yielding`, while many lanes are at `hard` and turns do not keep up.
    Dynamic,
}

/// The limits: free extents of a lane, or shares of its extents.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    /// At and below this many free extents a collection starts, in its turn.
    ///
    /// - Range: at least 1; at least `hard`
    pub start: Level,
    /// At and below this many free extents a collection may start out of turn.
    ///
    /// - Range: at least 1; at most `start`, at least `stop`
    pub hard: Level,
    /// At and below this many free extents host writes to the lane wait.
    ///
    /// - Range: at least 1; at most `hard`
    pub stop: Level,
    /// What happens at and below `hard`.
    pub mode: Mode,
    /// Above this many free extents a collection starts only while its channel is free of
    /// host operations.
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

/// The limits in extents.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Policy {
    start: u32,
    hard: u32,
    stop: u32,
    mode: Mode,
    wait_for_channel_above: u32,
}

impl Policy {
    /// Refused when the limits are out of order, or without groups.
    pub fn new(c: &Config, x: &PolicyContext) -> Result<Policy, String> {
        let (start, hard) = limits(c.start, c.hard, "rotating", x)?;
        let (_, stop) = limits(c.hard, c.stop, "rotating", x).map_err(|_| {
            "policy.gc_schedule.rotating.stop lies at 0 or above hard: writes would stop before collections may run side by side".to_string()
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
