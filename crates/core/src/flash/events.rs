//! The events of the flash: its timers, and the facts that they return to the controller.

use super::dispatch::HostOpEnded;
use super::op::{FlashCommand, Op, OpId};
use super::state::Flash;
use super::unit::Phase;
use crate::address::BusyUnit;
use crate::containers::NONE;
use crate::nand::OpKind;
use crate::observer::{Observer, QueueStep};
use tailcut_units::{Cause, Occupant, Occupants, SimTime};

/// The result of an event, which the controller must handle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fact {
    /// Nothing for the controller.
    Nothing,
    /// This read, and those that joined it, have their data in the page registers. The controller
    /// calls [`Flash::bring_out`] for each, in this order.
    Sensed(OpId),
    /// This program, copyback or erase has ended, and so have those that joined it. The controller
    /// calls [`Flash::end`] for each, in this order.
    Ended(OpId),
    /// The data of this read are decoded.
    Decoded(OpId),
}

impl<O: Observer> Flash<O> {
    /// Reserve an operation. It takes effect when it is submitted.
    ///
    /// # Panics
    /// If more are under way than [`super::Setup::ops`].
    #[inline]
    pub fn order(&mut self, cmd: FlashCommand) -> OpId {
        let s = &mut self.state;
        let id = s.ops.take();
        let channel = s.units[cmd.unit.index()].channel;
        let op = &mut s.ops[id];
        op.cmd = cmd;
        op.channel = channel;
        op.second = false;
        op.along = false;
        OpId(id)
    }

    /// The command of an operation that is not yet submitted, to extend it.
    #[inline]
    pub fn order_mut(&mut self, OpId(id): OpId) -> &mut FlashCommand {
        &mut self.state.ops[id].cmd
    }

    /// Give up an operation that is not submitted.
    pub fn cancel(&mut self, OpId(id): OpId) {
        self.state.ops.give(id);
    }

    /// An operation under way.
    #[inline]
    pub fn op(&self, OpId(id): OpId) -> &Op {
        &self.state.ops[id]
    }

    /// Add to an operation's ledger what its host command waited for before the operation. Call
    /// this after [`Flash::submit`], which clears the ledger.
    pub fn add_to_ledger(&mut self, OpId(id): OpId, ledger: &tailcut_units::Ledger) {
        self.state.ops[id].ledger.merge(ledger);
    }

    /// Set the time to `now`.
    #[inline]
    pub fn pass(&mut self, SimTime(now): SimTime) {
        self.state.now = now;
    }

    /// The timer that fires next, and when ([`SimTime::NEVER`] if none is set).
    #[inline]
    pub fn next_timer(&self) -> (usize, SimTime) {
        let (timer, at) = self.state.timers.first();
        (timer, SimTime(at))
    }

    #[inline]
    pub(super) fn timer_of_channel(&self, channel: u32) -> usize {
        self.state.units.len() + channel as usize
    }

    #[inline]
    pub(super) fn timer_of_decoder(&self, channel: u32) -> usize {
        self.state.units.len() + self.state.channels.len() + channel as usize
    }

    /// Fire a timer that is due now.
    #[inline]
    pub fn fire(&mut self, timer: usize) -> Fact {
        let units = self.state.units.len();
        let channels = self.state.channels.len();
        if timer < units {
            return self.unit_timer(BusyUnit(timer as u32));
        }
        if timer < units + channels {
            self.channel_timer((timer - units) as u32);
            return Fact::Nothing;
        }
        self.decoder_timer((timer - units - channels) as u32)
    }

