//! Collections that gain nothing: the valid units of a victim take as many rows as it gives back, or more. A victim
//! for space has stale units, so this happens only where copybacks or programs fail: such a move takes more than one
//! row. A lane whose collections go on like this would collect for ever.

use crate::device::drive::Device;
use crate::ftl::extents::Writer;
use crate::medium::Medium;
use crate::observer::Observer;
use serde::{Deserialize, Serialize};

/// What the collections of a lane have gained lately.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::device) struct Gain {
    /// Rows that collections have taken, and how many of them when the last one began.
    taken: u64,
    before: u64,
    /// Collections for space since the lane had most free rows, while it held the same.
    vain: u32,
    /// Rows that they have lost.
    lost: u64,
    /// What the lane holds meanwhile.
    held: Held,
}

/// What a lane holds. While no host program is under way there, and this does not change, nothing but collections
/// changes the free rows of the lane. (Dead planes do: [`Gain::default`] begins again.)
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Held {
    /// Rows programmed so far, but by collections.
    rows: u64,
    /// Valid units.
    valid: u64,
}

impl Gain {
    /// A collection takes a row.
    #[inline]
    pub fn takes_row(&mut self) {
        self.taken += 1;
    }

    /// A collection begins.
    #[inline]
    pub fn begins(&mut self) {
        self.before = self.taken;
    }

    /// A collection ends that gives these rows back, in a lane that holds what `held` tells. One that is not `for_space`
    /// counts only if it gains.
    fn ends(&mut self, rows: u64, for_space: bool, held: impl FnOnce() -> Held) {
        let taken = self.taken.saturating_sub(self.before);
        let gains = taken < rows;
        if gains && self.vain == 0 || !gains && !for_space {
            return;
        }
        let held = held();
        if self.held != held {
            (self.vain, self.lost, self.held) = (0, 0, held);
        }
        let lost = self.lost.saturating_add(taken);
        self.lost = lost.saturating_sub(rows);
        self.vain = if lost < rows { 0 } else { self.vain.saturating_add(1) };
    }
}

impl<O: Observer, M: Medium> Device<O, M> {
    /// Note what the collection has gained that ends with the erase of this victim.
    #[inline(never)]
    pub(super) fn note_gain(&mut self, lane: u32, victim: u32, for_space: bool) {
        let layout = &self.shape.layout;
        let units = layout.units_per_extent - self.state.extents.units_in_holes(victim);
        let mut gain = self.state.gc.collections[lane as usize].gain;
        gain.ends((units / layout.units_per_row).into(), for_space, || self.held(lane));
        self.state.gc.collections[lane as usize].gain = gain;
    }

    /// Whether the collections of a lane gain nothing: after as many as it has extents, it has never had more free
    /// rows than before them, and it still holds the same. Such a lane waits for the end of host programs there.
    /// Without any, it is full if host data have no room.
    pub(super) fn gains_nothing(&mut self, lane: u32) -> bool {
        let gain = self.state.gc.collections[lane as usize].gain;
        if gain.vain < self.shape.layout.usable[lane as usize] || gain.held != self.held(lane) {
            return false;
        }
        let writes = self.state.write.lane_load[lane as usize].programs() > 0;
        self.set_waiting(lane, writes);
        if !writes && !self.has_room_for_host(lane) {
            self.lane_is_full(lane);
        }
        true
    }

    /// Whether host data find a row in this lane or in another of its pool.
    fn has_room_for_host(&self, lane: u32) -> bool {
        let s = &self.state;
        if !s.faults.life.is_empty() && s.parity.stripes.waiting > 0 {
            // Several members of a stripe may need rows of one lane.
            return false;
        }
        let pool = self.shape.lanes_of_pool(self.shape.pool_of(lane));
        pool.map(|lane| lane as u32).any(|lane| {
            let layout = &self.shape.layout;
            !self.has_given_up(lane) && s.extents.has_row(layout, lane, Writer::Host, self.shape.reserve)
        })
    }

    fn held(&self, lane: u32) -> Held {
        let (s, layout) = (&self.state, &self.shape.layout);
        let extents = lane * layout.stride..(lane + 1) * layout.stride;
        let taken = s.gc.collections[lane as usize].gain.taken;
        Held {
            // Rows are counted when they have been programmed; those of collections under way wrap around.
            rows: s.parity.programs.lanes()[lane as usize].wrapping_sub(taken),
            valid: extents.map(|extent| u64::from(s.extents.valid(extent))).sum(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The collections in vain, after collections that take these rows of six.
    fn vain(gain: &mut Gain, taken: &[u64], rows: u64) -> u32 {
        for &taken in taken {
            gain.begins();
            (0..taken).for_each(|_| gain.takes_row());
            gain.ends(6, true, || Held { rows, valid: 3 });
        }
        gain.vain
    }

    #[test]
    fn what_is_gained_and_lost_again_is_in_vain() {
        let mut gain = Gain::default();
        assert_eq!(vain(&mut gain, &[3, 5, 0], 1), 0);
        assert_eq!(vain(&mut gain, &[6, 6], 1), 2);
        // Gained, lost, gained: there are no more free rows than after the first.
        assert_eq!(vain(&mut gain, &[5, 7, 5], 1), 2);
        assert_eq!(vain(&mut gain, &[5], 1), 0);
        assert_eq!(vain(&mut gain, &[9, 4], 1), 2);
        // A collection for another end counts only if it gains.
        gain.begins();
        gain.takes_row();
        gain.ends(1, false, || unreachable!());
        assert_eq!(gain.vain, 2);
        // The host has written: what was lost before does not count.
        assert_eq!(vain(&mut gain, &[5], 2), 0);
    }
}
