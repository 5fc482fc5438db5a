//! The events of the flash, and the facts that they return to the controller.
//!
//! At equal times the units' events go first, then the channels', then the decoders'. The end of a transfer is one
//! event of its channel: the die whose data are out begins its next operation, the channel goes to its next waiter, and
//! the data are decoded if decoding takes no time. The event is set only if something waits for one of these three. A
//! channel without that event is free from `Channel::busy_until` on, and the first operation that asks for it then gets
//! it.

use super::account;
use super::attempts::Attempts;
use super::dispatch::HostOpEnded;
use super::op::{FlashCommand, Op, OpId};
use super::state::Flash;
use super::unit::Phase;
use crate::address::BusyUnit;
use crate::containers::NONE;
use crate::containers::event_queue::{QUEUES, Source};
use crate::containers::event_ring::Event;
use crate::nand::OpKind;
use crate::observer::Observer;
use tailcut_units::{Cause, Occupant, Occupants, SimTime};

/// The queue of ends of transfers for which something waits.
const CHANNELS: usize = 0;
/// The queue of operations in the decoders.
const DECODED: usize = 1;
/// The queue of ends of programs that nothing may interrupt.
const PROGRAMS: usize = 2;
/// The first queue of ends of senses: one for each page type, as far as there are queues.
const READS: usize = 3;

