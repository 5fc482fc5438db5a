//! Static striping: the address alone decides the lane.
//!
//! **What it does.** Distributes consecutive pages of the address space over the lanes, in a fixed
//! order of channel (C), way or chip (W), die (D) and plane (P); the first letter varies fastest.
//!
//! **Why it matters for the tail.** Reads of neighbouring addresses go to different dies; reads of
//! a hot address always go to the same one.
//!
//! **Parameters and source.** `order`: a permutation of the letters C, W, D, P, as in the MQSim
//! configuration (Hu et al., ICS'11, compare all 24). Letters that an extent spans have no effect.
//!
//! **Left out.** Nothing.
//!
//! **Checked by** `policy_laws`: every lane gets the same share.

use super::{LaneView, Placement, PolicyContext};
use crate::address::Lpn;
use serde::{Deserialize, Serialize};

/// The striping order.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    /// The striping order, fastest first: channel (`C`), way (`W`), die (`D`), plane (`P`).
    ///
    /// - Range: each of the letters C, W, D and P once
    pub order: String,
}

impl Default for Config {
    fn default() -> Config {
        Config { order: "CWDP".to_string() }
    }
}

/// The lanes in striping order.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Policy {
    striping: Striping,
}

impl Policy {
    /// Build the policy; an error if `order` is not a permutation of `CWDP`.
    pub fn new(c: &Config, x: &PolicyContext) -> Result<Policy, String> {
        Ok(Policy { striping: Striping::new(&c.order, "CWDP", "static", x)? })
    }
}

impl Placement for Policy {
    fn pool_lanes(&self) -> u32 {
        1
    }
    #[inline]
    fn pool(&self, lpn: Lpn) -> u32 {
        self.striping.lane(lpn)
    }
    #[inline]
    fn lane(&mut self, pool: u32, _: &LaneView<'_>) -> u32 {
        pool
    }
    fn chunk(&self) -> u32 {
        self.striping.chunk
    }
    fn order(&self) -> Vec<u32> {
        self.striping.order.clone()
    }
}

/// Assigns consecutive chunks of the address space to the lanes, in a fixed order that repeats.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Striping {
    /// Consecutive mapping units that go to the same lane.
    pub chunk: u32,
    /// The lanes in the order of the chunks.
    pub order: Vec<u32>,
}

impl Striping {
    /// Build the striping in the order of `letters`; the first letter varies fastest. Planes come
    /// last if they have no letter in `all`. An error if `letters` is not a permutation of `all`.
    pub fn new(letters: &str, all: &str, member: &str, x: &PolicyContext) -> Result<Striping, String> {
        let sorted = |s: &str| {
            let mut letters: Vec<char> = s.chars().collect();
            letters.sort_unstable();
            letters
        };
        if sorted(letters) != sorted(all) {
            return Err(format!(
                "policy.placement.{member}.order is `{letters}`; it takes each of the letters {} once",
                all.split("").filter(|l| !l.is_empty()).collect::<Vec<_>>().join(", ")
            ));
        }
        if x.lanes == 1 {
            return Ok(Striping { chunk: x.units_per_write, order: vec![0] });
        }
        // Lane numbers count channel-major: ((channel, chip, die), plane).
        let size = |letter| match letter {
            'C' => (x.channels, x.chips * x.dies * x.plane_lanes),
            'W' => (x.chips, x.dies * x.plane_lanes),
            'D' => (x.dies, x.plane_lanes),
            _ => (x.plane_lanes, 1),
        };
        let planes = if all.contains('P') { "" } else { "P" };
        let axes: Vec<(u32, u32)> = letters.chars().chain(planes.chars()).map(size).collect();
        let lane = |mut chunk: u32| {
            axes.iter().fold(0, |lane, &(count, stride)| {
                let part = chunk % count;
                chunk /= count;
                lane + part * stride
            })
        };
        Ok(Striping { chunk: x.units_per_page, order: (0..x.lanes).map(lane).collect() })
    }

    /// The lane of a mapping unit.
    #[inline]
    pub fn lane(&self, lpn: Lpn) -> u32 {
        self.order[(lpn.0 / self.chunk) as usize % self.order.len()]
    }
}
