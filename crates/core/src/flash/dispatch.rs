//! Decides which operation gets a die next.
//!
//! An operation first gets its die (its busy unit), then the channel. It holds the die until it has
//! left the array and its data are transferred out. The wait of a queued operation is charged from
//! the difference of two copies of the die's account.

use super::account;
use super::op::{Op, OpId};
use super::state::Flash;
use super::unit::Phase;
use crate::address::BusyUnit;
use crate::containers::NONE;
use crate::nand::OpKind;
use crate::observer::{Observer, QueueStep, Step};
use crate::policy::schedule::QueueView;
use tailcut_units::{Occupant, Occupants};

/// What the controller must do after it has submitted an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Submitted {
    /// Nothing.
    Taken,
    /// The operation's unit is idle. The operation begins when the controller calls [`Flash::begin_gathered`], after
    /// all operations of this event are submitted, so that others may join it. This is returned once for each unit and
    /// event.
    Gathers,
    /// The operation is a host program, and its unit is closed to host programs.
    ProgramClosed,
}

/// A host operation that has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HostOpEnded {
    /// The busy unit of the operation.
    pub unit: BusyUnit,
    /// Whether the operation was a read.
    pub read: bool,
    /// Whether a reconstruction used the data that it read.
    pub rebuilds: bool,
}

impl<O: Observer> Flash<O> {
    /// Queue an operation at its die, or begin it if the die is free.
    #[inline]
    pub fn submit(&mut self, OpId(id): OpId) -> Submitted {
        let s = &mut self.state;
        let now = s.now;
        let op = &mut s.ops[id];
        op.entered = now;
        op.arrived = s.arrivals;
        op.joined = NONE;
        s.arrivals += 1;
        op.ledger.clear();
        let (unit, kind, rebuilds) = (op.cmd.unit, op.cmd.occupant, op.cmd.rebuilds());
        self.observe_queue(id, QueueStep::Arrives);
        let s = &mut self.state;
        let u = &mut s.units[unit.index()];
        if Occupants::HOST.has(kind) {
            u.load.ops += 1;
            u.load.reads += u32::from(Occupants::HOST_READS.has(kind));
            u.load.rebuilds += u32::from(rebuilds);
            s.host_ops += 1;
        }
        if self.fixed.senses.is_some() {
            // A sense reads the state of its blocks when it begins.
            self.prefetch_blocks(id);
        }
        self.enqueue(id, false)
    }

    /// Queue an operation at its die, or begin it if the die is free. A read whose data could not be decoded is queued
    /// again: with `in_order` at the position of its first arrival, otherwise at the end.
    #[inline(always)]
    pub(super) fn enqueue(&mut self, id: u32, in_order: bool) -> Submitted {
        let s = &mut self.state;
        let now = s.now;
        let (unit, kind) = (s.ops[id].cmd.unit, s.ops[id].cmd.occupant);
        let u = &mut s.units[unit.index()];
        if u.phase == Phase::Out && now >= u.until && !u.awaited {
            u.go_idle();
        }
        let open = u.gates.open().has(kind);
        let gathers = self.fixed.joins.gathers(kind);
        let mut result = Submitted::Taken;
        if u.phase == Phase::Idle && open && self.may_begin_at_once(unit, kind) {
            if !gathers {
                self.grant(id);
                return Submitted::Taken;
            }
            let u = &mut self.state.units[unit.index()];
            if !std::mem::replace(&mut u.gathering, true) {
                result = Submitted::Gathers;
            }
        }
        let s = &mut self.state;
        let u = &mut s.units[unit.index()];
        account::copy(u.account.settle(now), &mut s.ops[id].seen);
        match (gathers, in_order) {
            (true, false) => u.queues.line_up(&mut s.ops, id),
            (true, true) => u.queues.line_up_in_order(&mut s.ops, id),
            (false, false) => u.queues.push_back(&mut s.ops, id),
            (false, true) => u.queues.return_in_order(&mut s.ops, id),
        }
        if kind == Occupant::UserRead {
            s.channels[u.channel as usize].reads += 1;
        }
        if u.phase == Phase::Out {
            self.await_out(unit);
        } else if u.interrupters.has(kind) && open {
            self.interrupt(unit, id);
        } else if u.phase == Phase::Channel && open {
            self.overtake(unit, kind);
        } else if u.phase == Phase::Reading {
            self.arrives_beside(unit, OpId(id));
        } else if self.fixed.cache_program && u.phase == Phase::Array && self.arrives_behind(unit, kind) {
            result = Submitted::Gathers;
        }
        let gates = &self.state.units[unit.index()].gates;
        if gates.programs_closed > 0 && Occupants::HOST_PROGRAMS.has(kind) {
            result = Submitted::ProgramClosed;
        }
        result
    }

