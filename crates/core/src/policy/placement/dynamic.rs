//! Dynamic placement: each write unit goes to the least loaded lane.
//!
//! **What it does.** Takes the lane with the fewest host programs queued or under way. The search
//! starts after the lane used last, so that an idle drive is written round-robin, channels first. A
//! lane without room is skipped.
//!
//! **Why it matters for the tail.** Writes avoid lanes that collect or erase, so they wait less. A
//! read finds its data on the lane that was least loaded at the time of the write.
//!
//! **Parameters and source.** None. Dynamic allocation of MQSim-E and of most firmware; with
//! `ftl.extent = 'line'` there is one lane, and the line itself is written round-robin.
//!
//! **Left out.** Separate streams by hotness.
//!
//! **Checked by** `policy_laws`.

use super::{LaneLoad, LaneView, Placement, PolicyContext};
use crate::address::Lpn;
use serde::{Deserialize, Serialize};

/// No parameters.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {}

/// The search order, and the position where the next search begins.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Policy {
    chunk: u32,
    /// All lanes; the channel varies fastest.
    order: Vec<u32>,
    next: u32,
}

impl Policy {
    /// Always possible.
    pub fn new(_: &Config, x: &PolicyContext) -> Result<Policy, String> {
        let per_channel = (x.lanes / x.channels).max(1);
        let order = if x.lanes == 1 {
            vec![0]
        } else {
            (0..x.lanes).map(|i| i % x.channels * per_channel + i / x.channels).collect()
        };
        Ok(Policy { chunk: x.units_per_write, order, next: 0 })
    }
}

impl Placement for Policy {
    fn pool_lanes(&self) -> u32 {
        self.order.len() as u32
    }
    #[inline]
    fn pool(&self, _: Lpn) -> u32 {
        0
    }
    #[inline]
    fn lane(&mut self, _: u32, view: &LaneView<'_>) -> u32 {
        let (before, after) = self.order.split_at(self.next as usize);
        let mut best = after[0];
        let mut steps = 0;
        for (i, &lane) in after.iter().chain(before).enumerate() {
            if i == 0 || view.load[lane as usize] < view.load[best as usize] {
                (best, steps) = (lane, i as u32);
                if view.load[lane as usize] == LaneLoad::default() {
                    break;
                }
            }
        }
        self.next = (self.next + steps + 1) % self.order.len() as u32;
        best
    }
    fn chunk(&self) -> u32 {
        self.chunk
    }
    fn order(&self) -> Vec<u32> {
        self.order.clone()
    }
}
