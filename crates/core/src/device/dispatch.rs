//! Dies and channels: who is served, and what each waits for.
//!
//! An operation first gets its die, then the channel. The die is held until the
//! operation has left the array and its data are out; what waits behind it is told
//! what it waited for by the difference of two copies of the die's account.

use super::collect::{PROGRAMS, READS};
use super::drive::{Afterwards, Device};
use super::host::charge;
use super::medium::Medium;
use super::observer::{Closing, Observer, RequestEvent, RequestStep, Step, StepEvent};
use super::observer::{Turn, TurnEvent, WriteEvent, WriteStep};
use super::op::{Op, OpKind, Owner, Queue};
use super::op::{WAIT_HOLD, WAIT_HOLD_ERASE, WAIT_IDLE, WAIT_OVERHEAD, WAIT_POINT, WAIT_SLOTS};
use super::server::Phase;
use super::slab::Slab;
use crate::ftl::NONE;
use crate::policy::schedule::QueueView;
use tailcut_units::{Cause, Occupant, SimTime};

/// The queues that stay open while a collection holds the unit.
const COLLECTION_QUEUES: u8 =
    1 << Occupant::GcRead as u8 | 1 << Occupant::GcProgram as u8 | 1 << Occupant::Erase as u8;

/// The slots of a die's account that are a collection's.
pub(super) const MET: u32 = COLLECTION_QUEUES as u32 | 1 << WAIT_HOLD | 1 << WAIT_HOLD_ERASE;

/// The queue of host reads.
pub(super) const READ_QUEUE: u8 = 1 << Occupant::UserRead as u8;

#[inline]
fn is_host(occupant: Occupant) -> bool {
    1 << occupant as u8 & (COLLECTION_QUEUES | 1 << Occupant::Background as u8) == 0
}

/// Whether an operation may begin while a collection holds the unit.
#[inline]
pub(super) fn passes_hold(occupant: Occupant) -> bool {
    1 << occupant as u8 & COLLECTION_QUEUES != 0
}

#[inline]
pub(super) fn enqueue(queue: &mut Queue, ops: &mut Slab<Op>, op: u32) {
    ops[op].next = NONE;
    match queue.tail {
        NONE => queue.head = op,
        tail => ops[tail].next = op,
    }
    queue.tail = op;
}

#[inline]
pub(super) fn dequeue(queue: &mut Queue, ops: &mut Slab<Op>) -> u32 {
    let op = queue.head;
    unlink(queue, ops, NONE, op);
    op
}

/// Take an operation out of a queue, from behind `before` (`NONE`: it is the head).
#[inline]
pub(super) fn unlink(queue: &mut Queue, ops: &mut Slab<Op>, before: u32, op: u32) {
    let next = ops[op].next;
    match before {
        NONE => queue.head = next,
        before => ops[before].next = next,
    }
    if next == NONE {
        queue.tail = before;
    }
}

/// Put an operation at the head of a queue.
#[inline]
pub(super) fn push_front(queue: &mut Queue, ops: &mut Slab<Op>, op: u32) {
    ops[op].next = queue.head;
    if queue.tail == NONE {
        queue.tail = op;
    }
    queue.head = op;
}

/// Take an operation out of a queue that it is in.
pub(super) fn remove(queue: &mut Queue, ops: &mut Slab<Op>, op: u32) {
    let (mut before, mut at) = (NONE, queue.head);
    while at != op {
        (before, at) = (at, ops[at].next);
    }
    unlink(queue, ops, before, op);
}

