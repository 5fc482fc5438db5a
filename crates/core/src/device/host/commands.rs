//! The host side: the device queue, the controller, the two directions of the link, and
//! completions. All are FIFO servers without preemption, so their times are computed directly.

use crate::address::Lpn;
use crate::containers::NONE;
use crate::containers::few_timers::FewTimers;
use crate::containers::slab::Slab;
use crate::containers::timers::UNSET;
use crate::device::drive::{Device, TIMER_READ_DONE, TIMER_READ_READY, TIMER_WRITE_DONE, TIMER_WRITE_READY};
use crate::device::medium::Medium;
use crate::flash::OpId;
use crate::observer::{Observer, RequestStep};
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use tailcut_units::{Cause, Command, HostOp, Ledger, Occupant, Occupants, SimTime, Span, Status};

/// The device queue is full: submit again after the next completion.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the device queue is full")]
pub struct QueueFull;

/// A command that ended.
#[derive(Clone, Copy, Debug)]
pub struct Completion<'a> {
    /// Serial number of the submission, from 0.
    pub index: u64,
    /// The tag that the submitter attached.
    pub tag: u64,
    /// The command.
    pub command: Command,
    /// When the host wanted to submit it: the start of its latency.
    pub arrived: SimTime,
    /// When it ended.
    pub completed: SimTime,
    /// How it ended.
    pub status: Status,
    /// Latency by cause; the sum is `completed − arrived`.
    pub ledger: &'a Ledger,
    /// A read's bytes; empty over a medium without data.
    pub data: &'a [u8],
}

/// A command under way.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(in crate::device) struct Request {
    pub index: u64,
    pub tag: u64,
    pub command: Command,
    pub arrived: u64,
    pub status: Status,
    pub ledger: Ledger,
    /// Operations and reconstructions (reads) or slots (write-through) still to end.
    pub remaining: u32,
    /// Write: the next logical unit to hold.
    pub next_lpn: Lpn,
    /// When its wait for room in the buffer began, or that of a FLUSH, ns.
    pub room_since: u64,
    /// FLUSH: the epoch it waits for.
    pub epoch: u32,
    /// Read: bytes that wait in the controller for the rest of its data.
    pub gathered: u32,
    /// Whether some of its data were computed from the rest of their stripe.
    pub rebuilt: bool,
    /// Whether it waited for a place in a full device queue that held a command that a collection
    /// had delayed.
    pub kept_out: bool,
}

impl Request {
    pub fn blank() -> Request {
        Request {
            index: 0,
            tag: 0,
            command: Command { op: HostOp::Flush, offset: 0, bytes: 0 },
            arrived: 0,
            status: Status::Ok,
            ledger: Ledger::new(),
            remaining: 0,
            next_lpn: Lpn(0),
            room_since: 0,
            epoch: 0,
            gathered: 0,
            rebuilt: false,
            kept_out: false,
        }
    }
}

/// A FIFO of (time, request) whose times never fall.
pub(in crate::device) type Ring = VecDeque<(u64, u32)>;

/// One direction of the host link.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct LinkWay {
    /// When the last transfer granted ends, ns.
    free: u64,
    /// Time of the transfers granted so far, ns. A transfer counts in full when it is granted.
    granted: u64,
    /// Bytes of the last transfer, and its time, ns. Most transfers have the same size.
    #[serde(skip)]
    last: (u64, u64),
}

impl LinkWay {
    /// Grant the link from `from` on, as soon as it is free, for a transfer. Returns when the
    /// transfer begins, and how long it takes.
    #[inline]
    fn grant(&mut self, from: u64, bytes: u64, rate: u64) -> (u64, u64) {
        if self.last.0 != bytes {
            self.last = (bytes, Span::transfer(bytes, rate).0);
        }
        let (begin, span) = (from.max(self.free), self.last.1);
        self.free = begin + span;
        self.granted += span;
        (begin, span)
    }
}

/// Queues and servers between the host and the FTL.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(in crate::device) struct Host {
    /// Commands under way.
    pub requests: Slab<Request>,
    submitted: u64,
    controller_free: u64,
    /// The direction to the host, and the direction from the host.
    up: LinkWay,
    down: LinkWay,
    pub(super) read_ready: Ring,
    pub(super) write_ready: Ring,
    pub(super) read_done: Ring,
    pub(super) write_done: Ring,
    /// Writes that wait for buffer room, in order.
    pub room: VecDeque<u32>,
    /// FLUSH commands that wait, in order.
    pub flushes: VecDeque<u32>,
    /// When the device queue was last full, ns.
    full_until: u64,
    /// When a command that a collection had delayed last left a full device queue, ns.
    blocked_until: u64,
    /// By busy unit: the read for which an operation was last reserved there, and that operation.
    pub last_read: Vec<(u64, Option<OpId>)>,
    /// The operations of one read, while it is translated.
    #[serde(skip)]
    pub scratch: Vec<OpId>,
}

