//! Static striping over dies; the planes of a die in turn.
//!
//! **What it does.** Distributes consecutive pages of the address space over the dies, in a fixed
//! order of channel (C), way or chip (W) and die (D); the first letter varies fastest. When a page
//! leaves the buffer, it goes to the plane of its die that the fewest pages have gone to, so that
//! the planes are written in turn. A plane without room is skipped, and catches up when it has room
//! again.
//!
//! **Why it matters for the tail.** The planes of a die fill at the same rate. So their programs
//! are for the same page index and may join (`ftl.join_programs`), and their collections start
//! together and may join too. Under `static` random writes fill the planes at different rates.
//!
//! **Parameters and source.** `order`: a permutation of the letters C, W, D. The authors' simulator
//! of ATC'19: a page that leaves for a chip goes to the next plane in that order.
//!
//! **Left out.** Nothing.
//!
//! **Checked by** `policy_laws`, `placement_die`.

use super::fixed::Striping;
use super::{LaneView, Placement, PolicyContext};
use crate::address::Lpn;
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

/// The lanes in striping order, planes last. The address of a unit fixes only its die.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Policy {
    striping: Striping,
    planes: u32,
}

impl Policy {
    /// Build the policy; an error if `order` is not a permutation of `CWD`.
    pub fn new(c: &Config, x: &PolicyContext) -> Result<Policy, String> {
        Ok(Policy { striping: Striping::new(&c.order, "CWD", "die", x)?, planes: x.plane_lanes })
    }
}

impl Placement for Policy {
    fn pool_lanes(&self) -> u32 {
        self.planes
    }
    #[inline]
    fn pool(&self, lpn: Lpn) -> u32 {
        self.striping.lane(lpn) / self.planes
    }
    #[inline]
    fn lane(&mut self, pool: u32, view: &LaneView<'_>) -> u32 {
        let first = pool * self.planes;
        let level = |&lane: &u32| {
            let l = lane as usize;
            (!view.load[l].has_room(), view.written[l])
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
