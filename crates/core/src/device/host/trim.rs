//! TRIM.

use crate::containers::NONE;
use crate::device::drive::Device;
use crate::device::medium::Medium;
use crate::ftl::map::Place;
use crate::observer::{Observer, RequestStep};
use tailcut_units::Cause;

impl<O: Observer, M: Medium> Device<O, M> {
    /// Forget the whole units inside a range.
    pub(in crate::device) fn trim(&mut self, id: u32) {
        let unit_bytes = self.shape.layout.unit_bytes;
        let command = self.state.host.requests[id].command;
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
                    let former = std::mem::replace(&mut self.state.write.buffer.slot_mut(slot).former, NONE);
                    if former != NONE {
                        self.invalidate(former);
                    }
                    if !self.state.write.buffer.slot(slot).in_flight {
                        self.state.write.buffer.release(slot);
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
            let r = &mut self.state.host.requests[waiting];
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
}