impl Host {
    pub fn new(depth: u32, units: u32, most_parts: u32) -> Host {
        let ring = || VecDeque::with_capacity(depth as usize + 1);
        Host {
            requests: Slab::new(depth as usize, Request::blank()),
            submitted: 0,
            controller_free: 0,
            up: LinkWay::default(),
            down: LinkWay::default(),
            read_ready: ring(),
            write_ready: ring(),
            read_done: ring(),
            write_done: ring(),
            room: VecDeque::with_capacity(depth as usize + 1),
            flushes: VecDeque::with_capacity(depth as usize + 1),
            full_until: 0,
            blocked_until: 0,
            last_read: vec![(u64::MAX, None); units as usize],
            scratch: Vec::with_capacity(most_parts as usize + 1),
        }
    }
}

impl<O: Observer, M: Medium> Device<O, M> {
    /// Whether a further command would be accepted now.
    #[inline]
    pub fn has_place(&self) -> bool {
        !self.state.host.requests.is_exhausted()
    }

    /// Submit a command at time `at`, which must not be before the last `advance` (call
    /// `advance(at)` first: at equal times timers fire before submissions). `wanted` is when the
    /// host wanted to submit the command, at most `at`; its latency counts from there. Returns the
    /// serial number of the submission. Over a medium with data a write writes zeros.
    #[inline]
    pub fn submit(
        &mut self,
        at: SimTime,
        wanted: SimTime,
        command: Command,
        tag: u64,
    ) -> Result<u64, QueueFull> {
        self.submit_write(at, wanted, command, tag, &[])
    }

    /// Prepare the look-up of a command at this offset that is submitted soon, if one is: its place in the map is brought
    /// into the caches. Only the speed of the simulation depends on it.
    #[inline]
    pub fn prepare(&self, offset: u64) {
        self.map.prefetch(self.shape.layout.lpn_of(offset));
    }

    /// Like [`Device::submit`], with the bytes of a write, which a medium with data stores: as many
    /// as the command says, or none for zeros.
    #[inline]
    pub fn submit_write(
        &mut self,
        at: SimTime,
        wanted: SimTime,
        command: Command,
        tag: u64,
        data: &[u8],
    ) -> Result<u64, QueueFull> {
        if self.state.host.requests.is_exhausted() {
            return Err(QueueFull);
        }
        let kept_out = at > wanted && self.keeps_out(wanted.0);
        let s = &mut self.state;
        debug_assert!(at.0 >= s.now && wanted <= at && s.timers.first().1 > at.0);
        debug_assert!(data.is_empty() || data.len() == command.bytes as usize);
        debug_assert!(u64::from(command.bytes) <= self.shape.host.max_transfer || command.op == HostOp::Trim);
        self.pass(at.0);
        let s = &mut self.state;
        let id = s.host.requests.take();
        let r = &mut s.host.requests[id];
        r.index = s.host.submitted;
        s.host.submitted += 1;
        r.tag = tag;
        r.command = command;
        r.arrived = wanted.0;
        r.status = Status::Ok;
        r.gathered = 0;
        r.rebuilt = false;
        r.kept_out = kept_out;
        r.ledger.clear();
        if at > wanted {
            r.ledger.charge(Cause::HOST_QUEUE, (at - wanted).0);
        }
        let fetched = at.0 + self.shape.host.submit_latency.0;
        r.ledger.charge(Cause::HOST_LATENCY, self.shape.host.submit_latency.0);
        let start = fetched.max(s.host.controller_free);
        let decided = start + self.shape.controller_ns;
        s.host.controller_free = decided;
        r.ledger.charge(Cause::CONTROLLER_WAIT, start - fetched);
        r.ledger.charge(Cause::CONTROLLER, self.shape.controller_ns);
        if command.op == HostOp::Write {
            let rate = self.shape.host.link_rate;
            let (begin, span) = s.host.down.grant(decided, u64::from(command.bytes), rate);
            r.ledger.charge(Cause::HOST_LINK_WAIT, begin - decided);
            r.ledger.charge(Cause::HOST_LINK, span);
            r.ledger.charge(Cause::CONTROLLER, self.fixed.buffer_write_ns);
            let there = begin + span + self.fixed.buffer_write_ns;
            push(&mut s.host.write_ready, &mut s.timers, TIMER_WRITE_READY, there, id);
        } else {
            push(&mut s.host.read_ready, &mut s.timers, TIMER_READ_READY, decided, id);
        }
        self.data_submitted(id, data);
        self.observe_request(id, RequestStep::Submitted { command, wanted });
        Ok(self.state.host.requests[id].index)
    }