impl<O: Observer, M: Medium> Device<O, M> {
    /// Queue an operation at its die, or begin it if the die is free.
    #[inline]
    pub(super) fn enqueue_op(&mut self, id: u32) {
        let s = &mut self.state;
        let now = s.now;
        let op = &mut s.ops[id];
        op.entered = now;
        op.arrived = s.arrivals;
        op.joined = NONE;
        s.arrivals += 1;
        op.ledger.clear();
        self.observe_turn(id, Turn::Arrives);
        let s = &mut self.state;
        let op = &mut s.ops[id];
        let unit = op.unit;
        let occupant = op.occupant;
        let rebuilds = op.rebuilds();
        let u = &mut s.units[unit as usize];
        if is_host(occupant) {
            u.host_ops += 1;
            u.rebuilds += u32::from(rebuilds);
            u.host_reads += u32::from(s.may_bar_programs && READS >> occupant as u8 & 1 != 0);
            s.host_ops += 1;
        }
        if u.phase == Phase::Out
            && now >= u.until
            && !s.timers.is_set(super::drive::TIMERS_FIXED + unit as usize)
        {
            u.go_idle();
        }
        let barred = u.bars > 0 && PROGRAMS >> occupant as u8 & 1 != 0;
        let open = (u.holds == 0 || passes_hold(occupant)) && !barred;
        if u.phase == Phase::Idle && open && self.may_begin_at_once(unit, occupant) {
            if !self.state.joins.gathers(occupant) {
                return self.grant(id);
            }
            let u = &mut self.state.units[unit as usize];
            if !std::mem::replace(&mut u.gathering, true) {
                self.state.afterwards.push(Afterwards::Begin { unit });
            }
        }
        let s = &mut self.state;
        let u = &mut s.units[unit as usize];
        u.settle(now);
        let op = &mut s.ops[id];
        op.seen = u.held;
        let bit = 1 << occupant as u8;
        if u.waiting & bit == 0 {
            u.waiting |= bit;
            u.arrived[occupant as usize] = op.arrived;
        }
        if s.joins.gathers(occupant) {
            u.line_up(&mut s.ops, id);
        } else {
            enqueue(&mut u.queues[occupant as usize], &mut s.ops, id);
        }
        if occupant == Occupant::UserRead {
            s.channels[u.channel as usize].reads += 1;
        }
        if u.phase == Phase::Out {
            let until = u.until;
            let timer = self.timer_of_unit(unit);
            self.state.timers.set(timer, until);
        } else if u.interrupters & bit != 0 && open {
            self.interrupt(unit, id);
        } else if u.phase == Phase::Channel && open {
            self.overtake(unit, occupant);
        }
        if barred {
            // A program that waits may be what a collection goes on for.
            self.wake_unit(unit);
        }
    }

    /// The event is over that queued operations at an idle unit, each of which might have begun
    /// at once, but for others of its kind that may join it.
    #[cold]
    pub(super) fn begin_gathered(&mut self, unit: u32) {
        let u = &mut self.state.units[unit as usize];
        u.gathering = false;
        if u.phase == Phase::Idle {
            self.dispatch(unit);
        }
    }

    /// What goes first on the channel takes the die from an operation that has not begun,
    /// as it waits for the channel: it returns to the head of its queue.
    fn overtake(&mut self, unit: u32, occupant: Occupant) {
        let s = &mut self.state;
        let now = s.now;
        let id = s.units[unit as usize].holder;
        let op = &mut s.ops[id];
        let holder = op.occupant;
        let schedule = &mut s.policies.schedule;
        if op.second || !schedule.first_on_channel(occupant) || schedule.first_on_channel(holder) {
            return;
        }
        let channel = &mut s.channels[op.channel as usize];
        let spent = channel.spent(now);
        let (number, arrived) = (op.channel, op.arrived);
        remove(&mut channel.rest, &mut s.ops, id);
        let empty = !channel.has_waiters();
        let u = &mut s.units[unit as usize];
        u.count_to(WAIT_IDLE, now);
        u.phase = Phase::Idle;
        u.holder = NONE;
        u.waiting |= 1 << holder as u8;
        u.arrived[holder as usize] = arrived;
        // What joined it returns to its place too.
        u.joined = 0;
        let mut at = id;
        while at != NONE {
            let s = &mut self.state;
            let u = &mut s.units[unit as usize];
            let op = &mut s.ops[at];
            for occupant in Occupant::ALL {
                let ns = spent[occupant as usize] - op.seen[occupant as usize];
                charge(&mut op.ledger, Cause::channel_wait(occupant), ns);
            }
            op.seen = u.held;
            op.along = false;
            let next = std::mem::replace(&mut op.joined, NONE);
            if s.joins.gathers(holder) {
                u.put_back(&mut s.ops, at);
            } else {
                push_front(&mut u.queues[holder as usize], &mut s.ops, at);
            }
            self.observe_turn(at, Turn::Returns);
            at = next;
        }
        self.observe(id, Step::Returned, now);
        if empty {
            let timer = self.timer_of_channel(number);
            self.state.timers.clear(timer);
        }
        self.dispatch(unit);
    }

