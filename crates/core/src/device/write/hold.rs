//! Puts host writes into the buffer, and keeps track of the valid copy of each unit.

use crate::address::{Lpn, Ppa};
use crate::containers::NONE;
use crate::device::drive::{Deferred, Device};
use crate::ftl::buffer::DirtyList;
use crate::ftl::map::{InBuffer, Place};
use crate::medium::Medium;
use crate::observer::{Observer, RequestStep};

impl<O: Observer, M: Medium> Device<O, M> {
    /// Begin a write whose data have arrived in the controller.
    #[inline]
    pub(in crate::device) fn begin_write(&mut self, id: u32) {
        let s = &mut self.state;
        let r = &mut s.host.requests[id];
        r.next_lpn = self.shape.layout.lpn_of(r.host.command.offset);
        r.remaining = 0;
        r.room_since = s.now;
        // Writes enter the buffer in order: none passes a write that waits for room.
        let held = if s.host.room.is_empty() { self.hold_units(id) } else { Err(None) };
        if let Err(queue) = held {
            self.wait_for(id, queue);
            self.make_room();
        }
        // Data that were flushed for this write may have made room in a queue.
        self.admit_queued(None);
    }

    /// Hold the request's remaining units in the buffer. The error says what the request must wait
    /// for: a queue to flash, or (`None`) room in the buffer.
    #[inline]
    pub(in crate::device) fn hold_units(&mut self, id: u32) -> Result<(), Option<u32>> {
        let unit_bytes = self.shape.layout.unit_bytes;
        let command = self.state.host.requests[id].host.command;
        let end = command.offset + u64::from(command.bytes);
        loop {
            let lpn = self.state.host.requests[id].next_lpn;
            let base = u64::from(lpn.0) * unit_bytes;
            if base >= end {
                break;
            }
            let (from, to) = (command.offset.saturating_sub(base), (end - base).min(unit_bytes));
            self.hold_unit_of(id, lpn, from, to)?;
            self.state.host.requests[id].next_lpn = lpn + 1;
        }
        if self.fixed.acknowledge_held && command.fua {
            // Deferred, because its FLUSH may make room for waiting writes, which must not happen while these are being
            // admitted.
            self.observe_request(id, RequestStep::Forced);
            let s = &mut self.state;
            if s.host.forced.is_empty() {
                s.deferred.push(Deferred::Forced);
            }
            s.host.forced.push_back(id);
        } else if self.fixed.acknowledge_held {
            self.complete_message(id);
        } else {
            // Hold all units first, so that neighbours share write units.
            self.flush_as_policy_says(DirtyList::of_pool(0));
        }
        Ok(())
    }

    /// Hold bytes `from..to` of one logical unit. The error says what the request must wait for, as
    /// for `hold_units`.
    #[inline]
    fn hold_unit_of(&mut self, id: u32, lpn: Lpn, from: u64, to: u64) -> Result<(), Option<u32>> {
        let s = &mut self.state;
        let place = self.map.lookup(lpn);
        let (mut mask, full) = (s.write.buffer.mask(from, to, true), s.write.buffer.full());
        if let Place::Buffer(InBuffer::Slot(slot)) = place
            && self.fixed.overwrite_in_place
            && !s.write.buffer.slot(slot).in_flight
        {
            s.write.buffer.overwrite(slot, mask);
            s.counters.host_units_written += 1;
            if self.fixed.may_fail {
                self.lost_no_more(lpn, mask);
            }
            let s = &self.state;
            let list = s.write.buffer.slot(slot).list;
            self.list_written(list);
            self.data_held(id, slot, from, to);
            return Ok(());
        }
        if s.write.buffer.held() == s.write.buffer.capacity() {
            return Err(None);
        }
        let list = self.dirty_list_of(lpn);
        let written = mask;
        if let Some(queue) = self.queue_closed_to(list, id) {
            return Err(Some(queue));
        }
        let mut below = Ppa::NONE;
        let old_ppa = match place {
            Place::Flash(ppa) => ppa,
            Place::Unmapped => {
                mask = full;
                Ppa::NONE
            }
            Place::Buffer(held) => {
                // The older slot is in flight and will be complete. The new slot copies the missing bytes from it in
                // memory.
                mask = full;
                let (replaced, lacking) = self.supersede(lpn, held.slot());
                below = lacking;
                replaced
            }
        };
        let s = &mut self.state;
        let waiter = if self.fixed.acknowledge_held { NONE } else { id };
        let slot = s.write.buffer.insert(lpn, old_ppa, mask, list, waiter).expect("room was seen above");
        if !self.fixed.acknowledge_held {
            s.host.requests[id].remaining += 1;
        }
        s.counters.host_units_written += 1;
        if self.fixed.may_fail {
            self.lost_no_more(lpn, written);
        }
        self.map.set_buffer(lpn, slot);
        self.list_written(list);
        self.data_below(slot, place, below);
        self.data_held(id, slot, from, to);
        if self.fixed.acknowledge_held {
            self.flush_as_policy_says(list);
        }
        Ok(())
    }

    /// Make the copy of a logical unit at this address valid.
    #[inline]
    pub(in crate::device) fn validate(&mut self, lpn: Lpn, ppa: Ppa) {
        let (extent, _) = self.shape.layout.extent_of(ppa);
        self.validate_in(extent, lpn, ppa);
    }

    /// Like `validate`, for a caller that knows the extent of the address.
    #[inline]
    pub(in crate::device) fn validate_in(&mut self, extent: u32, lpn: Lpn, ppa: Ppa) {
        self.map.set_owner(ppa, lpn);
        self.map.set_valid(ppa);
        self.state.extents.gain(extent);
    }

    /// Prefetch the valid bit of a copy that will become stale, and the counter of its extent. There need not be a copy.
    #[inline]
    pub(in crate::device) fn prefetch_copy(&self, ppa: Ppa) {
        if ppa != Ppa::NONE {
            self.map.prefetch_valid(ppa);
            self.state.extents.prefetch(self.shape.layout.extent_of(ppa).0);
        }
    }

    /// Make the copy at this address stale.
    #[inline]
    pub(in crate::device) fn invalidate(&mut self, ppa: Ppa) {
        debug_assert!(self.map.is_valid(ppa), "a unit goes stale once");
        self.map.clear_valid(ppa);
        let (extent, _) = self.shape.layout.extent_of(ppa);
        let left = self.state.extents.lose(extent);
        self.state.gc.victim_appeared |= left == Some(self.shape.layout.most_valid());
    }
}
