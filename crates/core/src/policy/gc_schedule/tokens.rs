//! Tokens: host writes pay a collection for each program, in tokens that copied pages earn.
//!
//! **What it does.** A lane starts a collection as under `threshold`. Each collection has tokens. It begins
//! with `most` of them. Each page that it copies adds invalid / valid pages of its victim, up to `most`, so
//! that copying all valid pages earns as many tokens as the collection frees pages. A host program of the lane
//! pays one token when it ends. While a token is left, the collection moves no page as long as a host program
//! is queued or running in its scope. While none is left, host programs of the scope wait, and the collection
//! goes on until a copied page has earned one. At or below `hard` the collection yields to nothing, and host
//! writes to the lane wait. Reads neither pay nor wait for tokens. An erase holds back no program for them.
//!
//! **Why it matters for the tail.** Writes and collections share a plane in the proportion in which the
//! collection frees pages for the writes. A write waits for a few page moves instead of a whole collection,
//! and the drive does not run out of free blocks.
//!
//! **Parameters and source.** `start`, `hard`: extents, or shares of the lane's extents; `most`: tokens. The
//! simulator of the AERO authors (ASPLOS'24, branch impl_lazy_erase) refills a victim's tokens by invalid /
//! valid pages with each copied page, caps them, and lets a user write to a collecting plane pay one. It has
//! read and write tokens of 2, from which the default of `most` is taken.
//!
//! **Left out.** The source leaves open what a read token does: reads pay nothing here. It leaves open what
//! a collection begins with: here `most`. It leaves open when a write pays: here at its end, so that the next
//! program of a queue may begin on the last token. Its copied pages are reads and programs with different
//! ranks; here `schedule` ranks operations.
//!
//! **Checked by** `policy_laws`, `policy_decisions`, golden timelines.

use super::threshold::limits;
use super::{GcSchedule, PolicyContext, SpaceView, TOKEN};
use serde::{Deserialize, Serialize};
use tailcut_units::quantity::Level;

/// Both limits (free extents of a lane, or a share of its extents), and the most tokens.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    /// A collection starts at or below this many free extents.
    ///
    /// - Range: at least 1; at least `hard`
    pub start: Level,
    /// At or below this many free extents a collection yields to nothing, and host writes to the lane wait.
    ///
    /// - Range: at least 1; at most `start`
    pub hard: Level,
    /// Most tokens of a collection, with which it begins.
    ///
    /// - Range: 1 to 1000000
    pub most: u32,
}

impl Default for Config {
    fn default() -> Config {
        Config { start: Level::Count(4), hard: Level::Count(1), most: 2 }
    }
}

/// The limits in extents, and the most tokens.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Policy {
    start: u32,
    hard: u32,
    most: u32,
}

impl Policy {
    /// Build the policy; an error if `hard` is 0 extents or above `start`, or if there are no tokens or too
    /// many.
    pub fn new(c: &Config, x: &PolicyContext) -> Result<Policy, String> {
        let (start, hard) = limits(c.start, c.hard, "tokens", x)?;
        if !(1..=1_000_000).contains(&c.most) {
            return Err(format!("policy.gc_schedule.tokens.most is {}: 1 to 1000000 tokens", c.most));
        }
        Ok(Policy { start, hard, most: c.most })
    }
}

impl GcSchedule for Policy {
    #[inline]
    fn start(&self, view: &SpaceView) -> bool {
        view.free <= self.start
    }
    #[inline]
    fn proceed(&self, view: &SpaceView) -> bool {
        view.free <= self.hard || !view.host_writes || view.tokens < TOKEN
    }
    #[inline]
    fn urgent(&self, view: &SpaceView) -> bool {
        view.free <= self.hard
    }
    #[inline]
    fn reserve(&self) -> u32 {
        self.hard
    }
    fn may_close_programs(&self) -> bool {
        true
    }
    #[inline]
    fn closes_programs(&self, view: &SpaceView) -> bool {
        view.tokens < TOKEN
    }
    fn most_tokens(&self) -> u32 {
        self.most
    }
}
