//! Collections that free no space: moving the valid units of the victim takes at least as many rows as the erase of the
//! victim gives back. The victim of a collection for space has invalid units, so this happens only if copybacks or
//! programs fail: a failed move takes another row. Without a limit such a lane would collect for ever.

use crate::device::copies::Copies;
use crate::device::drive::Device;
use crate::device::gc::state::Gc;
use crate::device::write::programs::Programs;
use crate::ftl::extents::Extents;
use crate::ftl::extents::Writer;
use crate::ftl::layout::Layout;
use crate::medium::Medium;
use crate::observer::Observer;
use serde::{Deserialize, Serialize};

/// The net gain in free rows of the latest collections of a lane.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::device) struct Gain {
    /// Rows that collections of the lane have programmed since the start, and the value of this count when the latest
    /// collection began.
    taken: u64,
    taken_before: u64,
    /// Consecutive collections that freed no row.
    unproductive: u32,
    /// Rows by which the `unproductive` collections together have reduced the free rows of the lane.
    lost: u64,
    /// The contents of the lane when the first of the `unproductive` collections ended.
    contents: LaneContents,
}

/// The contents of a lane. As long as they stay the same and no host program is under way in the lane, only collections
/// change its number of free rows. (The death of a plane also changes it; the count then starts again from
/// [`Gain::default`].)
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct LaneContents {
    /// Rows programmed so far, those of collections not counted.
    rows: u64,
    /// Valid units.
    valid: u64,
}

impl Gain {
    /// Count a row that a collection programs.
    #[inline]
    pub fn takes_row(&mut self) {
        self.taken += 1;
    }

    /// Note the start of a collection.
    #[inline]
    pub fn begins(&mut self) {
        self.taken_before = self.taken;
    }

    /// Note the end of a collection whose victim gives back `rows` rows. `contents` computes the contents of the lane.
    /// A collection that was not started `for_space` counts only if it freed rows. Rows that it frees first make up for
    /// rows `lost` before; only a collection that frees more than that ends the series of `unproductive` ones.
    fn ends(&mut self, rows: u64, for_space: bool, contents: impl FnOnce() -> LaneContents) {
        let taken = self.taken.saturating_sub(self.taken_before);
        let gains = taken < rows;
        if gains && self.unproductive == 0 || !gains && !for_space {
            return;
        }
        let contents = contents();
        if self.contents != contents {
            (self.unproductive, self.lost, self.contents) = (0, 0, contents);
        }
        let lost = self.lost.saturating_add(taken);
        self.lost = lost.saturating_sub(rows);
        self.unproductive = if lost < rows { 0 } else { self.unproductive.saturating_add(1) };
    }
}

impl Copies<'_> {
    /// Whether host data find a free row in this lane or in another lane of its pool.
    fn has_room_for_host(&self, lane: u32) -> bool {
        if !self.faults.life.is_empty() && self.parity.stripes.waiting > 0 {
            // Several members of a stripe may need rows of one lane.
            return false;
        }
        let pool = self.shape.lanes_of_pool(self.shape.pool_of(lane));
        pool.map(|lane| lane as u32).any(|lane| {
            let layout = &self.shape.layout;
            !self.faults.has_given_up(lane)
                && self.extents.has_row(layout, lane, Writer::Host, self.shape.reserve)
        })
    }
}

impl Gc {
    fn contents_of(
        &self,
        layout: &Layout,
        extents: &Extents,
        programs: &Programs,
        lane: u32,
    ) -> LaneContents {
        let own = lane * layout.stride..(lane + 1) * layout.stride;
        let taken = self.collections[lane as usize].gain.taken;
        LaneContents {
            // Rows are counted at the end of their program, so the difference may wrap around while a collection is
            // under way.
            rows: programs.lanes()[lane as usize].wrapping_sub(taken),
            valid: own.map(|extent| u64::from(extents.valid(extent))).sum(),
        }
    }

    /// Note the net gain of the collection that ends with the erase of this victim.
    #[inline(never)]
    pub(super) fn note_gain(
        &mut self,
        layout: &Layout,
        extents: &Extents,
        programs: &Programs,
        lane: u32,
        victim: u32,
        for_space: bool,
    ) {
        let units = layout.units_per_extent - extents.units_in_holes(victim);
        let mut gain = self.collections[lane as usize].gain;
        gain.ends((units / layout.units_per_row).into(), for_space, || {
            self.contents_of(layout, extents, programs, lane)
        });
        self.collections[lane as usize].gain = gain;
    }
}

impl<O: Observer, M: Medium> Device<O, M> {
    /// Whether the collections of a lane free no space: the lane has had as many consecutive unproductive collections
    /// as it has extents, and its contents have not changed. Such a lane waits for the end of a host program in it. If
    /// none is under way and host data find no room, the lane is declared full.
    pub(super) fn gains_nothing(&mut self, lane: u32) -> bool {
        let gain = self.state.gc.collections[lane as usize].gain;
        if gain.unproductive < self.shape.layout.usable[lane as usize]
            || gain.contents
                != self.state.gc.contents_of(
                    &self.shape.layout,
                    &self.state.extents,
                    &self.state.write.programs,
                    lane,
                )
        {
            return false;
        }
        let writes = self.state.write.lane_load[lane as usize].programs() > 0;
        self.state.gc.set_waiting(&self.shape, &mut self.flash, lane, writes);
        if !writes && !self.copies().has_room_for_host(lane) {
            self.state.faults.lane_is_full(&mut self.flash, &mut self.state.deferred, self.state.now, lane);
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The number of unproductive collections, after collections that take `taken` rows each and give six back.
    fn unproductive(gain: &mut Gain, taken: &[u64], rows: u64) -> u32 {
        for &taken in taken {
            gain.begins();
            (0..taken).for_each(|_| gain.takes_row());
            gain.ends(6, true, || LaneContents { rows, valid: 3 });
        }
        gain.unproductive
    }

    #[test]
    fn a_gain_that_is_lost_again_does_not_count() {
        let mut gain = Gain::default();
        assert_eq!(unproductive(&mut gain, &[3, 5, 0], 1), 0);
        assert_eq!(unproductive(&mut gain, &[6, 6], 1), 2);
        // A gain, a loss and a gain: there are no more free rows than after the first collection.
        assert_eq!(unproductive(&mut gain, &[5, 7, 5], 1), 2);
        assert_eq!(unproductive(&mut gain, &[5], 1), 0);
        assert_eq!(unproductive(&mut gain, &[9, 4], 1), 2);
        // A collection that was started for another reason counts only if it frees rows.
        gain.begins();
        gain.takes_row();
        gain.ends(1, false, || unreachable!());
        assert_eq!(gain.unproductive, 2);
        // The host has written since: earlier losses do not count.
        assert_eq!(unproductive(&mut gain, &[5], 2), 0);
    }
}
