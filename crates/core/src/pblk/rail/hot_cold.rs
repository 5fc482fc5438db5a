//! RAIL-HC: users write to hot LUNs, and collection to cold ones.
//!
//! A hot line has the first LUNs: its data have parity, and its programs take turns. A cold line has the last LUNs, without
//! parity and without a gate: reads of cold data wait for programs. The share of hot LUNs follows from the write
//! amplification of the last sectors written, and holds for lines that are taken from then on. Nothing is copied: older
//! lines keep their LUNs and strides, so that reads go round LUNs that have become cold.
//!
//! The gate follows the strides of the open hot line. It covers all programs on its LUNs, those of a cold line too whose
//! LUNs were taken under another share. Collection writes to the hot line if there is no room for a cold one, and with
//! sectors of a line that is later than the open cold line: the last copy of a sector must be in the latest line
//! ([`super::super::lines::Lines::order`]).

use super::strides::Strides;
use crate::medium::Medium;
use crate::observer::{Change, Observer};
use crate::pblk::config::SplitBy;
use crate::pblk::drive::Pblk;
use crate::pblk::lines::{Group, Line, Lines, State};
use crate::pblk::ring::Heat;
use serde::{Deserialize, Serialize};
use tailcut_units::SimTime;

/// Sectors written after which the share of hot LUNs is looked at again; on a drive with less than eight times as many, an
/// eighth of its sectors.
const PERIOD: u64 = 1_000_000;

/// The share changes only by more than one LUN of so many: the two open lines meet at the same LUN then, and a line of
/// another share is rare.
const LEAST_CHANGE: u32 = 16;

/// Sectors written since the share was looked at last.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(in super::super) struct Mix {
    users: u64,
    collected: u64,
}

/// The fewest hot LUNs: an eighth of those in use, in whole strides.
pub(in super::super) fn least_hot(strides: &Strides) -> u32 {
    (strides.used() / 8).next_multiple_of(strides.width).max(strides.width)
}

/// The number of hot LUNs for a write amplification, in whole strides. `strides` are those of a drive whose LUNs are all
/// hot.
fn hot_luns(by: SplitBy, strides: &Strides, amplification: f64) -> u32 {
    let (width, parities) = (f64::from(strides.width), f64::from(strides.parities));
    let share = match by {
        SplitBy::Time => {
            let slower = width * width / ((width - parities) * parities);
            slower / (slower + amplification - 1.0)
        }
        SplitBy::Writes => 1.0 / amplification,
    };
    let all = f64::from(strides.used());
    let cold = libm::ceil(all * (1.0 - share) - 1e-9) as u32;
    let hot = strides.used().saturating_sub(cold);
    (hot - hot % strides.width).max(least_hot(strides))
}

impl Mix {
    /// Count sectors that are mapped. After `period` of them the write amplification is returned, without end if users have
    /// written nothing.
    #[inline]
    fn count(&mut self, users: u32, collected: u32, period: u64) -> Option<f64> {
        self.users += u64::from(users);
        self.collected += u64::from(collected);
        let all = self.users + self.collected;
        (all >= period).then(|| {
            let users = std::mem::take(self).users;
            all as f64 / users as f64
        })
    }
}

impl Lines {
    /// Which line takes a sector that collection moves from a line.
    #[inline]
    pub(in super::super) fn heat_of_move(&self, from: u32, open_cold: Option<u32>) -> Heat {
        match (self.split(), open_cold) {
            (None, _) => Heat::Hot,
            (Some(_), Some(open)) if self.order(from) > self.order(open) => Heat::Hot,
            // A cold line that begins later comes behind all that are closed now, and before the open hot one.
            (Some(_), None) if self.line(from).state == State::Open => Heat::Hot,
            (Some(_), _) => Heat::Cold,
        }
    }

