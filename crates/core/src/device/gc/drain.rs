//! Collections that have emptied their victim, and wait until nobody reads it.

use super::collect::Stage;
use crate::device::drive::Device;
use crate::flash::OpId;
use crate::medium::Medium;
use crate::observer::Observer;

impl<O: Observer, M: Medium> Device<O, M> {
    /// The number of reads that keep this extent from being erased.
    pub(in crate::device) fn readers_of(&self, extent: u32) -> u32 {
        self.state.readers.of(extent) + self.state.parity.targets.of(extent)
    }

    /// Let the collection of a lane wait for the readers of its victim, which is empty. Returns whether there are any.
    pub(super) fn must_drain(&mut self, lane: u32) -> bool {
        let victim = self.state.gc.collections[lane as usize].victim;
        debug_assert_eq!(self.state.extents.valid(victim), 0, "an emptied extent has no valid unit");
        let readers = self.readers_of(victim);
        let c = &mut self.state.gc.collections[lane as usize];
        debug_assert_ne!(c.stage, Stage::Draining, "the collection of lane {lane} drains already");
        if readers > 0 {
            c.stage = Stage::Draining;
            c.readers = readers;
            self.state.gc.draining += 1;
        }
        readers > 0
    }

    /// The lane whose collection waits for the readers of this extent.
    #[inline]
    fn lane_draining(&self, extent: u32) -> Option<u32> {
        if self.state.gc.draining == 0 {
            return None;
        }
        let (lane, _) = self.shape.layout.lane_of(extent);
        let c = &self.state.gc.collections[lane as usize];
        (c.stage == Stage::Draining && c.victim == extent).then_some(lane)
    }

    /// Note that a reader has begun to keep an extent.
    #[inline]
    pub(in crate::device) fn reader_comes(&mut self, extent: u32) {
        if let Some(lane) = self.lane_draining(extent) {
            self.state.gc.collections[lane as usize].readers += 1;
        }
    }

    /// Note that a reader no longer keeps an extent. [`Device::erase_if_drained`] must follow.
    #[inline]
    pub(in crate::device) fn reader_leaves(&mut self, extent: u32) {
        if let Some(lane) = self.lane_draining(extent) {
            self.state.gc.collections[lane as usize].readers -= 1;
        }
    }

    /// Erase an extent if its collection has waited for the reader that has left.
    #[inline]
    pub(in crate::device) fn erase_if_drained(&mut self, extent: u32) {
        let Some(lane) = self.lane_draining(extent) else { return };
        if self.state.gc.collections[lane as usize].readers == 0 {
            self.state.gc.draining -= 1;
            if self.fixed.collects_instantly { self.erase_instantly(lane) } else { self.erase_victim(lane) }
        }
    }

    /// Let the extent of a flash read be erased.
    #[inline]
    pub(in crate::device) fn read_leaves(&mut self, op: OpId) {
        let extent = self.state.readers.ends(op.number());
        self.reader_leaves(extent);
        self.erase_if_drained(extent);
    }
}
