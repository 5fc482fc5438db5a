//! How long the lanes of each group collected: whether their turns were kept.

use super::drive::Device;
use super::medium::Medium;
use crate::observer::Observer;
use serde::{Deserialize, Serialize};
use tailcut_units::SimTime;

/// One group of lanes, of which one should collect at a time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GroupTurns {
    /// Lanes that collect now.
    pub collecting: u32,
    /// Most that collected at once.
    pub most: u32,
    /// The time of all its collections together, ns.
    pub lane_ns: u64,
}

#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
struct Turn {
    /// When the number of collecting lanes changed last, and their time up to then, ns.
    since: u64,
    lane_ns: u64,
    most: u32,
}

/// All groups since counting began.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Turns {
    groups: Vec<Turn>,
    /// Most lanes of one group at once since [`Device::most_in_group`] was asked.
    peak: u32,
}

impl Turns {
    pub fn new(groups: u32) -> Turns {
        Turns { groups: vec![Turn::default(); groups as usize], peak: 0 }
    }

    /// At `now`, `collecting` lanes of a group become `then`.
    #[inline]
    pub fn change(&mut self, group: usize, collecting: u32, then: u32, now: u64) {
        let turn = &mut self.groups[group];
        turn.lane_ns += u64::from(collecting) * (now - turn.since);
        turn.since = now;
        turn.most = turn.most.max(then);
        self.peak = self.peak.max(then);
    }

    /// Count anew, with the lanes of each group that collect now.
    pub fn reset(&mut self, collecting: &[u32], now: u64) {
        for (turn, &n) in self.groups.iter_mut().zip(collecting) {
            *turn = Turn { since: now, lane_ns: 0, most: n };
        }
        self.peak = collecting.iter().copied().max().unwrap_or(0);
    }
}

impl<O: Observer, M: Medium> Device<O, M> {
    /// What each group of lanes has done up to `at`, a time after the last event and not
    /// after the next; nothing without parity.
    pub fn group_turns(&self, at: SimTime) -> impl Iterator<Item = GroupTurns> + '_ {
        let s = &self.state;
        s.turns.groups.iter().zip(&s.stripes.collecting).map(move |(turn, &collecting)| GroupTurns {
            collecting,
            most: turn.most,
            lane_ns: turn.lane_ns + u64::from(collecting) * at.0.saturating_sub(turn.since),
        })
    }

    /// Most lanes of one group that collected at once since this was asked last.
    pub fn most_in_group(&mut self) -> u32 {
        let s = &mut self.state;
        let now = s.stripes.collecting.iter().copied().max().unwrap_or(0);
        std::mem::replace(&mut s.turns.peak, now)
    }
}
