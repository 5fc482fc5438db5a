//! The events of the flash: its timers, and what they tell the controller.

use super::dispatch::HostOpEnded;
use super::op::{FlashCommand, Op, OpId};
use super::state::Flash;
use super::unit::Phase;
use crate::containers::NONE;
use crate::nand::OpKind;
use crate::observer::{Observer, QueueStep};
use tailcut_units::{Cause, Occupant, Occupants, SimTime};

/// What the controller is told of an event, and has to answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fact {
    /// Nothing that concerns it.
    Nothing,
    /// This read, and those that joined it, have their data in the registers of their planes. The
    /// controller has each brought out ([`Flash::bring_out`]), in this order.
    Sensed(OpId),
    /// This program, copyback or erase is over, and so are those that joined it. The controller
    /// takes each ([`Flash::end`]), in this order.
    Ended(OpId),
    /// This read's data are decoded.
    Decoded(OpId),
}

impl<O: Observer> Flash<O> {
    /// Reserve an operation. It takes effect once it is submitted.
    ///
    /// # Panics
    /// When more are under way than [`super::Setup::ops`].
    #[inline]
    pub fn order(&mut self, cmd: FlashCommand) -> OpId {
        let s = &mut self.state;
        let id = s.ops.take();
        let channel = s.units[cmd.unit as usize].channel;
        let op = &mut s.ops[id];
        op.cmd = cmd;
        op.channel = channel;
        op.second = false;
        op.along = false;
        OpId(id)
    }

    /// What was asked with an operation that is not yet submitted, to ask for more.
    #[inline]
    pub fn order_mut(&mut self, OpId(id): OpId) -> &mut FlashCommand {
        &mut self.state.ops[id].cmd
    }

    /// Give an operation up that is not submitted.
    pub fn cancel(&mut self, OpId(id): OpId) {
        self.state.ops.give(id);
    }

    /// An operation under way.
    #[inline]
    pub fn op(&self, OpId(id): OpId) -> &Op {
        &self.state.ops[id]
    }

    /// Charge an operation what the command waited for before it was submitted.
    pub fn add_to_ledger(&mut self, OpId(id): OpId, ledger: &tailcut_units::Ledger) {
        self.state.ops[id].ledger.merge(ledger);
    }

    /// Let time pass to `now`.
    #[inline]
    pub fn pass(&mut self, SimTime(now): SimTime) {
        self.state.now = now;
    }

    /// The timer that fires next, and when ([`SimTime::NEVER`]: none is set).
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

    /// A timer that is due now.
    #[inline]
    pub fn fire(&mut self, timer: usize) -> Fact {
        let units = self.state.units.len();
        let channels = self.state.channels.len();
        if timer < units {
            return self.unit_timer(timer as u32);
        }
        if timer < units + channels {
            self.channel_timer((timer - units) as u32);
            return Fact::Nothing;
        }
        self.decoder_timer((timer - units - channels) as u32)
    }

    /// The array operation ended, or the data are out.
    #[inline]
    fn unit_timer(&mut self, unit: u32) -> Fact {
        let s = &mut self.state;
        s.timers.clear(unit as usize);
        let u = &mut s.units[unit as usize];
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

    /// A program, the program of a copyback, or an erase is over: the unit is free.
    #[inline]
    fn array_ended(&mut self, unit: u32, id: u32) -> Fact {
        let suspended = self.state.units[unit as usize].run.course.suspends > 0;
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

    /// An operation that was suspended is over: its time beyond the nominal is its own.
    #[cold]
    fn charge_suspended(&mut self, id: u32) {
        let s = &mut self.state;
        let op = &mut s.ops[id];
        let rest = s.now - op.entered - op.ledger.sum();
        op.ledger.charge(Cause::SUSPENDED, rest);
    }

    /// Have a read's data brought out. Returns what was sensed with it and is next.
    #[inline]
    pub fn bring_out(&mut self, OpId(id): OpId) -> Option<OpId> {
        let op = &mut self.state.ops[id];
        let next = op.joined;
        op.second = true;
        self.request_channel(id);
        OpId::of_link(next)
    }

    /// Take an operation that is over. Returns what was done with it and is next.
    #[inline]
    pub fn end(&mut self, OpId(id): OpId) -> Option<OpId> {
        let next = std::mem::replace(&mut self.state.ops[id].joined, NONE);
        self.observe_queue(id, QueueStep::Ends);
        OpId::of_link(next)
    }

    /// The decoder of a channel finished the operation at its head.
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

    /// An operation is over and done with. Says so of a host operation.
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
        let load = &mut s.units[unit as usize].load;
        load.ops -= 1;
        load.reads -= u32::from(read);
        load.rebuilds -= u32::from(rebuilds);
        Some(HostOpEnded { unit, read, rebuilds })
    }
}
