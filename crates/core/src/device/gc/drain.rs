//! Draining: a collection that has moved all units out of its victim waits for reads that still need the old copies.

use super::collect::{Collection, Stage};
use super::state::Gc;
use crate::address::{Extent, Lane};
use crate::device::drive::{Device, State};
use crate::flash::OpId;
use crate::ftl::Layout;
use crate::medium::Medium;
use crate::observer::Observer;

impl Gc {
    /// The lane whose collection waits for the readers of this extent.
    #[inline]
    fn lane_draining(&self, layout: &Layout, extent: Extent) -> Option<u32> {
        if self.draining == 0 {
            return None;
        }
        let (lane, _) = layout.lane_of(extent.0);
        let c = &self.collections[lane as usize];
        (c.stage == Stage::Draining && Extent(c.victim) == extent).then_some(lane)
    }

    /// Note the start of a read that keeps an extent from being erased. Only a draining collection counts such reads.
    #[inline]
    pub(in crate::device) fn reader_comes(&mut self, layout: &Layout, extent: Extent) {
        if let Some(lane) = self.lane_draining(layout, extent) {
            self.collections[lane as usize].readers += 1;
        }
    }

    /// Note that a read no longer keeps an extent from being erased. [`Device::erase_if_drained`] must follow.
    #[inline]
    pub(in crate::device) fn reader_leaves(&mut self, layout: &Layout, extent: Extent) {
        if let Some(lane) = self.lane_draining(layout, extent) {
            debug_assert!(
                self.collections[lane as usize].readers > 0,
                "a read leaves extent {extent}, for which lane {lane} waits without readers"
            );
            self.collections[lane as usize].readers -= 1;
        }
    }
}

impl State {
    /// The number of reads that keep this extent from being erased: flash reads, and reads for reconstructions.
    pub(in crate::device) fn readers_of(&self, extent: Extent) -> u32 {
        self.readers.of(extent) + self.parity.targets.of(extent)
    }

    /// If reads still need the victim of a lane, which holds no valid unit, let the collection wait for them. Returns
    /// whether it waits.
    pub(super) fn must_drain(&mut self, Lane(lane): Lane) -> bool {
        let victim = self.gc.collections[lane as usize].victim;
        debug_assert_eq!(self.extents.valid(victim), 0, "an emptied extent has no valid unit");
        let readers = self.readers_of(Extent(victim));
        let c = &mut self.gc.collections[lane as usize];
        debug_assert_ne!(c.stage, Stage::Draining, "the collection of lane {lane} drains already");
        if readers > 0 {
            c.stage = Stage::Draining;
            c.readers = readers;
            self.gc.draining += 1;
        }
        readers > 0
    }

    /// Check that a draining collection has no operation under way (`busy`) and counts the reads of its victim
    /// correctly.
    pub(super) fn audit_drain(&self, c: &Collection, busy: bool) -> Result<(), String> {
        let readers = self.readers_of(Extent(c.victim));
        law!(!busy, "extent {} drains, and is moved or erased", c.victim);
        law!(readers > 0, "extent {} drains, and nobody reads it", c.victim);
        law!(readers == c.readers, "{readers} reads keep extent {}, and {} are counted", c.victim, c.readers);
        Ok(())
    }

    /// Note that a flash read no longer keeps its extent from being erased, and return the extent.
    /// [`Device::erase_if_drained`] must follow.
    #[inline]
    pub(in crate::device) fn read_leaves(&mut self, layout: &Layout, op: OpId) -> Extent {
        let extent = self.readers.ends(op.number());
        self.gc.reader_leaves(layout, extent);
        extent
    }
}

impl<O: Observer, M: Medium> Device<O, M> {
    /// Erase an extent if its collection is draining and the last read has ended.
    #[inline]
    pub(in crate::device) fn erase_if_drained(&mut self, extent: Extent) {
        let Some(lane) = self.state.gc.lane_draining(&self.shape.layout, extent) else { return };
        if self.state.gc.collections[lane as usize].readers == 0 {
            self.state.gc.draining -= 1;
            if self.shape.fixed.collects_instantly {
                self.erase_instantly(lane)
            } else {
                self.erase_victim(lane)
            }
        }
    }
}