    /// Handle the timer of a unit: the array operation or a step of a suspension has ended, or the
    /// data are out.
    #[inline]
    fn unit_timer(&mut self, unit: BusyUnit) -> Fact {
        let s = &mut self.state;
        s.timers.clear(unit.index());
        let u = &mut s.units[unit.index()];
        match u.phase {
            Phase::Out => {
                self.release_unit(unit);
                return Fact::Nothing;
            }
            Phase::Array => {}
            _ => {
                self.suspension_timer(unit);
                return Fact::Nothing;
            }
        }
        let id = u.holder;
        let op = &mut s.ops[id];
        if op.second || op.cmd.kind == OpKind::Program || op.cmd.kind == OpKind::Erase {
            return self.array_ended(unit, id);
        }
        op.second = true;
        u.phase = Phase::Channel;
        if op.cmd.kind == OpKind::Read {
            self.share_account(id);
            return Fact::Sensed(OpId(id));
        }
        op.cmd.occupant = Occupant::GcProgram;
        op.cmd.page = op.cmd.to_page;
        u.account.count_to(Occupant::GcProgram as usize, s.now);
        self.request_channel(id);
        Fact::Nothing
    }

    /// End a program, the program of a copyback, or an erase. The unit is free.
    #[inline]
    fn array_ended(&mut self, unit: BusyUnit, id: u32) -> Fact {
        let suspended = self.state.units[unit.index()].run.course.suspends > 0;
        if suspended {
            self.charge_suspended(id);
        }
        self.share_account(id);
        if suspended {
            let mut at = self.state.ops[id].joined;
            while at != NONE {
                self.charge_suspended(at);
                at = self.state.ops[at].joined;
            }
        }
        self.release_unit(unit);
        Fact::Ended(OpId(id))
    }

    /// Charge an ended operation that was suspended with the rest of its time as suspension.
    #[cold]
    fn charge_suspended(&mut self, id: u32) {
        let s = &mut self.state;
        let op = &mut s.ops[id];
        let rest = s.now - op.entered - op.ledger.sum();
        op.ledger.charge(Cause::SUSPENDED, rest);
    }

    /// Request the channel for the data of a sensed read. Returns the next read that was sensed
    /// with it.
    #[inline]
    pub fn bring_out(&mut self, OpId(id): OpId) -> Option<OpId> {
        let op = &mut self.state.ops[id];
        let next = op.joined;
        op.second = true;
        self.request_channel(id);
        OpId::of_link(next)
    }

    /// Report the end of an operation. Returns the next operation that was done with it.
    #[inline]
    pub fn end(&mut self, OpId(id): OpId) -> Option<OpId> {
        let next = std::mem::replace(&mut self.state.ops[id].joined, NONE);
        self.observe_queue(id, QueueStep::Ends);
        OpId::of_link(next)
    }

    /// Handle the timer of a channel's decoder: the operation at its head is decoded.
    #[inline]
    fn decoder_timer(&mut self, channel: u32) -> Fact {
        let timer = self.timer_of_decoder(channel);
        let s = &mut self.state;
        let queue = &mut s.decoders[channel as usize].queue;
        let (_, op) = queue.pop_front().expect("the timer is set only while something decodes");
        match queue.front() {
            Some(&(next, _)) => s.timers.set(timer, next),
            None => s.timers.clear(timer),
        }
        self.observe_queue(op, QueueStep::Ends);
        Fact::Decoded(OpId(op))
    }

    /// Free an operation that has ended. Returns the end of a host operation, `None` for others.
    #[inline]
    pub fn free(&mut self, OpId(id): OpId) -> Option<HostOpEnded> {
        let s = &mut self.state;
        let cmd = &s.ops[id].cmd;
        let (unit, kind, rebuilds) = (cmd.unit, cmd.occupant, cmd.rebuilds());
        s.ops.give(id);
        if !Occupants::HOST.has(kind) {
            return None;
        }
        let read = Occupants::HOST_READS.has(kind);
        s.host_ops -= 1;
        let load = &mut s.units[unit.index()].load;
        load.ops -= 1;
        load.reads -= u32::from(read);
        load.rebuilds -= u32::from(rebuilds);
        Some(HostOpEnded { unit, read, rebuilds })
    }
}
