//! Preemptive: between page moves a collection yields to host work.
//!
//! **What it does.** As `threshold`, but above the hard limit a collection starts and moves its
//! next page only while no host operation waits or runs in its scope. At or below it, with
//! two `states` it runs on. With four states, as Lee et al. have them (S0: no collection;
//! S1: as above), in S2 host programs wait until the collection is over and reads go on
//! preempting it; and with `high_priority_writes` a program that waits puts it into S3, in
//! which all wait until it is over.
//!
//! **Why it matters for the tail.** A host request waits for one page move or one erase at
//! most instead of a whole collection, as long as free space lasts; then the collections put
//! off come all together.
//!
//! **Parameters and source.** `start` (their soft limit), `hard`: extents, or shares of the
//! lane's extents; `states`: two or four; `high_priority_writes`. Lee et al. (TCAD'13) as
//! PGC; with two states the baseline of ATC'19; FAST'17 section 6.2 has it non-preemptive
//! past the limit.
//!
//! **Left out.** Merging a request with the page being moved; preemption between the read and
//! the program of one move. Their high-priority writes are all or none here. In the last free
//! extent a collection yields to nothing, so that writes end.
//!
//! **Checked by** `policy_laws`, golden timelines.

use super::threshold::limits;
use super::{GcSchedule, PolicyContext, SpaceView};
use serde::{Deserialize, Serialize};
use tailcut_units::quantity::Level;

/// Both limits: free extents of a lane, or a share of its extents.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    /// At and below this many free extents a collection starts.
    ///
    /// - Range: at least 1; at least `hard`
    pub start: Level,
    /// At and below this many free extents a collection yields no more, or less: see `states`.
    ///
    /// - Range: at least 1; at most `start`
    pub hard: Level,
    /// What happens at and below `hard`.
    pub states: States,
    /// A host program that waits at or below `hard` lets nothing preempt the collection.
    ///
    /// - Range: `true` needs `states = "four"`
    pub high_priority_writes: bool,
}

/// The states a lane can be in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum States {
    /// Above `hard` collections yield to every host operation, at and below it to none.
    Two,
    /// Above `hard` as `two`; at and below it collections yield to reads, while writes wait.
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

/// The two limits.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Policy {
    start: u32,
    hard: u32,
    states: States,
    high_priority_writes: bool,
}

impl Policy {
    /// Refused when `hard` is 0 or above `start`, and for priorities without their state.
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
            // S3, and the last extent.
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
