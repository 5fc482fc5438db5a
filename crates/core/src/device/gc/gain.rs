//! Collections that gain nothing: the valid units of a victim take as many rows as it gives back, or more. Victims
//! have stale units, so this happens only where copybacks or programs fail: such a move takes more than one row. A
//! lane whose collections go on like this would collect for ever.

use crate::device::drive::Device;
use crate::device::medium::Medium;
use crate::observer::Observer;
use crate::policy::gc_schedule::SpaceView;
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

/// What a lane holds. If it does not change, nothing but collections changes the free rows of the lane.
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

    /// A collection for space ends that gives these rows back, in a lane that holds what `held` tells.
    fn ends(&mut self, rows: u64, held: impl FnOnce() -> Held) {
        let taken = self.taken - self.before;
        if taken < rows && self.vain == 0 {
            return;
        }
        let held = held();
        if self.held != held {
            (self.vain, self.lost, self.held) = (0, 0, held);
        }
        let lost = self.lost + taken;
        self.lost = lost.saturating_sub(rows);
        self.vain = if lost < rows { 0 } else { self.vain + 1 };
    }
}

impl<O: Observer, M: Medium> Device<O, M> {
    /// Note what the collection for space has gained that ends with the erase of this victim.
    #[inline(never)]
    pub(super) fn note_gain(&mut self, lane: u32, victim: u32) {
        let layout = &self.shape.layout;
        let units = layout.units_per_extent - self.state.extents.units_in_holes(victim);
        let mut gain = self.state.gc.collections[lane as usize].gain;
        gain.ends((units / layout.units_per_row).into(), || self.held(lane));
        self.state.gc.collections[lane as usize].gain = gain;
    }

    /// Whether the collections of a lane that is short of space gain nothing: it has more free rows after none of as
    /// many as it has extents, and it still holds the same. If host data have no room in it either, the lane is full.
    #[inline]
    pub(super) fn gains_nothing(&mut self, lane: u32, view: &SpaceView) -> bool {
        let gain = self.state.gc.collections[lane as usize].gain;
        let vain = gain.vain >= view.extents && gain.held == self.held(lane);
        if vain && self.state.extents.free(&self.shape.layout, lane) <= self.shape.reserve {
            self.lane_is_full(lane);
        }
        vain
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
            gain.ends(6, || Held { rows, valid: 3 });
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
        // The host has written: what was lost before does not count.
        assert_eq!(vain(&mut gain, &[5], 2), 0);
    }
}