    /// Whether an arrival at an idle unit need not queue.
    #[inline]
    fn may_begin_at_once(&self, unit: u32, occupant: Occupant) -> bool {
        let open = self.open_queues(unit);
        let waiting = self.state.units[unit as usize].waiting;
        if self.state.reads_close_channel {
            return occupant == Occupant::UserRead || open & !READ_QUEUE != 0 && waiting & open == 0;
        }
        waiting & open == 0
    }

    /// The queues of a unit whose work may begin.
    #[inline]
    pub(super) fn open_queues(&self, unit: u32) -> u8 {
        let s = &self.state;
        let u = &s.units[unit as usize];
        let open = if u.holds > 0 {
            COLLECTION_QUEUES
        } else if u.bars > 0 {
            !PROGRAMS
        } else {
            u8::MAX
        };
        if s.reads_close_channel && s.channels[u.channel as usize].reads > 0 {
            return open & READ_QUEUE;
        }
        open
    }

    /// The last host read that waited on a channel has its die: what it kept back may begin.
    #[cold]
    fn reopen_channel(&mut self, channel: u32) {
        let per_channel = self.shape.units / self.shape.channels;
        for unit in channel * per_channel..(channel + 1) * per_channel {
            if self.state.units[unit as usize].phase == Phase::Idle {
                self.dispatch(unit);
            }
        }
    }

    /// The unit is free: begin the operation the schedule names, if any may begin.
    #[inline]
    pub(super) fn dispatch(&mut self, unit: u32) {
        let open = self.open_queues(unit);
        let s = &mut self.state;
        let u = &mut s.units[unit as usize];
        debug_assert_eq!(u.phase, Phase::Idle);
        if u.suspended > 0 {
            return self.dispatch_over_suspended(unit);
        }
        let waiting = u.waiting & open;
        if waiting == 0 {
            return;
        }
        let occupant = if waiting & (waiting - 1) == 0 {
            Occupant::ALL[waiting.trailing_zeros() as usize]
        } else {
            s.policies.schedule.next(&QueueView { waiting, urgent: u.urgent > 0, arrived: &u.arrived })
        };
        let id = self.take_queued(unit, occupant);
        self.grant(id);
        self.read_left(unit, occupant);
    }

    /// A read that waited has its die: its channel may be open again.
    #[inline]
    pub(super) fn read_left(&mut self, unit: u32, occupant: Occupant) {
        let s = &self.state;
        if s.reads_close_channel && occupant == Occupant::UserRead {
            let channel = s.units[unit as usize].channel;
            if s.channels[channel as usize].reads == 0 {
                self.reopen_channel(channel);
            }
        }
    }

    /// Take the head of a queue, and tell it what it waited for.
    #[inline]
    pub(super) fn take_queued(&mut self, unit: u32, occupant: Occupant) -> u32 {
        let id = self.state.units[unit as usize].queues[occupant as usize].head;
        self.leave_queue(unit, occupant, NONE, id);
        if self.state.joins.has(occupant) {
            self.join(id);
        }
        id
    }

    /// The turn of a queued operation has come: out of its unit's queue, from behind `before`.
    #[inline]
    pub(super) fn leave_queue(&mut self, unit: u32, occupant: Occupant, before: u32, id: u32) {
        let s = &mut self.state;
        let u = &mut s.units[unit as usize];
        let queue = &mut u.queues[occupant as usize];
        unlink(queue, &mut s.ops, before, id);
        match queue.head {
            NONE => u.waiting &= !(1 << occupant as u8),
            head => u.arrived[occupant as usize] = s.ops[head].arrived,
        }
        if occupant == Occupant::UserRead {
            s.channels[u.channel as usize].reads -= 1;
        }
        self.charge_die_wait(unit, id);
        self.observe_turn(id, Turn::Leaves);
    }

