//! How long the lanes of each group collected: whether they collected one at a time.

use crate::device::drive::Device;
use crate::device::medium::Medium;
use crate::observer::Observer;
use serde::{Deserialize, Serialize};
use tailcut_units::SimTime;

/// One group of lanes, of which one should collect at a time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GroupTime {
    /// Lanes that collect now.
    pub collecting: u32,
    /// Most that collected at once.
    pub most: u32,
    /// The time of all its collections together, ns.
    pub lane_ns: u64,
}

#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
struct Group {
    /// Lanes that collect.
    collecting: u32,
    most: u32,
    /// When the number of collecting lanes changed last, and their time up to then, ns.
    since: u64,
    lane_ns: u64,
}

/// All groups since counting began.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(in crate::device) struct Groups {
    groups: Vec<Group>,
    /// Most lanes of one group at once since [`Device::most_in_group`] was asked.
    peak: u32,
}

impl Groups {
    pub fn new(groups: u32) -> Groups {
        Groups { groups: vec![Group::default(); groups as usize], peak: 0 }
    }

    /// Lanes of a group that collect.
    #[inline]
    pub fn collecting(&self, group: u32) -> u32 {
        self.groups[group as usize].collecting
    }

    /// Most lanes of one group that collect.
    pub fn most_collecting(&self) -> u32 {
        self.groups.iter().map(|g| g.collecting).max().unwrap_or(0)
    }

    /// A lane of a group begins to collect at `now`, or has ended.
    #[inline]
    pub fn count(&mut self, group: u32, begins: bool, now: u64) {
        let g = &mut self.groups[group as usize];
        g.lane_ns += u64::from(g.collecting) * (now - g.since);
        g.since = now;
        g.collecting = if begins { g.collecting + 1 } else { g.collecting - 1 };
        g.most = g.most.max(g.collecting);
        self.peak = self.peak.max(g.collecting);
    }

    /// Count from `now` on, with the lanes that collect.
    pub fn reset(&mut self, now: u64) {
        for g in &mut self.groups {
            *g = Group { collecting: g.collecting, most: g.collecting, since: now, lane_ns: 0 };
        }
        self.peak = self.most_collecting();
    }
}

impl<O: Observer, M: Medium> Device<O, M> {
    /// What each group of lanes has done up to `at`, a time after the last event and not
    /// after the next; nothing without parity.
    pub fn group_times(&self, at: SimTime) -> impl Iterator<Item = GroupTime> + '_ {
        self.state.gc.groups.groups.iter().map(move |g| GroupTime {
            collecting: g.collecting,
            most: g.most,
            lane_ns: g.lane_ns + u64::from(g.collecting) * at.0.saturating_sub(g.since),
        })
    }

    /// Most lanes of one group that collected at once since this was asked last.
    pub fn most_in_group(&mut self) -> u32 {
        let groups = &mut self.state.gc.groups;
        let now = groups.most_collecting();
        std::mem::replace(&mut groups.peak, now)
    }
}