    /// Begin the operations that were queued at an idle unit, so that others of the same event could join them. The
    /// controller calls this at the end of the event.
    #[cold]
    pub fn begin_gathered(&mut self, unit: BusyUnit) {
        let u = &mut self.state.units[unit.index()];
        u.gathering = false;
        if u.phase == Phase::Idle {
            self.dispatch(unit);
        } else {
            self.fill_cache(unit);
        }
    }

    /// Let an arrival with channel priority take the die from a holder without priority that still waits for the
    /// channel with its first command. The holder returns to its position in its queue.
    pub(super) fn overtake(&mut self, unit: BusyUnit, arrival: Occupant) {
        let first = self.fixed.grants.first;
        let s = &mut self.state;
        let now = s.now;
        let id = s.units[unit.index()].holder;
        let op = &mut s.ops[id];
        let kind = op.cmd.occupant;
        if op.second || !first.has(arrival) || first.has(kind) {
            return;
        }
        debug_assert!(!op.along, "a read that was sensed with another has asked for its channel");
        let u = &mut s.units[unit.index()];
        u.account.count_to(account::IDLE, now);
        u.holder = NONE;
        // The operations that joined the holder return to their positions too.
        u.joined = 0;
        self.return_to_queue(OpId(id));
        self.state.units[unit.index()].enters(Phase::Idle);
        self.observe(id, Step::Returned, now);
        self.dispatch(unit);
    }

    /// Return an operation that waits for its channel with its first command, and those that joined it, to their
    /// positions in the queues of their unit. The account of the unit must be settled.
    pub(super) fn return_to_queue(&mut self, OpId(id): OpId) {
        let s = &mut self.state;
        let op = &s.ops[id];
        let (number, queue) = (op.channel, self.fixed.grants.queue(op));
        let (unit, kind) = (op.cmd.unit, op.cmd.occupant);
        let channel = &mut s.channels[number as usize];
        let spent = channel.spent(s.now);
        channel.remove(queue, &mut s.ops, id);
        let mut at = id;
        while at != NONE {
            let s = &mut self.state;
            s.charge_channel_wait(at, &spent);
            let u = &mut s.units[unit.index()];
            let op = &mut s.ops[at];
            op.seen = *u.account.held();
            op.along = false;
            let next = std::mem::replace(&mut op.joined, NONE);
            if self.fixed.joins.gathers(kind) {
                u.queues.line_up_in_order(&mut s.ops, at);
            } else {
                u.queues.return_in_order(&mut s.ops, at);
            }
            self.observe_queue(at, QueueStep::Returns);
            at = next;
        }
    }

    /// Whether an operation that arrives at an idle unit may begin without queueing.
    #[inline]
    fn may_begin_at_once(&self, unit: BusyUnit, kind: Occupant) -> bool {
        let open = self.open_queues(unit);
        let waits = self.state.units[unit.index()].queues.waiting().meets(open);
        if self.fixed.reads_close_channel {
            return kind == Occupant::UserRead || open.has(kind) && !waits;
        }
        !waits
    }

    /// The kinds of work that may begin at a unit now.
    #[inline]
    pub(super) fn open_queues(&self, unit: BusyUnit) -> Occupants {
        let s = &self.state;
        let u = &s.units[unit.index()];
        let open = u.gates.open();
        if self.fixed.reads_close_channel && s.channels[u.channel as usize].reads > 0 {
            return open & Occupant::UserRead.only();
        }
        if self.fixed.collections_hold_programs && u.gates.collecting > 0 {
            return open & self.beside_collections(unit);
        }
        open
    }

    /// The kinds of work that may begin at a unit with collections under way that hold back other work.
    fn beside_collections(&self, unit: BusyUnit) -> Occupants {
        let u = &self.state.units[unit.index()];
        let mut open = Occupants::ALL;
        if !u.queues.waiting().meets(Occupants::COLLECTION & Occupants::PROGRAMS) {
            open = open & !Occupants::HOST_PROGRAMS;
        }
        if u.gates.moving > 0 {
            open = open & !Occupant::Erase.only();
        }
        open
    }

    /// Dispatch the idle units of a channel, because its last waiting host read has got its die and other work may
    /// begin.
    #[cold]
    fn reopen_channel(&mut self, channel: u32) {
        let per_channel = (self.state.units.len() / self.state.channels.len()) as u32;
        for unit in (channel * per_channel..(channel + 1) * per_channel).map(BusyUnit) {
            match self.state.units[unit.index()].phase {
                Phase::Idle => self.dispatch(unit),
                Phase::Reading => self.begin_beside(unit),
                Phase::Array => self.fill_cache(unit),
                _ => {}
            }
        }
    }