    /// What a queued operation waited for, now that its turn has come.
    #[inline]
    fn charge_die_wait(&mut self, unit: u32, id: u32) {
        let s = &mut self.state;
        let u = &mut s.units[unit as usize];
        u.settle(s.now);
        let op = &mut s.ops[id];
        let mut met = false;
        for slot in 0..WAIT_SLOTS {
            let ns = u.held[slot] - op.seen[slot];
            if ns != 0 {
                let cause = match slot {
                    WAIT_IDLE => Cause::DIE_IDLE,
                    WAIT_HOLD => Cause::GC_HOLD,
                    WAIT_HOLD_ERASE => Cause::GC_HOLD_ERASE,
                    WAIT_POINT => Cause::SUSPEND_POINT,
                    WAIT_OVERHEAD => Cause::SUSPEND_OVERHEAD,
                    _ => Cause::die_wait(Occupant::ALL[slot]),
                };
                op.ledger.add(cause, ns);
                met |= MET >> slot & 1 != 0;
            }
        }
        u.met_collection = met;
        if let Some(r) = s.request_of(id) {
            let behind = s.units[unit as usize].met_until > s.ops[id].entered;
            s.requests[r].queued_behind |= behind;
            if met {
                s.meets_collection(r);
            }
        }
    }

    /// The operation has its die.
    #[inline]
    pub(super) fn grant(&mut self, id: u32) {
        let s = &mut self.state;
        let now = s.now;
        let op = &mut s.ops[id];
        let u = &mut s.units[op.unit as usize];
        u.count_to(op.occupant as usize, now);
        u.holder = id;
        u.phase = Phase::Channel;
        u.interrupters = 0;
        u.run.suspends = 0;
        self.observe(id, Step::Granted, now);
        self.request_channel(id);
    }

    #[inline]
    pub(super) fn request_channel(&mut self, id: u32) {
        let s = &mut self.state;
        let now = s.now;
        let op = &mut s.ops[id];
        let number = op.channel;
        let channel = &mut s.channels[number as usize];
        if channel.busy_until <= now && !channel.has_waiters() {
            return self.use_channel(id);
        }
        let spent = channel.spent(now);
        op.seen[..Occupant::COUNT].copy_from_slice(&spent);
        // What joined it waits with it, until the command is out.
        let mut along = if op.second { NONE } else { op.joined };
        while along != NONE {
            let o = &mut s.ops[along];
            o.seen[..Occupant::COUNT].copy_from_slice(&spent);
            along = o.joined;
        }
        let op = &s.ops[id];
        let first = s.policies.schedule.first_on_channel(op.occupant);
        let idle = !channel.has_waiters();
        let queue = if first { &mut channel.first } else { &mut channel.rest };
        enqueue(queue, &mut s.ops, id);
        if idle {
            let until = channel.busy_until;
            let timer = self.timer_of_channel(number);
            self.state.timers.set(timer, until);
        }
    }

    /// The channel is free and something waits for it.
    #[inline]
    pub(super) fn channel_timer(&mut self, number: u32) {
        let s = &mut self.state;
        let channel = &mut s.channels[number as usize];
        let queue = if channel.first.head == NONE { &mut channel.rest } else { &mut channel.first };
        let id = dequeue(queue, &mut s.ops);
        let granted = channel.granted;
        let second = s.ops[id].second;
        let mut at = id;
        while at != NONE {
            let op = &mut s.ops[at];
            let mut met = false;
            for occupant in Occupant::ALL {
                let ns = granted[occupant as usize] - op.seen[occupant as usize];
                if ns != 0 {
                    op.ledger.add(Cause::channel_wait(occupant), ns);
                    met |= passes_hold(occupant);
                }
            }
            let (unit, next) = (op.unit, if second { NONE } else { op.joined });
            if met {
                s.units[unit as usize].met_collection = true;
                if let Some(r) = s.request_of(at) {
                    s.meets_collection(r);
                }
            }
            at = next;
        }
        self.use_channel(id);
        let timer = self.timer_of_channel(number);
        let s = &mut self.state;
        let channel = &s.channels[number as usize];
        if channel.has_waiters() {
            s.timers.set(timer, channel.busy_until);
        } else {
            s.timers.clear(timer);
        }
    }

