//! RAIL-HC: users write to hot LUNs, and collection writes to cold LUNs.
//!
//! A hot line is on the first LUNs. Its data have parity, and the gate limits its programs. A cold line is on the
//! last LUNs. It has no parity and no gate, so that reads of cold data wait for programs. The share of hot LUNs
//! follows from the write amplification of the last sectors written. It applies to lines that are taken later.
//! Nothing is copied: older lines keep their LUNs and strides, and reads of them still avoid busy LUNs that have
//! become cold.
//!
//! The gate uses the strides of the open hot line. It covers all programs on the LUNs of this line, including those
//! of a cold line that was taken with another share. If there is no free cold line, collection writes to the hot
//! line. It also writes a sector to the hot line if the line of the sector is later than the open cold line, because
//! the last copy of a sector must be in the latest line ([`super::super::lines::Lines::order`]).

use super::strides::Strides;
use crate::medium::Medium;
use crate::observer::{Change, Observer};
use crate::pblk::config::SplitBy;
use crate::pblk::drive::Pblk;
use crate::pblk::lines::{Group, Line, Lines, State};
use crate::pblk::ring::Heat;
use serde::{Deserialize, Serialize};
use tailcut_units::SimTime;

/// The share of hot LUNs is computed again after this number of sectors written. On a small drive it is computed
/// again after an eighth of the sectors of the drive.
const PERIOD: u64 = 1_000_000;

/// The share changes only by more than this fraction (1/16) of the LUNs. Both open lines then mostly meet at the same
/// LUN.
const LEAST_CHANGE: u32 = 16;

/// Sectors written since the share was last computed.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(in super::super) struct Mix {
    users: u64,
    collected: u64,
}

/// The fewest hot LUNs: an eighth of the LUNs in use, rounded up to whole strides.
pub(in super::super) fn least_hot(strides: &Strides) -> u32 {
    (strides.used() / 8).next_multiple_of(strides.width).max(strides.width)
}

/// The number of hot LUNs for a write amplification, in whole strides. `strides` are those of a drive on which all
/// LUNs are hot.
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
    /// Count sectors that are mapped. Returns the write amplification after every `period` sectors. It is infinite if
    /// users have written nothing.
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
    /// The kind of line to which collection moves a sector of the line `from`.
    #[inline]
    pub(in super::super) fn heat_of_move(&self, from: u32, open_cold: Option<u32>) -> Heat {
        match (self.split(), open_cold) {
            (None, _) => Heat::Hot,
            (Some(_), Some(open)) if self.order(from) > self.order(open) => Heat::Hot,
            // The next cold line will come after all lines that are closed now, and before the open hot line.
            (Some(_), None) if self.line(from).state == State::Open => Heat::Hot,
            (Some(_), _) => Heat::Cold,
        }
    }

    /// The victim of a list: the line of both kinds with the smaller share of valid sectors. If the shares are equal,
    /// the cold line.
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

    /// The victim of the kind that has fewer free lines for its LUNs. Hot lines are then freed as fast as users
    /// write, and cold lines as fast as collection does. `has_next` tells for each kind whether a next line is
    /// prepared. If users have no next line, the victim is a hot line. All of its sectors may be valid if a cold line
    /// can take them. Otherwise no line of which 7/8 or more are valid is returned.
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
    /// Count sectors that are mapped, and compute the share of hot LUNs again after each period.
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
                // The observer does not see ageing, which takes no time.
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

    /// 128 LUNs in strides of four: by time the hot share is 5.33 / (4.33 + W), and by writes 1 / W. The number of
    /// cold LUNs is rounded up.
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
