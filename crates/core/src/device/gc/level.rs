//! Static wear levelling within a lane: it empties an extent because its blocks have fewer erases than others.

use crate::containers::NONE;
use crate::device::drive::Device;
use crate::medium::Medium;
use crate::observer::Observer;

impl<O: Observer, M: Medium> Device<O, M> {
    /// After an erase in a lane, note the extent with the fewest erases among those that hold data, if it is `gap` or
    /// more behind the most erased one.
    #[cold]
    pub(in crate::device) fn note_coldest(&mut self, lane: u32, gap: u32) {
        let layout = &self.shape.layout;
        let (blocks, extents) = (self.flash.blocks(), &self.state.extents);
        // The blocks of an extent are erased together, so the first one stands for all.
        let plane = layout.planes_of(lane).next().expect("a lane has planes");
        let (mut most, mut coldest, mut least) = (0, NONE, u32::MAX);
        for index in 0..layout.usable[lane as usize] {
            if !blocks.has(plane, index) {
                continue;
            }
            let cycles = blocks.cycles_at(blocks.place(plane, index));
            most = most.max(cycles);
            let extent = lane * layout.stride + index;
            if cycles < least && extents.is_closed(extent) {
                (coldest, least) = (extent, cycles);
            }
        }
        let behind = coldest != NONE && most - least >= gap;
        self.state.gc.coldest[lane as usize] = if behind { coldest } else { NONE };
    }

    /// The extent of a lane to empty for wear levelling. There must be room for its data, and the host must have
    /// programmed something since the lane was last levelled. Otherwise levelling might never end: the rows that it
    /// pads may cause a collection for space, whose erase may cause levelling again.
    #[cold]
    pub(in crate::device) fn coldest_in(&self, lane: u32) -> Option<u32> {
        let s = &self.state;
        let extent = s.gc.coldest[lane as usize];
        // The collection frees no space before its erase.
        let fits = s.extents.free(&self.shape.layout, lane) > self.shape.reserve;
        let host_wrote = s.counters.programs_user != s.gc.levelled_at[lane as usize];
        (extent != NONE && fits && host_wrote && s.extents.is_closed(extent)).then_some(extent)
    }
}