    /// The operation has the channel now.
    #[inline]
    fn use_channel(&mut self, id: u32) {
        if self.state.ops[id].second {
            match self.state.ops[id].kind {
                OpKind::Read => return self.data_out(id),
                OpKind::Program => return self.transfer_again(id),
                OpKind::Copyback | OpKind::Erase => {}
            }
        }
        let s = &mut self.state;
        let now = s.now;
        let t = &self.shape.timing;
        let op = &mut s.ops[id];
        let (mut planes, mut codewords) = (op.planes.count_ones(), op.codewords);
        let (kind, page) = (op.kind, op.page);
        if op.joined != NONE {
            planes = self.joined_planes(id);
            codewords = self.joined_codewords(id);
        }
        let op = &mut self.state.ops[id];
        let command = t.command_ns * u64::from(planes);
        let (data, array) = match kind {
            OpKind::Read => (0, t.read_ns(page)),
            OpKind::Program => (t.transfer_codewords_ns(codewords), t.program_ns(page)),
            OpKind::Erase => (0, t.erase_ns),
            OpKind::Copyback if op.second => (0, t.program_ns(page)),
            OpKind::Copyback => (0, t.read_ns(page)),
        };
        let s = &mut self.state;
        let op = &mut s.ops[id];
        op.started = now;
        s.counters.array_ns[kind.counted(op.second)] += array;
        s.counters.operations[op.occupant as usize] += 1;
        s.counters.planes[op.occupant as usize] += u64::from(planes);
        charge(&mut op.ledger, Cause::COMMAND, command);
        charge(&mut op.ledger, Cause::TRANSFER, data);
        charge(&mut op.ledger, Cause::ARRAY, array);
        let (unit, mut along) = (op.unit, if kind == OpKind::Read { NONE } else { op.joined });
        s.channels[op.channel as usize].occupy(op.occupant, now, command + data);
        let u = &mut s.units[unit as usize];
        u.phase = Phase::Array;
        u.plane_ns += array * u64::from(planes);
        let begun = now + command + data;
        self.observe(id, Step::ChannelIn, begun);
        while along != NONE {
            self.observe_stop(along, Step::Joined, id, now);
            along = self.state.ops[along].joined;
        }
        self.observe_from(id, Step::Array, begun, begun + array);
        let timer = self.timer_of_unit(unit);
        let s = &mut self.state;
        s.timers.set(timer, begun + array);
        if s.interrupters[s.ops[id].occupant as usize] != 0 {
            self.begin_run(id, begun, array);
        }
    }

    /// A sensed page leaves its register, codeword by codeword into the decoder.
    #[inline]
    fn data_out(&mut self, id: u32) {
        let s = &mut self.state;
        let now = s.now;
        let op = &mut s.ops[id];
        let transfer = self.shape.timing.transfer_codewords_ns(op.codewords);
        let number = op.channel;
        let d = s.eccs[number as usize].transfer(now, op.codewords, transfer);
        charge(&mut op.ledger, Cause::TRANSFER, transfer);
        charge(&mut op.ledger, Cause::ECC_QUEUE, d.stalled + d.waited);
        charge(&mut op.ledger, Cause::DECODE, d.done - d.channel_free - d.waited);
        let unit = op.unit;
        s.channels[number as usize].occupy(op.occupant, now, d.channel_free - now);
        s.channels[number as usize].stalled += d.stalled;
        let u = &mut s.units[unit as usize];
        let last = u.joined == 0;
        if last {
            u.phase = Phase::Out;
            u.until = d.channel_free;
        } else {
            // What was sensed with it has the unit next.
            u.joined -= 1;
            u.holder = s.ops[id].joined;
        }
        let observed = last && (u.waiting != 0 || u.suspended != 0);
        let decoding = &mut s.decoding[number as usize];
        let decoder_idle = decoding.is_empty();
        decoding.push_back((d.done, id));
        if std::mem::take(&mut self.state.ops[id].along) {
            self.observe(id, Step::Granted, now);
        }
        self.observe(id, Step::ChannelOut, d.channel_free);
        if observed {
            let timer = self.timer_of_unit(unit);
            self.state.timers.set(timer, d.channel_free);
        }
        if decoder_idle {
            let timer = self.timer_of_decoder(number);
            self.state.timers.set(timer, d.done);
        }
    }