    /// The victim of a list: of both kinds the line that frees most for what must move, and of two alike the cold one.
    pub(in super::super) fn best_of(&self, group: Group) -> Option<u32> {
        let hot = self.fewest_valid(Heat::Hot, group);
        if self.split().is_none() {
            return hot;
        }
        let (Some(hot), Some(cold)) = (hot, self.fewest_valid(Heat::Cold, group)) else {
            return hot.or_else(|| self.fewest_valid(Heat::Cold, group));
        };
        let [of_hot, of_cold] = [hot, cold].map(|line| self.line(line));
        let share = |a: &Line, b: &Line| u64::from(a.valid) * u64::from(b.sectors);
        Some(if share(of_hot, of_cold) < share(of_cold, of_hot) { hot } else { cold })
    }

    /// The line to collect of the kind that has fewer free lines, so that hot lines are freed as fast as users write and cold
    /// ones as fast as collection does; `has_next` says by kind whether it has a further line. If users have none, a hot
    /// line will do whose sectors are all valid, as long as a cold line can take them. Otherwise no line will do that
    /// is nearly all valid.
    pub(in super::super) fn scarce_victim(&self, has_next: [bool; 2]) -> Option<(Group, u32)> {
        let (split, [hot, cold]) = (self.split()?, has_next);
        let of = |heat: Heat, more: Option<Group>| {
            let mut groups = Group::FOR_SPACE.into_iter().chain(more);
            groups.find_map(|group| Some((group, self.fewest_valid(heat, group)?)))
        };
        if !hot {
            return of(Heat::Hot, cold.then_some(Group::Empty));
        }
        let [of_hot, of_cold] = self.free_of_kinds().map(u64::from);
        let fewer_hot = of_hot * u64::from(split.used - split.hot) < of_cold * u64::from(split.hot);
        let victim = of(if fewer_hot { Heat::Hot } else { Heat::Cold }, None);
        let pays = |line: &Line| u64::from(line.valid) * 8 < u64::from(line.sectors) * 7;
        victim.filter(|&(_, line)| split.hot < split.used && pays(self.line(line)))
    }
}

impl<O: Observer, M: Medium> Pblk<O, M> {
    /// Count sectors that are mapped, and look at the share of hot LUNs when it is time.
    #[inline]
    pub(in super::super) fn note_written(&mut self, users: u32, collected: u32) {
        let (Some(by), Some(strides)) = (self.shape.hot_cold, &self.shape.strides) else { return };
        let all = u64::from(self.shape.array.lines) * u64::from(self.shape.line_sectors);
        let s = &mut self.state;
        if let Some(amplification) = s.mix.count(users, collected, PERIOD.min(all / 8)) {
            let hot = hot_luns(by, strides, amplification);
            let differs = |now: u32| now.abs_diff(hot) * LEAST_CHANGE > strides.used();
            if s.lines.split().is_some_and(|split| differs(split.hot)) {
                s.lines.set_split(hot);
                let change = Change::HotShare { hot, cold: strides.used() - hot };
                // Ageing takes no time, which nobody observes.
                if s.runs {
                    self.flash.observer_mut().changes(SimTime(s.now), change);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn strides(luns: u32, width: u32, parities: u32) -> Strides {
        Strides::new(luns, width, parities).expect("strides")
    }

    /// 128 LUNs in strides of four: by time the hot share is 5.33 / (4.33 + W), and by writes 1 / W; cold LUNs are rounded up.
    #[test]
    fn shares_of_hot_luns() {
        let s = strides(128, 4, 1);
        let by_time = [1.0, 2.3, 3.2, 4.1, 5.0].map(|w| hot_luns(SplitBy::Time, &s, w));
        assert_eq!(by_time, [128, 100, 88, 80, 72]);
        let by_writes = [1.0, 2.3, 5.0, f64::INFINITY].map(|w| hot_luns(SplitBy::Writes, &s, w));
        assert_eq!(by_writes, [128, 52, 24, 16]);
        assert_eq!(hot_luns(SplitBy::Time, &strides(8, 4, 1), 5.0), 4);
        assert_eq!(hot_luns(SplitBy::Time, &strides(128, 5, 2), 2.0), 100);
    }
}