    /// Number of host writes under way, and when the host wanted the oldest.
    pub fn waiting_writes(&self) -> Option<(u32, SimTime)> {
        let s = &self.state;
        let writes = s.host.requests.in_use().into_iter().map(|id| &s.host.requests[id]);
        let mut arrived: Vec<u64> =
            writes.filter(|r| r.command.op == HostOp::Write).map(|r| r.arrived).collect();
        arrived.sort_unstable();
        Some((arrived.len() as u32, SimTime(*arrived.first()?)))
    }

    /// Whether the device queue was full after `wanted`, so that a command could not enter, and
    /// held a command that a collection had delayed by then.
    #[cold]
    fn keeps_out(&self, wanted: u64) -> bool {
        let h = &self.state.host;
        h.full_until > wanted
            && (h.blocked_until > wanted
                || self.flash.commands_blocked() > 0
                || self.collections_hold_up_commands())
    }

    /// Whether a collection has delayed an operation that still waits and that a command waits for.
    fn collections_hold_up_commands(&self) -> bool {
        let s = &self.state;
        if self.fixed.collects_instantly {
            return false;
        }
        // Commands that wait for data to leave the buffer wait for programs.
        let leaves = !self.fixed.acknowledge_held || !s.host.room.is_empty() || !s.host.flushes.is_empty();
        if leaves && (s.write.stalled.any() || s.parity.stripes.waiting > 0) {
            return true;
        }
        let user_reads = Occupant::UserRead.only();
        self.flash.collections_hold_up(if leaves { Occupants::HOST } else { user_reads })
    }

    /// Nanoseconds up to now in which the link moved data: to the host, and from it.
    pub(in crate::device) fn link_ns(&self) -> [u64; 2] {
        let (s, now) = (&self.state, self.state.now);
        // Transfers to the host follow one another from now on, so those granted end at `free`.
        let up = s.host.up.granted - s.host.up.free.saturating_sub(now).min(s.host.up.granted);
        // Transfers from the host begin only after the controller, so there may be gaps between
        // them.
        let ahead = |&(there, id): &(u64, u32)| {
            let bytes = u64::from(s.host.requests[id].command.bytes);
            let span = Span::transfer(bytes, self.shape.host.link_rate).0;
            (there - self.fixed.buffer_write_ns).saturating_sub(now).min(span)
        };
        let down = s.host.down.granted - s.host.write_ready.iter().map(ahead).sum::<u64>();
        [up, down]
    }

    pub(in crate::device) fn fetch_read(&mut self) {
        let s = &mut self.state;
        let id = pop(&mut s.host.read_ready, &mut s.timers, TIMER_READ_READY);
        let Command { op, offset, bytes } = s.host.requests[id].command;
        if op != HostOp::Flush && !self.in_range(offset, bytes) {
            self.state.host.requests[id].status = Status::OutOfRange;
            return self.complete_message(id);
        }
        match op {
            HostOp::Read => self.begin_read(id),
            HostOp::Trim if self.is_read_only() => {
                self.state.host.requests[id].status = Status::ReadOnly;
                self.complete_message(id);
            }
            HostOp::Trim => self.trim(id),
            HostOp::Flush => self.begin_flush(id),
            HostOp::Write => unreachable!("writes come through their own ring"),
        }
    }

    pub(in crate::device) fn fetch_write(&mut self) {
        let s = &mut self.state;
        let id = pop(&mut s.host.write_ready, &mut s.timers, TIMER_WRITE_READY);
        let Command { offset, bytes, .. } = s.host.requests[id].command;
        let refused = match (self.in_range(offset, bytes), self.is_read_only()) {
            (true, false) => return self.begin_write(id),
            (true, true) => Status::ReadOnly,
            (false, _) => Status::OutOfRange,
        };
        self.state.host.requests[id].status = refused;
        self.complete_message(id);
    }

    pub(in crate::device) fn in_range(&self, offset: u64, bytes: u32) -> bool {
        bytes > 0 && offset.checked_add(u64::from(bytes)).is_some_and(|end| end <= self.shape.host_bytes())
    }

    /// Send `bytes` of read data to the host from now on. Returns when they have arrived. The
    /// request's ledger is charged only if these are its last data. Where the data of a read are
    /// sent whole, all of them are sent with the last, and nothing before.
    #[inline]
    pub(in crate::device) fn send_up(&mut self, id: u32, bytes: u64, last: bool) -> u64 {
        let s = &mut self.state;
        let mut bytes = bytes;
        if self.fixed.sends_whole {
            let r = &mut s.host.requests[id];
            r.gathered += bytes as u32;
            if !last {
                return s.now;
            }
            bytes = u64::from(r.gathered);
        }
        let (begin, span) = s.host.up.grant(s.now, bytes, self.shape.host.link_rate);
        if last {
            let r = &mut s.host.requests[id];
            r.ledger.charge(Cause::HOST_LINK_WAIT, begin - s.now);
            r.ledger.charge(Cause::HOST_LINK, span);
        }
        begin + span
    }