    /// The array operation ended, or the data are out.
    #[inline]
    pub(super) fn unit_timer(&mut self, unit: u32) {
        let timer = self.timer_of_unit(unit);
        self.state.timers.clear(timer);
        let u = &mut self.state.units[unit as usize];
        match u.phase {
            Phase::Out => return self.release_unit(unit),
            Phase::Array => {}
            _ => return self.suspension_timer(unit),
        }
        let id = u.holder;
        let suspended = u.run.suspends > 0;
        if suspended {
            self.charge_suspended(id);
        }
        let u = &mut self.state.units[unit as usize];
        let op = &mut self.state.ops[id];
        let sensed = matches!(op.kind, OpKind::Read | OpKind::Copyback) && !op.second;
        if sensed {
            op.second = true;
            u.phase = Phase::Channel;
            if op.kind == OpKind::Copyback {
                op.occupant = Occupant::GcProgram;
                op.page = self.shape.layout.place(op.row).page;
                u.count_to(Occupant::GcProgram as usize, self.state.now);
            } else {
                let extent = op.extent;
                self.data_sensed(id);
                if self.state.extents.read_ends(extent) {
                    self.last_reader_left(extent);
                }
                if self.state.ops[id].joined != NONE {
                    return self.joined_sensed(id);
                }
            }
            return self.request_channel(id);
        }
        if op.joined != NONE {
            self.share_account(id);
            let mut at = self.state.ops[id].joined;
            while at != NONE {
                if suspended {
                    self.charge_suspended(at);
                }
                at = self.state.ops[at].joined;
            }
        }
        self.release_unit(unit);
        let mut at = id;
        while at != NONE {
            let op = &mut self.state.ops[at];
            let (kind, owner) = (op.kind, op.owner);
            let next = std::mem::replace(&mut op.joined, NONE);
            self.observe_turn(at, Turn::Ends);
            match (kind, owner) {
                (OpKind::Program, Owner::Group(group)) => self.programmed(at, group),
                (OpKind::Erase, Owner::Collection(lane)) => self.erased(at, lane),
                (OpKind::Copyback, Owner::Collection(lane)) => self.copied_back(at, lane),
                _ => unreachable!("{kind:?} for {owner:?}"),
            }
            at = next;
        }
    }

    #[inline]
    fn release_unit(&mut self, unit: u32) {
        let s = &mut self.state;
        let u = &mut s.units[unit as usize];
        u.count_to(u.idle_slot(), s.now);
        u.met_until = if u.met_collection { s.now } else { u.met_until };
        u.met_collection = false;
        u.phase = Phase::Idle;
        u.holder = NONE;
        self.dispatch(unit);
    }

    /// An operation is over and done with: its place in the pool is free.
    #[inline]
    pub(super) fn free_op(&mut self, id: u32) {
        let s = &mut self.state;
        let op = &s.ops[id];
        let (unit, occupant, rebuilds) = (op.unit, op.occupant, op.rebuilds());
        if is_host(occupant) {
            s.host_ops -= 1;
            s.scrub.host_ended = s.now;
            let u = &mut s.units[unit as usize];
            u.host_ops -= 1;
            u.host_reads -= u32::from(s.may_bar_programs && READS >> occupant as u8 & 1 != 0);
            let reads_left = s.may_bar_programs && READS >> occupant as u8 & 1 != 0;
            u.rebuilds -= u32::from(rebuilds);
            let quiet = u.host_ops == 0 || reads_left || rebuilds && u.rebuilds == 0;
            s.ops.give(id);
            if quiet && s.waiting_collections > 0 {
                self.wake_unit(unit);
            }
        } else {
            s.ops.give(id);
        }
    }

