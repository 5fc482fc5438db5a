//! How long the lanes of each group collected, which shows whether they collected one at a time.

use crate::device::drive::Device;
use crate::medium::Medium;
use crate::observer::Observer;
use serde::{Deserialize, Serialize};
use tailcut_units::SimTime;

/// The collections of one group of lanes, of which one lane should collect at a time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GroupTime {
    /// Lanes that collect now.
    pub collecting: u32,
    /// Largest number of lanes that collected at once.
    pub most: u32,
    /// Sum of the durations of all collections of the group, ns.
    pub lane_ns: u64,
}

#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
struct Group {
    /// Lanes that collect.
    collecting: u32,
    most: u32,
    /// When the number of collecting lanes changed last, and the sum of collection times up to
    /// then, ns.
    since: u64,
    lane_ns: u64,
}

/// All groups since counting began.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(in crate::device) struct Groups {
    groups: Vec<Group>,
    /// Largest number of lanes of one group that collected at once since the last call of
    /// [`Device::most_in_group`].
    peak: u32,
}

impl Groups {
    pub fn new(groups: u32) -> Groups {
        Groups { groups: vec![Group::default(); groups as usize], peak: 0 }
    }

    /// Number of lanes of a group that collect.
    #[inline]
    pub fn collecting(&self, group: u32) -> u32 {
        self.groups[group as usize].collecting
    }

    /// Largest number of lanes of one group that collect now.
    pub fn most_collecting(&self) -> u32 {
        self.groups.iter().map(|g| g.collecting).max().unwrap_or(0)
    }

    /// Count a lane of a group that begins to collect at `now`, or has ended.
    #[inline]
    pub fn count(&mut self, group: u32, begins: bool, now: u64) {
        let g = &mut self.groups[group as usize];
        g.lane_ns += u64::from(g.collecting) * (now - g.since);
        g.since = now;
        g.collecting = if begins { g.collecting + 1 } else { g.collecting - 1 };
        g.most = g.most.max(g.collecting);
        self.peak = self.peak.max(g.collecting);
    }

    /// Restart the count at `now`, with the lanes that collect then.
    pub fn reset(&mut self, now: u64) {
        for g in &mut self.groups {
            *g = Group { collecting: g.collecting, most: g.collecting, since: now, lane_ns: 0 };
        }
        self.peak = self.most_collecting();
    }
}

impl<O: Observer, M: Medium> Device<O, M> {
    /// The collection times of each group of lanes up to `at`, which must not be before the last
    /// event or after the next. Empty without parity.
    pub fn group_times(&self, at: SimTime) -> impl Iterator<Item = GroupTime> + '_ {
        self.state.gc.groups.groups.iter().map(move |g| GroupTime {
            collecting: g.collecting,
            most: g.most,
            lane_ns: g.lane_ns + u64::from(g.collecting) * at.0.saturating_sub(g.since),
        })
    }

    /// Largest number of lanes of one group that collected at once since the last call.
    pub fn most_in_group(&mut self) -> u32 {
        let groups = &mut self.state.gc.groups;
        let now = groups.most_collecting();
        std::mem::replace(&mut groups.peak, now)
    }
}