/// The result of an event, which the controller must handle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fact {
    /// Nothing for the controller.
    Nothing,
    /// The data of this read, and of those that joined it, are in the page registers. The controller calls
    /// [`Flash::bring_out`] for each, in this order, and opens no gate of their die before it has done so for all.
    Sensed(OpId),
    /// This program, copyback or erase has ended, and so have those that joined it. The controller
    /// calls [`Flash::end`] for each, in this order.
    Ended(OpId),
    /// The data of this read are decoded.
    Decoded(OpId),
    /// A transfer of this channel has ended, which needs no other handling. Returned only if
    /// [`super::Setup::tells_transfers`] is true, then for each first transfer of a program.
    Transferred(u32),
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
        (op.unread, op.failed) = (0, 0);
        if self.fixed.senses.is_some() {
            s.sensing.begin(id);
        }
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

    /// Add the time that the host command has spent before an operation to the operation's ledger. Call this after
    /// [`Flash::submit`], which clears the ledger.
    pub fn add_to_ledger(&mut self, OpId(id): OpId, ledger: &tailcut_units::Ledger) {
        self.state.ops[id].ledger.merge(ledger);
    }

    /// Set the time to `now`.
    #[inline]
    pub fn pass(&mut self, SimTime(now): SimTime) {
        self.state.now = now;
    }

    /// When the next event happens ([`SimTime::NEVER`] if there is none).
    #[inline]
    pub fn next_event(&self) -> SimTime {
        SimTime(self.state.events.next_at())
    }

    /// Set the event at the end of a read in a unit's array.
    #[inline]
    pub(super) fn set_sensed(&mut self, unit: BusyUnit, OpId(id): OpId, page_type: usize, at: u64) {
        let queue = READS + page_type % (QUEUES - READS);
        self.state.events.push(queue, at, unit.0, id);
    }

    /// Set the event at the end of a program, copyback or erase in a unit's array.
    #[inline]
    pub(super) fn set_ended(&mut self, unit: BusyUnit, kind: OpKind, may_be_interrupted: bool, at: u64) {
        if kind == OpKind::Program && !may_be_interrupted {
            self.state.events.push(PROGRAMS, at, unit.0, 0);
        } else {
            self.state.events.set(unit.index(), at);
        }
    }

    /// Set the event at the end of the transfer of a channel, unless it is set.
    #[inline]
    pub(super) fn await_channel(&mut self, number: u32) {
        let s = &mut self.state;
        let channel = &mut s.channels[number as usize];
        if !std::mem::replace(&mut channel.awaited, true) {
            let slot = s.units.len() as u32 + number;
            s.events.push(CHANNELS, channel.busy_until, slot, number);
        }
    }

    /// Let the end of the transfer of its data release a unit, because something waits for the unit.
    #[inline]
    pub(super) fn await_out(&mut self, unit: BusyUnit) {
        let u = &mut self.state.units[unit.index()];
        u.awaited = true;
        let channel = u.channel;
        self.await_channel(channel);
    }

    /// Set the event at the end of an operation in the decoder of a channel.
    #[inline]
    pub(super) fn set_decoded(&mut self, channel: u32, op: u32, at: u64) {
        let slot = (self.state.units.len() + self.state.channels.len()) as u32 + channel;
        self.state.events.push(DECODED, at, slot, op);
    }

    /// The queued events of units, for the audit.
    pub(super) fn unit_events(&self) -> impl Iterator<Item = &Event> {
        (PROGRAMS..QUEUES).flat_map(|queue| self.state.events.queue(queue))
    }

    /// The channels' events, for the audit.
    pub(super) fn channel_events(&self) -> impl Iterator<Item = &Event> {
        self.state.events.queue(CHANNELS)
    }

    /// The decoders' events, for the audit.
    pub(super) fn decoding(&self) -> impl Iterator<Item = &Event> {
        self.state.events.queue(DECODED)
    }

    /// Fire the next event, which is due now.
    #[inline]
    pub fn fire(&mut self) -> Fact {
        let s = &mut self.state;
        match s.events.next() {
            Source::Queue(CHANNELS) => {
                let channel = s.events.pop(CHANNELS).item;
                self.transfer_ended(channel)
            }
            Source::Queue(DECODED) => {
                let op = s.events.pop(DECODED).item;
                self.decoded(op)
            }
            Source::Queue(PROGRAMS) => {
                let unit = BusyUnit(s.events.pop(PROGRAMS).slot);
                let id = s.units[unit.index()].holder;
                self.array_ended(unit, id)
            }
            Source::Queue(reads) => {
                let Event { slot: unit, item: op, .. } = s.events.pop(reads);
                self.sensed(BusyUnit(unit), OpId(op))
            }
            Source::Timer(unit) => self.unit_timer(BusyUnit(unit as u32)),
        }
    }

    /// Handle the end of a transfer on a channel.
    #[inline]
    fn transfer_ended(&mut self, number: u32) -> Fact {
        let s = &mut self.state;
        let channel = &mut s.channels[number as usize];
        let (out, decoded) = (channel.out, std::mem::replace(&mut channel.decoded, NONE));
        // While operations wait, no other operation gets the channel.
        let waiters = channel.has_waiters();
        channel.awaited = waiters;
        if out != NONE && s.units[out as usize].awaited {
            self.release_from_channel(BusyUnit(out));
        }
        if waiters {
            self.channel_grant(number);
        }
        match decoded {
            NONE if self.fixed.tells_transfers => Fact::Transferred(number),
            NONE => Fact::Nothing,
            op => self.decoded(op),
        }
    }

    /// Handle the end of the decoding of a read.
    #[inline]
    fn decoded(&mut self, op: u32) -> Fact {
        if self.fixed.senses.is_some() {
            let s = &mut self.state;
            let Attempts { senses, again, given_up, .. } = s.sensing.attempts[op as usize];
            if senses > 1 {
                s.sensing.decoded_again(op, s.ops[op].cmd.planes & !(again | given_up));
            }
            if again != 0 {
                self.sense_again(op);
                return Fact::Nothing;
            }
            self.make_whole(op);
        }
        self.observe_queue(op, self.outcome(op));
        Fact::Decoded(OpId(op))
    }

    /// Handle the end of a sense in the array of a unit.
    #[inline]
    fn sensed(&mut self, unit: BusyUnit, OpId(id): OpId) -> Fact {
        if self.fixed.plane_reads {
            self.plane_sensed(OpId(id));
        } else {
            self.state.units[unit.index()].enters(Phase::Channel);
        }
        let op = &mut self.state.ops[id];
        op.second = true;
        if op.joined != NONE {
            self.share_account(id);
        }
        if self.fixed.faults.is_some() {
            self.judge_reads(id);
        }
        Fact::Sensed(OpId(id))
    }

    /// Handle the timer of a unit: the end of a program that may be interrupted, of a step of a copyback, of an erase,
    /// or of a step of a suspension.
    fn unit_timer(&mut self, unit: BusyUnit) -> Fact {
        let s = &mut self.state;
        s.events.clear(unit.index());
        let u = &mut s.units[unit.index()];
        if u.phase != Phase::Array {
            match u.phase {
                Phase::Ahead => self.release_unit(unit),
                _ => self.suspension_timer(unit),
            }
            return Fact::Nothing;
        }
        let id = u.holder;
        let op = &mut s.ops[id];
        if op.second || op.cmd.kind != OpKind::Copyback {
            if op.cmd.kind == OpKind::Erase {
                self.erase_ended(id);
            }
            return self.array_ended(unit, id);
        }
        if self.fixed.faults.is_some() {
            self.judge_reads(id);
        }
        let s = &mut self.state;
        let (op, u) = (&mut s.ops[id], &mut s.units[unit.index()]);
        op.second = true;
        u.enters(Phase::Channel);
        op.cmd.occupant = Occupant::GcProgram;
        op.cmd.page = op.cmd.copy_to().page;
        u.account.count_to(account::of(Occupant::GcProgram), s.now);
        self.request_channel(id);
        Fact::Nothing
    }

    /// End a program, the program of a copyback, or an erase. The unit is free.
    #[inline]
    fn array_ended(&mut self, unit: BusyUnit, id: u32) -> Fact {
        if self.fixed.faults.is_some() {
            self.judge_ended(id);
        }
        let suspended = self.state.units[unit.index()].run.course.suspends > 0;
        if suspended {
            self.charge_suspended(id);
        }
        if self.state.ops[id].joined != NONE {
            self.share_account(id);
        }
        if suspended {
            let mut at = self.state.ops[id].joined;
            while at != NONE {
                self.charge_suspended(at);
                at = self.state.ops[at].joined;
            }
        }
        if !(self.fixed.cache_program && self.promote(unit)) {
            self.release_unit(unit);
        }
        Fact::Ended(OpId(id))
    }

    /// Charge the rest of the time of an ended operation that was suspended to suspension.
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
        self.observe_queue(id, self.outcome(id));
        OpId::of_link(next)
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
