//! Static striping over dies; the planes of a die in turn.
//!
//! **What it does.** Consecutive pages of the address space go round the dies in a fixed order of
//! channel (C), way or chip (W) and die (D); the first letter varies fastest. Inside its die a
//! page goes to the plane that least has been written to, when it leaves the buffer: each in
//! turn. A plane without room is passed over, and catches up when it has room again.
//!
//! **Why it matters for the tail.** The planes of a die fill at one pace, so their programs are
//! for one page index and may join (`ftl.join_programs`), and their collections come
//! together and may join too. Under `static` random writes fill them at different paces.
//!
//! **Parameters and source.** `order`: a permutation of the letters C, W, D. The authors'
//! simulator of ATC'19, as measured: the write frontiers of eight planes fill together.
//! That a page has no plane of its own is inferred from that.
//!
//! **Left out.** Nothing.
//!
//! **Checked by** `policy_laws`, `placement_die`.

use super::fixed::Striping;
use super::{LaneView, NO_ROOM, Placement, PolicyContext};
use serde::{Deserialize, Serialize};

/// The striping order of dies.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    /// The striping order, fastest first: channel (`C`), way (`W`), die (`D`).
    ///
    /// - Range: each of the letters C, W and D once
    pub order: String,
}

impl Default for Config {
    fn default() -> Config {
        Config { order: "CWD".to_string() }
    }
}

/// The lanes in striping order, planes last, of which a unit keeps its die only.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Policy {
    striping: Striping,
    planes: u32,
}

impl Policy {
    /// Refused when `order` is not a permutation of `CWD`.
    pub fn new(c: &Config, x: &PolicyContext) -> Result<Policy, String> {
        Ok(Policy { striping: Striping::new(&c.order, "CWD", "die", x)?, planes: x.plane_lanes })
    }
}

impl Placement for Policy {
    fn pool_lanes(&self) -> u32 {
        self.planes
    }
    #[inline]
    fn pool(&self, lpn: u32) -> u32 {
        self.striping.lane(lpn) / self.planes
    }
    #[inline]
    fn lane(&mut self, pool: u32, view: &LaneView<'_>) -> u32 {
        let first = pool * self.planes;
        let level = |&lane: &u32| {
            let l = lane as usize;
            (view.load[l] >= NO_ROOM, view.written[l])
        };
        (first..first + self.planes).min_by_key(level).unwrap_or(first)
    }
    fn levels(&self) -> bool {
        true
    }
    fn chunk(&self) -> u32 {
        self.striping.chunk
    }
    fn order(&self) -> Vec<u32> {
        self.striping.order.clone()
    }
}
