//! Puts host writes into the buffer, and keeps track of the valid copy of each unit.

use crate::address::{Lpn, Ppa};
use crate::containers::NONE;
use crate::device::drive::State;
use crate::device::drive::{Deferred, Device};
use crate::ftl::buffer::DirtyList;
use crate::ftl::layout::Layout;
use crate::ftl::map::Map;
use crate::ftl::map::{InBuffer, Mapping};
use crate::medium::Medium;
use crate::observer::{Observer, RequestStep};

impl State {
    /// Like `validate`, for a caller that knows the extent of the address.
    #[inline]
    pub(in crate::device) fn validate_in(&mut self, map: &mut Map, extent: u32, lpn: Lpn, ppa: Ppa) {
        map.set_owner(ppa, lpn);
        map.set_valid(ppa);
        self.extents.gain(extent);
    }

    /// Make the copy of a logical unit at this address valid.
    #[inline]
    pub(in crate::device) fn validate(&mut self, map: &mut Map, layout: &Layout, lpn: Lpn, ppa: Ppa) {
        let (extent, _) = layout.extent_of(ppa);
        self.validate_in(map, extent, lpn, ppa);
    }

    /// Make the copy at this address stale.
    #[inline]
    pub(in crate::device) fn invalidate(&mut self, map: &mut Map, layout: &Layout, ppa: Ppa) {
        debug_assert!(map.is_valid(ppa), "a unit goes stale once");
        map.clear_valid(ppa);
        let (extent, _) = layout.extent_of(ppa);
        let left = self.extents.lose(extent);
        self.gc.victim_appeared |= left == Some(layout.most_valid());
    }
}

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
            self.state.write.wait_for(&mut self.flash, &mut self.state.host, id, queue);
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
        if self.shape.fixed.acknowledge_held && command.fua {
            // Deferred, because its FLUSH may make room for waiting writes, which must not happen while these are being
            // admitted.
            self.state.host.observe(&mut self.flash, self.state.now, id, RequestStep::Forced);
            let s = &mut self.state;
            if s.host.forced.is_empty() {
                s.deferred.push(Deferred::Forced);
            }
            s.host.forced.push_back(id);
        } else if self.shape.fixed.acknowledge_held {
            self.state.complete_message(&self.shape, &mut self.flash, id);
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
        if let Mapping::Buffer(InBuffer::Slot(slot)) = place
            && self.shape.fixed.overwrite_in_place
            && !s.write.buffer.slot(slot).in_flight
        {
            s.write.buffer.overwrite(slot, mask);
            s.counters.host_units_written += 1;
            if self.shape.fixed.may_fail {
                self.state.faults.lost_no_more(lpn, mask);
            }
            self.list_written(self.state.write.buffer.slot(slot).list);
            self.data.held(&self.shape.layout, &self.state, id, slot, from..to);
            return Ok(());
        }
        if s.write.buffer.held() == s.write.buffer.capacity() {
            return Err(None);
        }
        let list = self.dirty_list_of(lpn);
        let written = mask;
        if let Some(queue) = self.state.write.queue_closed_to(&self.shape, list, id) {
            return Err(Some(queue));
        }
        let mut below = Ppa::NONE;
        let old_ppa = match place {
            Mapping::Flash(ppa) => ppa,
            Mapping::Unmapped => {
                mask = full;
                Ppa::NONE
            }
            Mapping::Buffer(held) => {
                // The older slot is in flight and will be complete. The new slot copies the missing bytes from it in
                // memory.
                mask = full;
                let (replaced, lacking) = self.supersede(lpn, held.slot());
                below = lacking;
                replaced
            }
        };
        let s = &mut self.state;
        let waiter = if self.shape.fixed.acknowledge_held { NONE } else { id };
        let slot = s.write.buffer.insert(lpn, old_ppa, mask, list, waiter).expect("room was seen above");
        if !self.shape.fixed.acknowledge_held {
            s.host.requests[id].remaining += 1;
        }
        s.counters.host_units_written += 1;
        if self.shape.fixed.may_fail {
            self.state.faults.lost_no_more(lpn, written);
        }
        self.map.set_buffer(lpn, slot);
        self.list_written(list);
        self.data.below(&self.state.write.buffer, slot, place, below);
        self.data.held(&self.shape.layout, &self.state, id, slot, from..to);
        if self.shape.fixed.acknowledge_held {
            self.flush_as_policy_says(list);
        }
        Ok(())
    }
}
