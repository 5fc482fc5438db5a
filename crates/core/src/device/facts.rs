//! Passes each fact of the flash to the part of the device that handles it.

use super::drive::{Deferred, Device};
use crate::address::{BusyUnit, Extent};
use crate::device::work::Work;
use crate::flash::{Fact, HostOpEnded, OpId, Submitted};
use crate::medium::Medium;
use crate::nand::OpKind;
use crate::observer::{Observer, WriteEvent, WriteStep};
use tailcut_units::SimTime;

impl<O: Observer, M: Medium> Device<O, M> {
    /// Submit an operation to the flash that is not a host program.
    #[inline]
    pub(super) fn submit_op(&mut self, id: OpId) {
        let closed = self.submit_program(id);
        debug_assert!(!closed, "only host programs are closed out");
    }

    /// Submit an operation to the flash. Returns whether it is a host program whose busy unit is
    /// closed to host programs.
    #[inline]
    pub(super) fn submit_program(&mut self, id: OpId) -> bool {
        match self.flash.submit(id) {
            Submitted::Taken => false,
            Submitted::Gathers => {
                let unit = self.flash.op(id).cmd.unit;
                self.state.deferred.push(Deferred::Begin { unit });
                false
            }
            Submitted::ProgramClosed => true,
        }
    }

    /// Fire the next event of the flash, which is due.
    ///
    /// Code that few drives or few events need is not inlined here, so that the code of every event stays close
    /// together in memory.
    #[inline]
    pub(super) fn fire_flash(&mut self) {
        match self.flash.fire() {
            Fact::Nothing => {}
            Fact::Sensed(op) => self.sensed(op),
            Fact::Ended(op) => self.ended(op),
            Fact::Decoded(op) => self.decoded(op),
            Fact::Transferred(channel) => self.transferred(channel),
        }
    }

    /// Wake the collections that may have waited for this channel.
    #[cold]
    #[inline(never)]
    fn transferred(&mut self, channel: u32) {
        if self.state.gc.waiting > 0 {
            self.wake_unit(BusyUnit(channel * (self.shape.units / self.shape.channels)));
        }
    }

    /// Handle the sense of a read and of those that joined it.
    #[inline]
    fn sensed(&mut self, head: OpId) {
        let mut next = Some(head);
        while let Some(op) = next {
            self.data.sensed(&self.flash, &self.state.host, &self.state.copies(&self.shape, &self.map), op);
            if !self.shape.fixed.may_fail {
                let extent = self.state.read_leaves(&self.shape.layout, op);
                self.erase_if_drained(extent);
            }
            next = self.flash.bring_out(op);
        }
    }

    /// Handle the end of a program, copyback or erase and of those that joined it.
    #[inline]
    fn ended(&mut self, head: OpId) {
        let mut next = Some(head);
        while let Some(op) = next {
            next = self.flash.end(op);
            let cmd = &self.flash.op(op).cmd;
            match (cmd.kind, Work::from(cmd.owner)) {
                (OpKind::Program, Work::WriteUnit(write_unit)) => self.programmed(op, write_unit),
                (OpKind::Erase, Work::Collection(lane)) => self.erased(op, lane),
                (OpKind::Copyback, Work::Collection(lane)) => self.copied_back(op, lane),
                (kind, work) => unreachable!("{kind:?} for {work:?}"),
            }
        }
    }

    /// Handle the end of a read's decoding.
    #[inline]
    fn decoded(&mut self, op: OpId) {
        if self.shape.fixed.may_fail && !self.read_settles(op) {
            return;
        }
        let extent = self.flash.op(op).cmd.extent;
        match Work::from(self.flash.op(op).cmd.owner) {
            Work::Request(id) => self.read_arrived(op, id),
            Work::WriteUnit(write_unit) => self.filler_arrived(op, write_unit),
            Work::Collection(lane) => self.segment_arrived(op, lane),
            Work::Stripe(job) => self.stripe_read_arrived(op, job),
            Work::Scrub(lane) => self.scrubbed(op, lane),
            Work::Rebuild(rebuild) => self.extra_read_arrived(op, rebuild),
            Work::Mend(mend) => self.mend_read_arrived(op, mend),
        }
        if self.shape.fixed.may_fail {
            self.read_settled(Extent(extent));
        }
    }

    /// Free an operation that has ended, and wake collections that may have waited for it.
    #[inline]
    pub(super) fn free_op(&mut self, id: OpId) {
        let Some(HostOpEnded { unit, read, rebuilds }) = self.flash.free(id) else { return };
        let s = &mut self.state;
        s.scrub.host_ended = s.now;
        if s.gc.waiting > 0 {
            let load = self.flash.host_load(unit);
            let heeds = self.shape.fixed.heeds_channel
                || if read { self.shape.fixed.may_close_programs } else { self.shape.fixed.most_tokens > 0 };
            if load.ops == 0 || heeds || rebuilds && load.rebuilds == 0 {
                self.wake_unit(unit);
            }
        }
    }

    /// Report a step of a write unit or a stripe to the observer.
    #[inline]
    pub(super) fn observe_write(&mut self, number: u32, stripe: bool, step: WriteStep) {
        let at = SimTime(self.state.now);
        self.flash.observer_mut().write_unit(&WriteEvent { number, stripe, at, step });
    }
}
