//! Preemptive: between page moves a collection yields to host work.
//!
//! **What it does.** As `threshold`, but above the hard limit a collection starts, or moves its
//! next page, only while no host operation is queued or running in its scope. At or below the hard
//! limit, with two `states`, it does not yield. With four states, as Lee et al. have them, S0 is no
//! collection and S1 is the state above the hard limit. In S2, at or below the limit, host programs
//! wait until the collection ends, while reads still preempt it. With `high_priority_writes`, a
//! host program that waits puts the lane into S3, in which nothing preempts the collection until it
//! ends.
//!
//! **Why it matters for the tail.** While free space lasts, a host request waits for at most one
//! page move or one erase instead of a whole collection. When free space runs out, the postponed
//! collections all run at the same time.
//!
//! **Parameters and source.** `start` (their soft limit), `hard`: extents, or shares of the lane's
//! extents; `states`: two or four; `high_priority_writes`. Lee et al. (TCAD'13) call it PGC. With
//! two states it is the baseline of ATC'19. FAST'17 section 6.2 has it non-preemptive past the
//! limit.
//!
//! **Left out.** Merging a request with the page being moved; preemption between the read and the
//! program of one move. Here either all host writes have high priority or none. In the last free
//! extent a collection yields to nothing, so that writes can complete.
//!
//! **Checked by** `policy_laws`, `policy_decisions`, golden timelines.

use super::threshold::limits;
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
    /// At or below this many free extents a collection no longer yields, or yields only to reads:
    /// see `states`.
    ///
    /// - Range: at least 1; at most `start`
    pub hard: Level,
    /// What happens at or below `hard`.
    pub states: States,
    /// Whether nothing preempts a collection at or below `hard` while a host program waits for it.
    ///
    /// - Range: `true` needs `states = "four"`
    pub high_priority_writes: bool,
}

/// The number of states that a lane can be in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum States {
    /// Collections yield to every host operation above `hard`, and to none at or below it.
    Two,
    /// Above `hard` as `two`. At or below `hard` collections yield to reads, while writes wait.
    Four,
}

impl Default for Config {
    fn default() -> Config {
        Config {
            start: Level::Count(4),
            hard: Level::Count(1),
            states: States::Two,
            high_priority_writes: false,
        }
    }
}

/// The limits in extents, and the other parameters.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Policy {
    start: u32,
    hard: u32,
    states: States,
    high_priority_writes: bool,
}

impl Policy {
    /// Build the policy; an error if `hard` is 0 extents or above `start`, or if
    /// `high_priority_writes` is set with two states.
    pub fn new(c: &Config, x: &PolicyContext) -> Result<Policy, String> {
        let (start, hard) = limits(c.start, c.hard, "preemptive", x)?;
        if c.high_priority_writes && c.states == States::Two {
            return Err("policy.gc_schedule.preemptive.high_priority_writes needs states = \"four\"".into());
        }
        Ok(Policy { start, hard, states: c.states, high_priority_writes: c.high_priority_writes })
    }

    #[inline]
    fn may_run(&self, view: &SpaceView) -> bool {
        match self.states {
            _ if view.free > self.hard => !view.host_active,
            States::Two => true,
            // S3, or at most one free extent is left.
            States::Four if self.high_priority_writes && view.host_programs || view.free <= 1 => true,
            States::Four => !view.host_reads,
        }
    }
}

impl GcSchedule for Policy {
    #[inline]
    fn start(&self, view: &SpaceView) -> bool {
        view.free <= self.start && self.may_run(view)
    }
    #[inline]
    fn proceed(&self, view: &SpaceView) -> bool {
        self.may_run(view)
    }
    #[inline]
    fn urgent(&self, view: &SpaceView) -> bool {
        view.free <= self.hard
    }
    #[inline]
    fn reserve(&self) -> u32 {
        1
    }
    fn may_close_programs(&self) -> bool {
        self.states == States::Four
    }
    #[inline]
    fn closes_programs(&self, view: &SpaceView) -> bool {
        self.states == States::Four && view.free <= self.hard
    }
}
