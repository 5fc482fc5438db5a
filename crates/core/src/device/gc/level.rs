//! Static wear levelling within a lane: it empties an extent because its blocks have fewer erases than others.

use crate::containers::NONE;
use crate::device::gc::state::Gc;
use crate::device::shape::Shape;
use crate::figures::Counters;
use crate::ftl::extents::Extents;
use crate::ftl::layout::Layout;
use crate::nand::blocks::Blocks;

impl Gc {
    /// The extent of a lane to empty for wear levelling. There must be room for its data. The host must also have
    /// programmed something since the lane was last levelled, or levelling might never end: the rows that it pads may
    /// cause a collection for space, whose erase may cause levelling again.
    #[cold]
    pub(in crate::device) fn coldest_in(
        &self,
        shape: &Shape,
        extents: &Extents,
        counters: &Counters,
        lane: u32,
    ) -> Option<u32> {
        let extent = self.coldest[lane as usize];
        // The collection frees no space before its erase.
        let fits = extents.free(&shape.layout, lane) > shape.reserve;
        let host_wrote = counters.programs_user != self.levelled_at[lane as usize];
        (extent != NONE && fits && host_wrote && extents.is_closed(extent)).then_some(extent)
    }

    /// After an erase in a lane, note the extent with the fewest erases among those that hold data, if it is `gap` or
    /// more behind the most erased one.
    #[cold]
    pub(in crate::device) fn note_coldest(
        &mut self,
        layout: &Layout,
        extents: &Extents,
        blocks: &Blocks,
        lane: u32,
        gap: u32,
    ) {
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
        self.coldest[lane as usize] = if behind { coldest } else { NONE };
    }
}