    /// Begin the operation that the schedule chooses at an idle unit, if any may begin.
    #[inline]
    pub(super) fn dispatch(&mut self, unit: BusyUnit) {
        let open = self.open_queues(unit);
        let s = &mut self.state;
        let u = &mut s.units[unit.index()];
        debug_assert_eq!(u.phase, Phase::Idle);
        if u.suspended > 0 {
            return self.dispatch_over_suspended(unit);
        }
        let waiting = u.queues.waiting() & open;
        if waiting.is_empty() {
            return;
        }
        let kind = match waiting.single() {
            Some(kind) => kind,
            None => s.schedule.next(&QueueView {
                waiting,
                urgent: u.gates.urgent > 0,
                arrived: u.queues.arrived(),
            }),
        };
        let id = self.take_queued(unit, kind);
        self.grant(id);
        self.read_left(unit, kind);
    }

    /// Reopen the channel of a unit if the host read that left the unit's queue was the last one waiting on the
    /// channel.
    #[inline]
    pub(super) fn read_left(&mut self, unit: BusyUnit, kind: Occupant) {
        if self.fixed.reads_close_channel && kind == Occupant::UserRead {
            let s = &self.state;
            let channel = s.units[unit.index()].channel;
            if s.channels[channel as usize].reads == 0 {
                self.reopen_channel(channel);
            }
        }
    }

    /// Take the head of a queue and charge its wait. Operations that may join it leave the queue
    /// too.
    #[inline]
    pub(super) fn take_queued(&mut self, unit: BusyUnit, kind: Occupant) -> u32 {
        let id = self.state.units[unit.index()].queues.head(kind);
        self.leave_queue(unit, kind, id);
        if self.fixed.joins.has(kind) {
            self.join(id);
        }
        id
    }

    /// Take an operation out of its unit's queue, and charge its wait.
    #[inline]
    pub(super) fn leave_queue(&mut self, unit: BusyUnit, kind: Occupant, id: u32) {
        let s = &mut self.state;
        let u = &mut s.units[unit.index()];
        u.queues.unlink(&mut s.ops, kind, id);
        if kind == Occupant::UserRead {
            s.channels[u.channel as usize].reads -= 1;
        }
        u.account.settle(s.now);
        let Op { cmd, entered, seen, ledger, .. } = &mut s.ops[id];
        u.account.charge_wait(seen, ledger);
        let met = u.account.met_collection(seen);
        u.met_collection = met;
        if cmd.tag != NONE {
            if u.met_until > *entered {
                s.commands.queues_behind(cmd.tag);
            }
            if met {
                s.commands.meets_collection(cmd.tag);
            }
        }
        self.observe_queue(id, QueueStep::Leaves);
    }

    /// Give an operation its die, and request the channel.
    #[inline]
    pub(super) fn grant(&mut self, id: u32) {
        let s = &mut self.state;
        let now = s.now;
        let cmd = &s.ops[id].cmd;
        if self.fixed.plane_reads && cmd.kind == OpKind::Read {
            return self.grant_first_planes(OpId(id));
        }
        let u = &mut s.units[cmd.unit.index()];
        u.account.count_to(account::of(cmd.occupant), now);
        u.holder = id;
        u.enters(Phase::Channel);
        u.interrupters = Occupants::NONE;
        u.run.course.suspends = 0;
        self.observe(id, Step::Granted, now);
        self.request_channel(id);
    }

    /// Handle the end of a transfer that a unit awaits: release the unit, or planes of it, after data out; or note that
    /// the data of a program are in.
    #[inline]
    pub(super) fn release_from_channel(&mut self, unit: BusyUnit) {
        match self.state.units[unit.index()].phase {
            Phase::Out => self.release_unit(unit),
            Phase::Reading => self.release_planes(unit),
            phase => {
                debug_assert_eq!(phase, Phase::Array, "the data of a program are in");
                self.data_are_in(unit);
            }
        }
    }

    /// Free a unit that its holder has left, and dispatch the next operation.
    #[inline]
    pub(super) fn release_unit(&mut self, unit: BusyUnit) {
        let s = &mut self.state;
        let u = &mut s.units[unit.index()];
        u.account.count_to(u.gates.idle_slot(), s.now);
        u.met_until = if u.met_collection { s.now } else { u.met_until };
        u.met_collection = false;
        u.enters(Phase::Idle);
        u.holder = NONE;
        u.awaited = false;
        self.dispatch(unit);
    }

    /// The first host read in a unit's queue.
    pub fn first_queued_read(&self, unit: BusyUnit) -> Option<OpId> {
        OpId::of_link(self.state.units[unit.index()].queues.head(Occupant::UserRead))
    }

    /// The next operation in the queue after this one.
    pub fn queued_after(&self, OpId(op): OpId) -> Option<OpId> {
        OpId::of_link(self.state.ops[op].next)
    }

    /// Withdraw a queued host read: take it out of its unit's queue.
    pub fn withdraw(&mut self, unit: BusyUnit, OpId(id): OpId) {
        let kind = self.state.ops[id].cmd.occupant;
        self.leave_queue(unit, kind, id);
        self.make_whole(id);
        self.read_left(unit, kind);
        self.fill_cache(unit);
    }
}
