//! Host writes into the buffer, TRIM and FLUSH.

use super::drive::Device;
use super::medium::Medium;
use crate::containers::NONE;
use crate::ftl::map::Place;
use crate::observer::{Observer, RequestStep};
use tailcut_units::Cause;

impl<O: Observer, M: Medium> Device<O, M> {
    /// A write's data are with the controller.
    #[inline]
    pub(super) fn begin_write(&mut self, id: u32) {
        let unit_bytes = self.shape.layout.unit_bytes;
        let s = &mut self.state;
        let r = &mut s.requests[id];
        r.next_lpn = (r.command.offset / unit_bytes) as u32;
        r.remaining = 0;
        r.room_since = s.now;
        // Writes enter the buffer in order: nobody passes one that waits for room.
        let held = if s.host.room.is_empty() { self.hold_units(id) } else { Err(None) };
        if let Err(queue) = held {
            self.wait_for(id, queue);
            self.make_room();
        }
    }

    /// Hold the request's remaining units. An error when it must wait before the end: for a
    /// queue to flash, or, without one, for room in the buffer.
    #[inline]
    pub(super) fn hold_units(&mut self, id: u32) -> Result<(), Option<u32>> {
        let unit_bytes = self.shape.layout.unit_bytes;
        let command = self.state.requests[id].command;
        let end = command.offset + u64::from(command.bytes);
        loop {
            let lpn = self.state.requests[id].next_lpn;
            let base = u64::from(lpn) * unit_bytes;
            if base >= end {
                break;
            }
            let (from, to) = (command.offset.saturating_sub(base), (end - base).min(unit_bytes));
            self.hold_unit_of(id, lpn, from, to)?;
            self.state.requests[id].next_lpn = lpn + 1;
        }
        if self.state.acknowledge_held {
            self.complete_message(id);
        } else {
            // All units first, so that neighbours share write units.
            self.flush_as_policy_says(0);
        }
        Ok(())
    }

    /// Hold bytes `from..to` of one logical unit, unless it must wait.
    #[inline]
    fn hold_unit_of(&mut self, id: u32, lpn: u32, from: u64, to: u64) -> Result<(), Option<u32>> {
        let s = &mut self.state;
        let place = self.map.lookup(lpn);
        let (mut mask, full) = (s.buffer.mask(from, to, true), s.buffer.full());
        if let Place::Buffer(slot) = place
            && s.overwrite_in_place
            && !s.buffer.slot(slot).in_flight
        {
            s.buffer.overwrite(slot, mask);
            s.counters.host_units_written += 1;
            if self.shape.has_parity() {
                let entry = self.state.buffer.slot(slot).list;
                self.stripe_written(entry);
            }
            self.data_held(id, slot, from, to);
            return Ok(());
        }
        if s.buffer.held() == s.buffer.capacity() {
            return Err(None);
        }
        let list = if self.shape.has_parity() { self.entry_of(lpn) } else { s.policies.placement.pool(lpn) };
        let s = &self.state;
        if let Some(queue) = s.write_queues.closed_to(self.shape.first_lane(list), id) {
            return Err(Some(queue));
        }
        let mut beneath = NONE;
        let former = match place {
            Place::Flash(pua) => pua,
            Place::Unmapped => {
                mask = full;
                NONE
            }
            Place::Buffer(slot) => {
                // The older copy is on its way and complete by then; what this slot lacks
                // is copied from it in memory, and the copy on flash is now ours to replace.
                mask = full;
                if self.shape.has_parity() {
                    // The copy that this one replaces is still to be programmed.
                    beneath = self.flash_copy(lpn).unwrap_or(NONE);
                    NONE
                } else {
                    let held = self.state.buffer.slot_mut(slot);
                    beneath = std::mem::replace(&mut held.former, NONE);
                    beneath
                }
            }
        };
        let s = &mut self.state;
        let waiter = if s.acknowledge_held { NONE } else { id };
        let slot = s.buffer.insert(lpn, former, mask, list, waiter).expect("room was seen above");
        if !s.acknowledge_held {
            s.requests[id].remaining += 1;
        }
        s.counters.host_units_written += 1;
        self.map.set_buffer(lpn, slot);
        if self.shape.has_parity() {
            self.stripe_written(list);
        }
        self.data_beneath(slot, place, beneath);
        self.data_held(id, slot, from, to);
        if self.state.acknowledge_held {
            self.flush_as_policy_says(list);
        }
        Ok(())
    }

