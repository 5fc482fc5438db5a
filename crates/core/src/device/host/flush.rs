//! The FLUSH command.

use crate::device::drive::{Device, State};
use crate::device::shape::Shape;
use crate::flash::Flash;
use crate::medium::Medium;
use crate::observer::Observer;
use tailcut_units::{Cause, Status};

impl State {
    /// Complete the FLUSH commands whose data have left the buffer.
    pub(in crate::device) fn flushes_done<O: Observer>(&mut self, shape: &Shape, flash: &mut Flash<O>) {
        while let Some(&id) = self.host.flushes.front() {
            let epoch = self.host.requests[id].epoch;
            if !self.write.buffer.is_durable(epoch) {
                return;
            }
            self.host.flushes.pop_front();
            self.write.buffer.forget_before(epoch + 1);
            let waited = self.now - self.host.requests[id].room_since;
            self.host.requests[id].host.ledger.charge(Cause::BUFFER_FLUSH, waited);
            self.complete_message(shape, flash, id);
        }
    }
}

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
            return self.state.complete_message(&self.shape, &mut self.flash, id);
        }
        if s.faults.read_only.is_some() {
            s.host.requests[id].host.status = Status::ReadOnly;
            return self.state.complete_message(&self.shape, &mut self.flash, id);
        }
        s.host.requests[id].epoch = s.write.buffer.fence();
        s.host.requests[id].room_since = s.now;
        s.host.flushes.push_back(id);
        self.flush_all();
        self.admit_queued(None);
    }
}
