//! The host side: the device queue, the controller, the two directions of the link, and
//! completions. All are FIFO servers without preemption, so their times are computed directly.

use crate::address::Lpn;
use crate::containers::few_timers::FewTimers;
use crate::containers::slab::Slab;
use crate::device::drive::{
    Device, State, TIMER_READ_DONE, TIMER_READ_READY, TIMER_WRITE_DONE, TIMER_WRITE_READY,
};
use crate::device::shape::Shape;
use crate::flash::Flash;
use crate::flash::OpId;
use crate::front::{Arrived, Completion, LinkWay, Ring, Server, Submission, SubmitError};
use crate::ftl::buffer::Buffer;
use crate::ftl::layout::Layout;
use crate::medium::Medium;
use crate::observer::RequestEvent;
use crate::observer::{Observer, RequestStep};
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use tailcut_units::{Cause, Command, HostOp, Ledger, Occupant, Occupants, SimTime, Span, Status};

/// A command under way.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(in crate::device) struct Request {
    /// The fields that every command has, under either controller.
    pub host: Arrived,
    /// Operations and reconstructions (reads) or slots (write-through) still to end.
    pub remaining: u32,
    /// Write: the next logical unit to hold.
    pub next_lpn: Lpn,
    /// When its wait for room in the buffer began (for a FLUSH: its own wait), ns.
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
            host: Arrived::blank(),
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

/// Queues and servers between the host and the FTL.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(in crate::device) struct Host {
    /// Commands under way.
    pub requests: Slab<Request>,
    submitted: u64,
    controller: Server,
    /// The direction to the host, and the direction from the host.
    up: LinkWay,
    down: LinkWay,
    pub(super) read_ready: Ring,
    pub(super) write_ready: Ring,
    pub(super) read_done: Ring,
    pub(super) write_done: Ring,
    /// Writes that wait for buffer room, in order.
    pub room: VecDeque<u32>,
    /// FLUSH commands and writes with forced unit access that wait, in order.
    pub flushes: VecDeque<u32>,
    /// Writes with forced unit access that were held in this event, in order.
    pub forced: VecDeque<u32>,
    /// When the device queue was last full, ns.
    full_until: u64,
    /// When a command that a collection had delayed most recently left a full device queue, ns.
    blocked_until: u64,
    /// By busy unit: the read for which an operation was last reserved there, and that operation.
    pub last_read: Vec<(u64, Option<OpId>)>,
    /// The operations of one read, while it is translated.
    #[serde(skip)]
    pub scratch: Vec<OpId>,
}

impl Host {
    pub fn new(depth: u32, units: u32, most_parts: u32) -> Host {
        let ring = |timer| Ring::new(depth, timer);
        Host {
            requests: Slab::new(depth as usize, Request::blank()),
            submitted: 0,
            controller: Server::default(),
            up: LinkWay::default(),
            down: LinkWay::default(),
            read_ready: ring(TIMER_READ_READY),
            write_ready: ring(TIMER_WRITE_READY),
            read_done: ring(TIMER_READ_DONE),
            write_done: ring(TIMER_WRITE_DONE),
            room: VecDeque::with_capacity(depth as usize + 1),
            flushes: VecDeque::with_capacity(depth as usize + 1),
            forced: VecDeque::with_capacity(depth as usize + 1),
            full_until: 0,
            blocked_until: 0,
            last_read: vec![(u64::MAX, None); units as usize],
            scratch: Vec::with_capacity(most_parts as usize + 1),
        }
    }

    /// The bytes of a unit that a host command asks for.
    pub(in crate::device) fn bytes_asked(&self, layout: &Layout, id: u32, unit: Lpn) -> (u64, u64) {
        let (command, bytes) = (self.requests[id].host.command, layout.unit_bytes);
        let base = u64::from(unit.0) * bytes;
        let end = command.offset + u64::from(command.bytes);
        (command.offset.saturating_sub(base).min(bytes), end.saturating_sub(base).min(bytes))
    }

    /// The granules of a unit that a host command asks for.
    pub(in crate::device) fn granules_asked(
        &self,
        layout: &Layout,
        buffer: &Buffer,
        id: u32,
        unit: Lpn,
    ) -> u64 {
        let (from, to) = self.bytes_asked(layout, id, unit);
        buffer.mask(from, to, false)
    }

    /// The offset of byte `from` of a logical unit in the request's data.
    pub(in crate::device) fn data_at(&self, layout: &Layout, id: u32, lpn: Lpn, from: u64) -> u32 {
        let unit = u64::from(lpn.0) * layout.unit_bytes;
        (unit + from - self.requests[id].host.command.offset) as u32
    }

    /// Report a step of the request in this slot to the observer.
    #[inline]
    pub(in crate::device) fn observe<O: Observer>(
        &mut self,
        flash: &mut Flash<O>,
        now: u64,
        id: u32,
        step: RequestStep,
    ) {
        let (request, at) = (self.requests[id].host.index, SimTime(now));
        flash.observer_mut().request(&RequestEvent { request, at, step });
    }