    /// Room may have appeared: let waiting writes in, in order.
    #[inline]
    pub(super) fn admit_waiting(&mut self, op: u32, group: u32) {
        while let Some(&id) = self.state.host.room.front() {
            self.charge_room(id, op, group);
            match self.hold_units(id) {
                Ok(()) => {}
                Err(None) => return self.make_room(),
                Err(queue) => self.wait_for(id, queue),
            }
            self.leave_room();
        }
    }

    /// A write waits and nothing is on its way out: send the oldest, whatever the policy.
    pub(super) fn make_room(&mut self) {
        let b = &self.state.buffer;
        if b.dirty() == b.held()
            && let Some(list) = b.oldest_list()
        {
            if !self.shape.has_parity() {
                self.flush_one(list);
            } else if let Some(entry) = self.next_stripe(false) {
                self.flush_stripe(entry);
            }
        }
    }

    /// Forget the whole units inside a range.
    pub(super) fn trim(&mut self, id: u32) {
        let unit_bytes = self.shape.layout.unit_bytes;
        let command = self.state.requests[id].command;
        let first = command.offset.div_ceil(unit_bytes);
        let end = (command.offset + u64::from(command.bytes)) / unit_bytes;
        let mut lpns = first..end;
        if self.shape.has_parity() && first < end {
            let kept = self.trim_stripes(first as u32, end as u32);
            self.state.counters.trimmed += end - first - u64::from(kept);
            self.state.counters.trims_kept += u64::from(kept);
            lpns = 0..0;
        }
        for lpn in lpns {
            match self.map.trim(lpn as u32) {
                Place::Unmapped => {}
                Place::Flash(pua) => self.invalidate(pua),
                Place::Buffer(slot) => {
                    let former = std::mem::replace(&mut self.state.buffer.slot_mut(slot).former, NONE);
                    if former != NONE {
                        self.invalidate(former);
                    }
                    if !self.state.buffer.slot(slot).in_flight {
                        self.state.buffer.release(slot);
                    }
                }
            }
            self.state.counters.trimmed += 1;
            self.data_trimmed(lpn as u32);
        }
        self.complete_message(id);
        // Dropped slots are room; whoever waited, waited for the flush ahead.
        while let Some(&waiting) = self.state.host.room.front() {
            let now = self.state.now;
            let r = &mut self.state.requests[waiting];
            r.ledger.charge(Cause::BUFFER_FLUSH, now - r.room_since);
            r.room_since = now;
            self.observe_request(waiting, RequestStep::Room(NONE));
            match self.hold_units(waiting) {
                Ok(()) => {}
                Err(None) => break,
                Err(queue) => self.wait_for(waiting, queue),
            }
            self.leave_room();
        }
        self.flushes_done();
        self.feed_hungry();
    }

    /// The copy at this address is stale.
    #[inline]
    pub(super) fn invalidate(&mut self, pua: u32) {
        debug_assert!(self.map.is_valid(pua), "a unit goes stale once");
        self.map.clear_valid(pua);
        let (extent, _) = self.shape.layout.extent_of(pua);
        let left = self.state.extents.lose(extent);
        self.state.fed |= left == Some(self.shape.layout.most_valid());
    }

    /// FLUSH: everything acknowledged before must outlive a power cut.
    pub(super) fn begin_flush(&mut self, id: u32) {
        let s = &mut self.state;
        if !s.acknowledge_held || s.policies.buffer.survives_power_cut() || s.buffer.held() == 0 {
            return self.complete_message(id);
        }
        s.requests[id].epoch = s.buffer.fence();
        s.requests[id].room_since = s.now;
        s.host.flushes.push_back(id);
        if self.shape.has_parity() {
            return self.flush_all_stripes();
        }
        while let Some(list) = self.state.buffer.oldest_list() {
            self.flush_one(list);
        }
    }

    /// Slots left the buffer: FLUSH commands may be complete.
    pub(super) fn flushes_done(&mut self) {
        while let Some(&id) = self.state.host.flushes.front() {
            let s = &mut self.state;
            let epoch = s.requests[id].epoch;
            if !s.buffer.is_durable(epoch) {
                return;
            }
            s.host.flushes.pop_front();
            s.buffer.forget_before(epoch + 1);
            let waited = s.now - s.requests[id].room_since;
            s.requests[id].ledger.charge(Cause::BUFFER_FLUSH, waited);
            self.complete_message(id);
        }
    }
}