    /// One more (`close`) or one fewer collection closes a unit to host operations.
    /// It erases (`erases`), or moves data.
    pub(super) fn hold_unit(&mut self, unit: u32, close: bool, erases: bool) {
        let s = &mut self.state;
        let u = &mut s.units[unit as usize];
        if close {
            u.holds += 1;
            u.erasing += u16::from(erases);
        } else {
            u.holds -= 1;
            u.erasing -= u16::from(erases);
        }
        let closing = if close { Closing::Closes(erases) } else { Closing::Opens(erases) };
        self.observer.closing(unit, SimTime(s.now), closing);
        if u.phase == Phase::Idle {
            u.count_to(u.idle_slot(), s.now);
            self.dispatch(unit);
        }
    }

    /// One more (`close`) or one fewer collection closes a unit to host programs.
    pub(super) fn bar_unit(&mut self, unit: u32, close: bool) {
        let u = &mut self.state.units[unit as usize];
        u.bars = if close { u.bars + 1 } else { u.bars - 1 };
        if u.bars == 0 && u.phase == Phase::Idle {
            self.dispatch(unit);
        }
    }

    /// A collection that closes a unit goes on from moving to erasing.
    pub(super) fn erase_hold(&mut self, unit: u32) {
        let u = &mut self.state.units[unit as usize];
        u.erasing += 1;
        self.observer.closing(unit, SimTime(self.state.now), Closing::Erases);
        if u.phase == Phase::Idle {
            u.count_to(u.idle_slot(), self.state.now);
        }
    }

    #[inline]
    pub(super) fn observe(&mut self, id: u32, step: Step, until: u64) {
        self.observe_from(id, step, self.state.now, until);
    }

    /// The step of an operation that gives way to `by`, or joins it.
    pub(super) fn observe_stop(&mut self, id: u32, step: Step, by: u32, until: u64) {
        self.tell(id, step, self.state.now, until, by);
    }

    #[inline]
    pub(super) fn observe_turn(&mut self, id: u32, turn: Turn) {
        let s = &self.state;
        let op = &s.ops[id];
        let rebuild = if let Owner::Rebuild(rebuild) = op.owner { rebuild } else { op.rebuild };
        self.observer.turn(&TurnEvent {
            op: id,
            kind: op.kind,
            occupant: op.occupant,
            request: s.request_of(id).map_or(u64::MAX, |r| s.requests[r].index),
            rebuild: if s.request_of(id).is_some() { rebuild } else { NONE },
            write_unit: if let Owner::Group(group) = op.owner { group } else { NONE },
            unit: op.unit,
            channel: op.channel,
            planes: op.planes.count_ones(),
            codewords: op.codewords,
            bytes: if matches!(op.owner, Owner::Request(_)) { op.bytes } else { 0 },
            turn,
            at: SimTime(s.now),
        });
    }

    /// Tell of a request in this slot.
    #[inline]
    pub(super) fn observe_request(&mut self, id: u32, step: RequestStep) {
        let (request, at) = (self.state.requests[id].index, SimTime(self.state.now));
        self.observer.request(&RequestEvent { request, at, step });
    }

    /// Tell of a write unit, or of a stripe.
    #[inline]
    pub(super) fn observe_write(&mut self, number: u32, stripe: bool, step: WriteStep) {
        self.observer.write_unit(&WriteEvent { number, stripe, at: SimTime(self.state.now), step });
    }

    #[inline]
    fn observe_from(&mut self, id: u32, step: Step, at: u64, until: u64) {
        self.tell(id, step, at, until, NONE);
    }

    #[inline]
    fn tell(&mut self, id: u32, step: Step, at: u64, until: u64, by: u32) {
        let op = &self.state.ops[id];
        self.observer.step(&StepEvent {
            op: id,
            kind: op.kind,
            occupant: op.occupant,
            request: self.state.request_of(id).map_or(u64::MAX, |r| self.state.requests[r].index),
            by,
            unit: op.unit,
            channel: op.channel,
            page: op.page,
            step,
            at: SimTime(at),
            until: SimTime(until),
        });
    }
}
