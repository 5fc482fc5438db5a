//! The FLUSH command.

use crate::device::drive::Device;
use crate::medium::Medium;
use crate::observer::Observer;
use tailcut_units::{Cause, Status};

impl<O: Observer, M: Medium> Device<O, M> {
    /// Begin a FLUSH: all data acknowledged before must survive a power cut. A write with forced unit access (FUA) ends
    /// like a write followed by a FLUSH, because the buffer is written in the order of its policy. Linux does the same
    /// for drives without FUA.
    pub(in crate::device) fn begin_flush(&mut self, id: u32) {
        let s = &mut self.state;
        if !self.shape.fixed.acknowledge_held
            || s.policies.buffer.survives_power_cut()
            || s.write.buffer.held() == 0
        {
            return self.complete_message(id);
        }
        if s.faults.read_only.is_some() {
            s.host.requests[id].host.status = Status::ReadOnly;
            return self.complete_message(id);
        }
        s.host.requests[id].epoch = s.write.buffer.fence();
        s.host.requests[id].room_since = s.now;
        s.host.flushes.push_back(id);
        self.flush_all();
        self.admit_queued(None);
    }

    /// Complete the FLUSH commands whose data have left the buffer.
    pub(in crate::device) fn flushes_done(&mut self) {
        while let Some(&id) = self.state.host.flushes.front() {
            let s = &mut self.state;
            let epoch = s.host.requests[id].epoch;
            if !s.write.buffer.is_durable(epoch) {
                return;
            }
            s.host.flushes.pop_front();
            s.write.buffer.forget_before(epoch + 1);
            let waited = s.now - s.host.requests[id].room_since;
            s.host.requests[id].host.ledger.charge(Cause::BUFFER_FLUSH, waited);
            self.complete_message(id);
        }
    }
}