    /// Nanoseconds up to now in which the link moved data: to the host, and from it.
    pub(in crate::device) fn link_ns(&self, shape: &Shape, now: u64) -> [u64; 2] {
        // Transfers to the host follow one another from now on.
        let up = self.up.moved(now);
        // Transfers from the host begin only after the controller, so there may be gaps between
        // them.
        let ahead = |(there, id): (u64, u32)| {
            let bytes = u64::from(self.requests[id].host.command.bytes);
            let span = Span::transfer(bytes, shape.host.rate_from_host()).0;
            (there - shape.fixed.buffer_write_ns).saturating_sub(now).min(span)
        };
        let down = self.down.granted() - self.write_ready.iter().map(ahead).sum::<u64>();
        [up, down]
    }

    /// Send `bytes` of read data to the host from now on. Returns when they will have arrived. The request's ledger is
    /// charged only if these are its last data. With `host.transfer = "whole"`, all data are sent together with the
    /// last part.
    #[inline]
    pub(in crate::device) fn send_up(
        &mut self,
        shape: &Shape,
        now: u64,
        id: u32,
        bytes: u64,
        last: bool,
    ) -> u64 {
        let mut bytes = bytes;
        if shape.fixed.sends_whole {
            let r = &mut self.requests[id];
            r.gathered += bytes as u32;
            if !last {
                return now;
            }
            bytes = u64::from(r.gathered);
        }
        let (begin, span) = self.up.grant(now, bytes, shape.host.link_rate);
        if last {
            let r = &mut self.requests[id];
            r.host.ledger.charge(Cause::HOST_LINK_WAIT, begin - now);
            r.host.ledger.charge(Cause::HOST_LINK, span);
        }
        begin + span
    }

    /// Complete a read whose data reach the host at `at`.
    #[inline]
    pub(in crate::device) fn complete_read(
        &mut self,
        shape: &Shape,
        timers: &mut FewTimers,
        id: u32,
        at: u64,
    ) {
        let latency = shape.host.complete_latency.0;
        self.requests[id].host.ledger.charge(Cause::HOST_LATENCY, latency);
        self.read_done.push(timers, at + latency, id);
    }
}

impl State {
    /// End a command without data to return now.
    #[inline]
    pub(in crate::device) fn complete_message<O: Observer>(
        &mut self,
        shape: &Shape,
        flash: &mut Flash<O>,
        id: u32,
    ) {
        self.host.observe(flash, self.now, id, RequestStep::Held);
        let latency = shape.host.complete_latency.0;
        self.host.requests[id].host.ledger.charge(Cause::HOST_LATENCY, latency);
        self.host.write_done.push(&mut self.timers, self.now + latency, id);
    }
}

impl Shape {
    pub(in crate::device) fn in_range(&self, offset: u64, bytes: u32) -> bool {
        bytes > 0 && offset.checked_add(u64::from(bytes)).is_some_and(|end| end <= self.host_bytes())
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
    ) -> Result<u64, SubmitError> {
        self.submit_write(at, wanted, command, tag, &[])
    }

