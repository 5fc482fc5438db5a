//! Collection time of each group of lanes (those that share parity stripes). It shows whether the lanes of a group
//! collected one at a time, so that their stripes could always be read without the collecting lane.

use crate::device::drive::Device;
use crate::medium::Medium;
use crate::observer::Observer;
use serde::{Deserialize, Serialize};
use tailcut_units::SimTime;

/// The collections of one group of lanes. With rotation, one lane of a group collects at a time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GroupTime {
    /// Number of lanes collecting at present.
    pub collecting: u32,
    /// Largest number of lanes that collected at the same time.
    pub most: u32,
    /// Sum of the durations of all collections of the group, ns.
    pub lane_ns: u64,
}

#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
struct Group {
    /// Number of lanes collecting at present.
    collecting: u32,
    /// Largest number of lanes that collected at the same time.
    most: u32,
    /// When the number of collecting lanes changed last, ns.
    since: u64,
    /// Sum of the collection times of the lanes until `since`, ns.
    lane_ns: u64,
}

/// All groups, since the last reset.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(in crate::device) struct Groups {
    groups: Vec<Group>,
    /// Largest number of lanes of one group that collected at the same time since the last call of
    /// [`Device::most_in_group`].
    peak: u32,
}

impl Groups {
    pub fn new(groups: u32) -> Groups {
        Groups { groups: vec![Group::default(); groups as usize], peak: 0 }
    }

    /// Number of lanes of a group that are collecting.
    #[inline]
    pub fn collecting(&self, group: u32) -> u32 {
        self.groups[group as usize].collecting
    }

    /// Largest number of lanes of one group that are collecting at present.
    pub fn most_collecting(&self) -> u32 {
        self.groups.iter().map(|g| g.collecting).max().unwrap_or(0)
    }

    /// Count the start or the end of a collection in a lane of a group, at `now`.
    #[inline]
    pub fn count(&mut self, group: u32, begins: bool, now: u64) {
        let g = &mut self.groups[group as usize];
        g.lane_ns += u64::from(g.collecting) * (now - g.since);
        g.since = now;
        g.collecting = if begins { g.collecting + 1 } else { g.collecting - 1 };
        g.most = g.most.max(g.collecting);
        self.peak = self.peak.max(g.collecting);
    }

    /// Restart the counts at `now`, with the lanes that are collecting then.
    pub fn reset(&mut self, now: u64) {
        for g in &mut self.groups {
            *g = Group { collecting: g.collecting, most: g.collecting, since: now, lane_ns: 0 };
        }
        self.peak = self.most_collecting();
    }
}

impl<O: Observer, M: Medium> Device<O, M> {
    /// The collection times of each group of lanes up to `at`. This time must not be before the last event or after the
    /// next one. Empty without parity.
    pub fn group_times(&self, at: SimTime) -> impl Iterator<Item = GroupTime> + '_ {
        self.state.gc.groups.groups.iter().map(move |g| GroupTime {
            collecting: g.collecting,
            most: g.most,
            lane_ns: g.lane_ns + u64::from(g.collecting) * at.0.saturating_sub(g.since),
        })
    }

    /// Largest number of lanes of one group that collected at the same time since the last call.
    pub fn most_in_group(&mut self) -> u32 {
        let groups = &mut self.state.gc.groups;
        let now = groups.most_collecting();
        std::mem::replace(&mut groups.peak, now)
    }
}
