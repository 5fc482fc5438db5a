//! The FLUSH command.

use crate::containers::few_timers::FewTimers;
use crate::device::drive::Device;
use crate::device::host::commands::Host;
use crate::device::shape::Shape;
use crate::device::write::state::Writes;
use crate::flash::Flash;
use crate::medium::Medium;
use crate::observer::Observer;
use tailcut_units::{Cause, Status};

impl Host {
    /// Complete the FLUSH commands whose data have left the buffer.
    pub(in crate::device) fn flushes_done<O: Observer>(
        &mut self,
        shape: &Shape,
        flash: &mut Flash<O>,
        timers: &mut FewTimers,
        write: &mut Writes,
        now: u64,
    ) {
        while let Some(&id) = self.flushes.front() {
            let epoch = self.requests[id].epoch;
            if !write.buffer.is_durable(epoch) {
                return;
            }
            self.flushes.pop_front();
            write.buffer.forget_before(epoch + 1);
            let waited = now - self.requests[id].room_since;
            self.requests[id].host.ledger.charge(Cause::BUFFER_FLUSH, waited);
            self.complete_message(shape, flash, timers, now, id);
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
            return self.state.host.complete_message(
                &self.shape,
                &mut self.flash,
                &mut self.state.timers,
                self.state.now,
                id,
            );
        }
        if s.faults.read_only.is_some() {
            s.host.requests[id].host.status = Status::ReadOnly;
            return self.state.host.complete_message(
                &self.shape,
                &mut self.flash,
                &mut self.state.timers,
                self.state.now,
                id,
            );
        }
        s.host.requests[id].epoch = s.write.buffer.fence();
        s.host.requests[id].room_since = s.now;
        s.host.flushes.push_back(id);
        self.flush_all();
        self.admit_queued(None);
    }
}