    /// Prefetch the map entry for a command at this offset that may be submitted soon. Only the speed of the simulation
    /// depends on this.
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
    ) -> Result<u64, SubmitError> {
        if self.state.host.requests.is_exhausted() {
            return Err(SubmitError::QueueFull);
        }
        let submission = Submission { at, wanted, command, data };
        submission.check(self.now(), self.next_deadline(), self.shape.host.max_transfer)?;
        let kept_out = at > wanted && self.keeps_out(wanted.0);
        self.pass(at.0);
        let s = &mut self.state;
        let id = s.host.requests.take();
        let index = s.host.submitted;
        s.host.submitted += 1;
        let r = &mut s.host.requests[id];
        r.host.begin(index, tag, command, [wanted, at]);
        r.gathered = 0;
        r.rebuilt = false;
        r.kept_out = kept_out;
        let fetched = at.0 + self.shape.host.submit_latency.0;
        r.host.charge_host(self.shape.host.submit_latency);
        let start = s.host.controller.serve(fetched, self.shape.controller_ns);
        let decided = start + self.shape.controller_ns;
        let ledger = &mut r.host.ledger;
        ledger.charge(Cause::CONTROLLER_WAIT, start - fetched);
        ledger.charge(Cause::CONTROLLER, self.shape.controller_ns);
        if command.op == HostOp::Write {
            ledger.clear_rest();
            let rate = self.shape.host.rate_from_host();
            let (begin, span) = s.host.down.grant(decided, u64::from(command.bytes), rate);
            ledger.charge(Cause::HOST_LINK_WAIT, begin - decided);
            ledger.charge(Cause::HOST_LINK, span);
            ledger.charge(Cause::CONTROLLER, self.shape.fixed.buffer_write_ns);
            s.host.write_ready.push(&mut s.timers, begin + span + self.shape.fixed.buffer_write_ns, id);
        } else {
            s.host.read_ready.push(&mut s.timers, decided, id);
        }
        self.data.submitted(&self.shape, &self.state.host, id, data);
        self.state.host.observe(
            &mut self.flash,
            self.state.now,
            id,
            RequestStep::Submitted { command, wanted },
        );
        Ok(index)
    }

    /// Number of host writes under way, and when the host wanted the oldest.
    pub fn waiting_writes(&self) -> Option<(u32, SimTime)> {
        let s = &self.state;
        let writes = s.host.requests.in_use().into_iter().map(|id| &s.host.requests[id]);
        let mut arrived: Vec<u64> =
            writes.filter(|r| r.host.command.op == HostOp::Write).map(|r| r.host.arrived).collect();
        arrived.sort_unstable();
        Some((arrived.len() as u32, SimTime(*arrived.first()?)))
    }

    /// Whether a command that the host wanted to submit at `wanted` could not enter, because the device queue was full
    /// and held a command that a collection had delayed.
    #[cold]
    fn keeps_out(&self, wanted: u64) -> bool {
        let h = &self.state.host;
        h.full_until > wanted
            && (h.blocked_until > wanted
                || self.flash.commands_blocked() > 0
                || self.collections_hold_up_commands())
    }

    /// Whether a command waits for an operation that is still queued and that a collection has delayed.
    fn collections_hold_up_commands(&self) -> bool {
        let s = &self.state;
        if self.shape.fixed.collects_instantly {
            return false;
        }
        // A command that waits for data to leave the buffer waits for programs.
        let leaves =
            !self.shape.fixed.acknowledge_held || !s.host.room.is_empty() || !s.host.flushes.is_empty();
        if leaves && (s.write.stalled.any() || s.parity.stripes.waiting > 0) {
            return true;
        }
        let user_reads = Occupant::UserRead.only();
        self.flash.collections_hold_up(if leaves { Occupants::HOST } else { user_reads })
    }

    pub(in crate::device) fn fetch_read(&mut self) {
        let s = &mut self.state;
        let id = s.host.read_ready.pop(&mut s.timers);
        let Command { op, offset, bytes, .. } = s.host.requests[id].host.command;
        if op != HostOp::Read {
            s.host.requests[id].host.ledger.clear_rest();
        }
        if op != HostOp::Flush && !self.shape.in_range(offset, bytes) {
            self.state.host.requests[id].host.ledger.clear_rest();
            self.state.host.requests[id].host.status = Status::OutOfRange;
            return self.state.complete_message(&self.shape, &mut self.flash, id);
        }
        match op {
            HostOp::Read => self.begin_read(id),
            HostOp::Trim if self.state.faults.is_read_only() => {
                self.state.host.requests[id].host.status = Status::ReadOnly;
                self.state.complete_message(&self.shape, &mut self.flash, id);
            }
            HostOp::Trim => self.trim(id),
            HostOp::Flush => self.begin_flush(id),
            HostOp::Write => unreachable!("writes come through their own ring"),
        }
    }

    pub(in crate::device) fn fetch_write(&mut self) {
        let s = &mut self.state;
        let id = s.host.write_ready.pop(&mut s.timers);
        let Command { offset, bytes, .. } = s.host.requests[id].host.command;
        let refused = match (self.shape.in_range(offset, bytes), self.state.faults.is_read_only()) {
            (true, false) => return self.begin_write(id),
            (true, true) => Status::ReadOnly,
            (false, _) => Status::OutOfRange,
        };
        self.state.host.requests[id].host.status = refused;
        self.state.complete_message(&self.shape, &mut self.flash, id);
    }

    #[inline]
    pub(in crate::device) fn deliver_reads(&mut self, completed: &mut impl FnMut(&Completion<'_>)) {
        let s = &mut self.state;
        let id = s.host.read_done.pop(&mut s.timers);
        s.counters.reads += 1;
        let r = &s.host.requests[id];
        s.counters.media_errors += u64::from(r.host.status == Status::MediaError);
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
        let id = s.host.write_done.pop(&mut s.timers);
        self.deliver(id, completed);
    }

    #[inline]
    fn deliver(&mut self, id: u32, completed: &mut impl FnMut(&Completion<'_>)) {
        let s = &mut self.state;
        let r = &s.host.requests[id];
        completed(&r.host.completion(s.now, crate::device::payload::delivered(&mut self.data.medium, id, r)));
        let blocked = self.flash.track(id).collection;
        if s.host.requests.is_exhausted() {
            s.host.full_until = s.now;
            if blocked || r.host.command.op != HostOp::Read && has_met_collection(&r.host.ledger) {
                s.host.blocked_until = s.now;
            }
        }
        s.host.requests.give(id);
        s.scrub.host_ended = s.now;
    }
}

/// Whether a command waited for a collection, by its ledger.
fn has_met_collection(ledger: &Ledger) -> bool {
    let waits = Occupants::COLLECTION.iter().flat_map(|o| [Cause::die_wait(o), Cause::channel_wait(o)]);
    // Only a collection makes a free block.
    let others = [Cause::GC_HOLD, Cause::GC_HOLD_ERASE, Cause::FREE_SPACE];
    waits.chain(others).any(|cause| ledger.get(cause) > 0)
}