    /// Complete a read whose data reach the host at `at`.
    #[inline]
    pub(in crate::device) fn complete_read(&mut self, id: u32, at: u64) {
        let s = &mut self.state;
        let latency = self.shape.host.complete_latency.0;
        s.host.requests[id].ledger.charge(Cause::HOST_LATENCY, latency);
        push(&mut s.host.read_done, &mut s.timers, TIMER_READ_DONE, at + latency, id);
    }

    /// End a command without data to return now.
    #[inline]
    pub(in crate::device) fn complete_message(&mut self, id: u32) {
        self.observe_request(id, RequestStep::Held);
        let s = &mut self.state;
        let latency = self.shape.host.complete_latency.0;
        s.host.requests[id].ledger.charge(Cause::HOST_LATENCY, latency);
        push(&mut s.host.write_done, &mut s.timers, TIMER_WRITE_DONE, s.now + latency, id);
    }

    #[inline]
    pub(in crate::device) fn deliver_reads(&mut self, completed: &mut impl FnMut(&Completion<'_>)) {
        let s = &mut self.state;
        let id = pop(&mut s.host.read_done, &mut s.timers, TIMER_READ_DONE);
        s.counters.reads += 1;
        let r = &s.host.requests[id];
        s.counters.media_errors += u64::from(r.status == Status::MediaError);
        let met = self.flash.met(id);
        s.counters.rebuilt_reads += u64::from(r.rebuilt);
        s.counters.gc_blocked_reads += u64::from(met.collection);
        s.counters.queued_behind_reads += u64::from(met.queued_behind && !met.collection);
        s.counters.kept_out_reads += u64::from(r.kept_out && !met.collection);
        self.deliver(id, completed);
    }

    #[inline]
    pub(in crate::device) fn deliver_writes(&mut self, completed: &mut impl FnMut(&Completion<'_>)) {
        let s = &mut self.state;
        let id = pop(&mut s.host.write_done, &mut s.timers, TIMER_WRITE_DONE);
        self.deliver(id, completed);
    }

    #[inline]
    fn deliver(&mut self, id: u32, completed: &mut impl FnMut(&Completion<'_>)) {
        let s = &mut self.state;
        let r = &s.host.requests[id];
        debug_assert_eq!(r.ledger.sum(), s.now - r.arrived, "a ledger adds up: {:?}", r.ledger);
        completed(&Completion {
            index: r.index,
            tag: r.tag,
            command: r.command,
            arrived: SimTime(r.arrived),
            completed: SimTime(s.now),
            status: r.status,
            ledger: &r.ledger,
            data: crate::device::payload::delivered(&mut self.medium, id, r),
        });
        let blocked = self.flash.track(id).collection;
        if s.host.requests.is_exhausted() {
            s.host.full_until = s.now;
            if blocked || r.command.op != HostOp::Read && has_met_collection(&r.ledger) {
                s.host.blocked_until = s.now;
            }
        }
        s.host.requests.give(id);
        s.scrub.host_ended = s.now;
    }
}

/// Whether a command waited for a collection, by its ledger.
fn has_met_collection(ledger: &Ledger) -> bool {
    let of_collection = [Occupant::GcRead, Occupant::GcProgram, Occupant::Erase];
    let waits = of_collection.into_iter().flat_map(|o| [Cause::die_wait(o), Cause::channel_wait(o)]);
    // Only a collection makes a free block.
    let others = [Cause::GC_HOLD, Cause::GC_HOLD_ERASE, Cause::FREE_SPACE];
    waits.chain(others).any(|cause| ledger.get(cause) > 0)
}

#[inline]
pub(in crate::device) fn push(ring: &mut Ring, timers: &mut FewTimers, timer: usize, at: u64, id: u32) {
    debug_assert!(ring.back().is_none_or(|&(last, _)| last <= at), "a FIFO server keeps order");
    debug_assert_ne!(id, NONE);
    if ring.is_empty() {
        timers.set(timer, at);
    }
    ring.push_back((at, id));
}

#[inline]
pub(in crate::device) fn pop(ring: &mut Ring, timers: &mut FewTimers, timer: usize) -> u32 {
    let (_, id) = ring.pop_front().expect("the timer is set only while the ring holds something");
    timers.set(timer, ring.front().map_or(UNSET, |&(next, _)| next));
    id
}
