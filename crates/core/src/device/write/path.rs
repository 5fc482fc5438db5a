//! The way from the write buffer to flash: rows of any data, or stripes with parity.

use crate::address::{Lpn, Ppa};
use crate::device::copies::Copies;
use crate::device::drive::Device;
use crate::ftl::buffer::DirtyList;
use crate::ftl::map::Mapping;
use crate::medium::Medium;
use crate::observer::Observer;
use crate::policy::flush::{FlushVerdict, FlushView};

/// The write path of a drive. It never changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::device) enum WritePath {
    /// Write units of any mapping units of one pool of lanes (`write_unit`).
    Rows,
    /// Whole or partial stripes together with their parity (`stripe`, `stripe_commit`).
    Stripes,
}

impl Copies<'_> {
    /// The copy on flash with the bytes that a slot of this unit lacks, or `NONE`.
    #[inline]
    pub(in crate::device) fn copy_below(&self, lpn: Lpn, slot: u32) -> Ppa {
        let held = self.write.buffer.slot(slot);
        match self.shape.fixed.write_path {
            WritePath::Stripes if held.in_flight => self.flash_copy(lpn).unwrap_or(Ppa::NONE),
            WritePath::Rows | WritePath::Stripes => held.old_ppa,
        }
    }
}

impl<O: Observer, M: Medium> Device<O, M> {
    /// The list of dirty slots to which a unit of the host belongs: that of its pool, or of its
    /// stripe.
    #[inline]
    pub(in crate::device) fn dirty_list_of(&mut self, lpn: Lpn) -> DirtyList {
        match self.shape.fixed.write_path {
            WritePath::Rows => DirtyList::of_pool(self.state.policies.placement.pool(lpn)),
            WritePath::Stripes => {
                DirtyList::of_stripe(self.state.parity.entry_of(&self.shape, &mut self.map, lpn))
            }
        }
    }

    /// Note that a slot of this list was written.
    #[inline]
    pub(in crate::device) fn list_written(&mut self, list: DirtyList) {
        match self.shape.fixed.write_path {
            WritePath::Rows => {}
            WritePath::Stripes => {
                self.state.parity.stripe_written(&self.shape, &self.state.write.buffer, list.stripe())
            }
        }
    }

    /// Handle a unit that is written again while its older slot is in flight. Returns the copy on flash that the newer
    /// slot replaces, and the copy that has the bytes that both slots lack.
    #[inline]
    pub(in crate::device) fn supersede(&mut self, lpn: Lpn, older: u32) -> (Ppa, Ppa) {
        match self.shape.fixed.write_path {
            // The newer slot replaces the copy that the older slot was to replace.
            WritePath::Rows => {
                let older = self.state.write.buffer.slot_mut(older);
                let copy = std::mem::replace(&mut older.old_ppa, Ppa::NONE);
                (copy, copy)
            }
            // The newer slot replaces a copy that has not been programmed yet.
            WritePath::Stripes => (Ppa::NONE, self.copies().flash_copy(lpn).unwrap_or(Ppa::NONE)),
        }
    }

    /// Flush the data that the flush policy chooses, until the policy chooses to wait.
    #[inline]
    pub(in crate::device) fn flush_as_policy_says(&mut self, list: DirtyList) {
        if self.shape.fixed.flushes_by_die {
            self.state
                .write
                .note_ready(&self.shape, self.shape.first_lane(list.pool()) / self.shape.lanes_of_die());
        }
        loop {
            let die_ready = self.shape.fixed.flushes_by_die && self.state.write.has_ready_die(&self.shape);
            let s = &mut self.state;
            let view = FlushView {
                die_ready,
                dirty: s.write.buffer.dirty(),
                held: s.write.buffer.held(),
                capacity: s.write.buffer.capacity(),
                lane_dirty: s.write.buffer.dirty_in(list),
                units_per_write: self.shape.layout.units_per_row,
            };
            match s.policies.flush.next(&view) {
                FlushVerdict::Hold => return,
                // The policy is asked again when data in flight are on flash.
                verdict if !self.flush_named(verdict, list) => return,
                _ => {}
            }
        }
    }

    /// Flush the data that the flush policy has chosen. Returns false if none of them can leave now.
    #[inline]
    pub(in crate::device) fn flush_named(&mut self, verdict: FlushVerdict, list: DirtyList) -> bool {
        match self.shape.fixed.write_path {
            WritePath::Rows => {
                self.flush_rows(verdict, list.pool());
                true
            }
            WritePath::Stripes => self.flush_stripes(verdict, list.stripe()),
        }
    }

    /// Flush the data that have been dirty longest, if any dirty data can leave.
    pub(in crate::device) fn flush_oldest(&mut self) {
        let Some(list) = self.state.write.buffer.oldest_list() else { return };
        match self.shape.fixed.write_path {
            WritePath::Rows => self.flush_one(list.pool()),
            WritePath::Stripes => {
                if let Some(entry) = self.copies().next_stripe(&self.flash, false) {
                    self.flush_stripe(entry);
                }
            }
        }
    }

    /// Flush all dirty data that can leave.
    pub(in crate::device) fn flush_all(&mut self) {
        match self.shape.fixed.write_path {
            WritePath::Rows => {
                while let Some(list) = self.state.write.buffer.oldest_list() {
                    self.flush_one(list.pool());
                }
            }
            WritePath::Stripes => self.flush_all_stripes(),
        }
    }

    /// Unmap the units `first..end`. Returns how many are kept, because the parity of their stripe
    /// covers them.
    pub(in crate::device) fn trim_units(&mut self, first: Lpn, end: Lpn) -> u32 {
        match self.shape.fixed.write_path {
            WritePath::Rows => {
                for lpn in first.run(end - first) {
                    self.trim_unit(lpn);
                }
                0
            }
            WritePath::Stripes => self.trim_stripes(first, end),
        }
    }

    fn trim_unit(&mut self, lpn: Lpn) {
        match self.map.trim(lpn) {
            Mapping::Unmapped => {}
            Mapping::Flash(ppa) => self.state.invalidate(&mut self.map, &self.shape.layout, ppa),
            Mapping::Buffer(held) => {
                let slot = held.slot();
                let old_ppa =
                    std::mem::replace(&mut self.state.write.buffer.slot_mut(slot).old_ppa, Ppa::NONE);
                if old_ppa != Ppa::NONE {
                    self.state.invalidate(&mut self.map, &self.shape.layout, old_ppa);
                }
                if !self.state.write.buffer.slot(slot).in_flight {
                    self.state.write.buffer.release(slot);
                }
            }
        }
        if self.shape.fixed.may_fail {
            self.state.faults.lost_by_trim(lpn);
        }
        self.data.trimmed(lpn);
    }

    /// Resume writes that waited for free extents of a lane, after some have become free.
    pub(in crate::device) fn resume_stalled(&mut self, lane: u32) {
        match self.shape.fixed.write_path {
            WritePath::Rows => self.resume_stalled_write_units(lane),
            WritePath::Stripes => self.resume_stalled_stripes(lane),
        }
    }
}
