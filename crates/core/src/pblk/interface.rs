//! The path between host and flash: requests of the host, vector commands of pblk, the controller of the device, and
//! the host link.
//!
//! pblk runs on the host. The host takes a fixed time to submit and to complete a request. It takes the same time for
//! each vector command that pblk sends on its own. The controller has a server for reads and another for programs and
//! erases. Each takes a time for a command and a time for each of its sectors. The server of reads serves the
//! commands round-robin, sector by sector ([`super::turns`]). Data of a program cross the link before they reach the
//! controller. Data of a read cross the link after the flash has delivered them.

use super::drive::{Pblk, State, TIMER_ARRIVED, TIMER_DONE, TIMER_READS, TIMER_UP, TIMER_WRITES};
use super::rail::failures::Reader;
use super::ring::RingPlace;
use super::shape::Shape;
use super::turns::{Through, Turns};
use super::writer::Chunk;
use crate::containers::few_timers::FewTimers;
use crate::containers::slab::Slab;
use crate::containers::timers::UNSET;
use crate::flash::Flash;
use crate::flash::{Fact, FlashCommand, OpId, Owner, Submitted};
use crate::front::{Arrived, Completion, LinkWay, Ring as Fifo, Server, Submission, SubmitError};
use crate::medium::Medium;
use crate::nand::OpKind;
use crate::observer::{Observer, RequestEvent, RequestStep, RingWait};
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use strum::VariantNames;
use tailcut_units::{Cause, Command, HostOp, Ledger, SimTime, Status};

/// An outstanding request.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Request {
    /// The fields that every host command has.
    pub host: Arrived,
    /// Reads: flash operations that have not ended.
    pub remaining: u32,
    /// Writes: the next sector to enter the ring, and the end of the range.
    pub next: u32,
    pub end: u32,
    /// Writes: a copy of the account of waits, taken when the write began to wait.
    pub waits: Waits,
    /// FLUSH: when it began to wait, ns.
    pub since: u64,
    /// Reads: whether parity computes a sector.
    pub is_rebuilt: bool,
}

/// Wait of the first waiting write by reason, ns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Waits {
    total: [u64; RingWait::VARIANTS.len()],
    reason: u8,
    since: u64,
}

/// The reasons, in the order of their index.
const REASONS: [RingWait; RingWait::VARIANTS.len()] =
    [RingWait::Admission, RingWait::Room, RingWait::Lun, RingWait::Gate];

impl Waits {
    /// Charge the time from `now` on to this reason. Returns whether the reason has changed.
    pub fn turn_to(&mut self, reason: RingWait, now: u64) -> bool {
        self.settle(now);
        std::mem::replace(&mut self.reason, reason as u8) != reason as u8
    }

    /// Update the account to `now` and return a copy.
    pub fn settle(&mut self, now: u64) -> Waits {
        self.total[usize::from(self.reason)] += now - self.since;
        self.since = now;
        *self
    }

    /// Charge the time since `earlier` was copied.
    pub fn charge(&self, earlier: &Waits, to: &mut Ledger) {
        for ((reason, after), before) in REASONS.into_iter().zip(self.total).zip(earlier.total) {
            to.charge(reason.cause(), after - before);
        }
    }
}

crate::flash::owners! {
    /// What a flash operation belongs to.
    pub(super) enum Work {
        /// A read of the host.
        Request(id),
        /// A program of data, parity or metadata.
        Unit(id),
        /// An erase of a chunk of a next line.
        Erase(chunk),
        /// A read of collection.
        Moved(id),
        /// A read of the metadata of a victim.
        Metadata,
        /// A repeated read of the host, after some of its sectors could not be read.
        Again(id),
        /// A repeated read of collection, after some of its sectors could not be read.
        MovedAgain(id),
    }
}

/// In a queue to the host, the bits of a number from this one on hold its kind of work.
const TAG_SHIFT: u32 = 28;

/// Encode an owner as a number for a queue to the host.
fn tagged(owner: Owner) -> u32 {
    debug_assert!(owner.id >> TAG_SHIFT == 0);
    owner.part << TAG_SHIFT | owner.id
}

/// Decode a number from a queue to the host.
fn untagged(number: u32) -> Work {
    Work::from(Owner { part: number >> TAG_SHIFT, id: number & ((1 << TAG_SHIFT) - 1) })
}

/// The queues and servers between host and flash.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Interface {
    /// The outstanding requests.
    pub requests: Slab<Request>,
    submitted: u64,
    /// Requests that have not reached pblk yet.
    arrived: Fifo,
    /// The two servers of the controller: reads; programs and erases.
    reads: Turns,
    writes: Server,
    to_write: Fifo,
    /// The link to the host, and from the host.
    up: LinkWay,
    down: LinkWay,
    /// Commands whose data reach the host, and commands that complete without data.
    data_up: Fifo,
    done: Fifo,
    /// Writes that wait for the ring, in order, and the reasons for which the first one waits.
    pub room: VecDeque<u32>,
    pub waits: Waits,
    /// FLUSH commands, and writes with forced unit access, each with the last sector that it waits for.
    pub flushes: VecDeque<(RingPlace, u32)>,
    /// The operations of the vector command that is being built.
    #[serde(skip)]
    pub scratch: Vec<OpId>,
}

impl Interface {
    pub fn new(shape: &Shape, most_ops: u32) -> Interface {
        let depth = shape.host.queue_depth;
        let blank = Request {
            host: Arrived::blank(),
            remaining: 0,
            next: 0,
            end: 0,
            waits: Waits::default(),
            since: 0,
            is_rebuilt: false,
        };
        Interface {
            requests: Slab::new(depth as usize, blank),
            submitted: 0,
            arrived: Fifo::new(depth + 16, TIMER_ARRIVED),
            reads: Turns::new(most_ops, shape.command_ns, shape.read_sector_ns),
            writes: Server::default(),
            to_write: Fifo::new(2 * shape.luns + 2, TIMER_WRITES),
            up: LinkWay::default(),
            down: LinkWay::default(),
            data_up: Fifo::new(depth + 64, TIMER_UP),
            done: Fifo::new(depth + 2 * shape.luns + 2, TIMER_DONE),
            room: VecDeque::with_capacity(depth as usize + 1),
            waits: Waits::default(),
            flushes: VecDeque::with_capacity(depth as usize + 1),
            scratch: Vec::with_capacity(shape.most_parts() as usize + 1),
        }
    }

    /// Operations that have not reached the flash, for an audit.
    pub(super) fn on_their_way(&self) -> Vec<OpId> {
        let i = self;
        i.reads.ops().chain(i.to_write.iter().map(|(_, op)| OpId::of(op))).collect()
    }

    /// Time up to `now` in which the link has transferred data to the host, and from the host, ns.
    pub(super) fn link_ns(&self, now: u64) -> [u64; 2] {
        let (i, now) = (self, now);
        [i.up.moved(now), i.down.moved(now)]
    }

    /// The sectors that a command covers, wholly or in part.
    pub(super) fn sectors_of(&self, id: u32) -> std::ops::Range<u32> {
        let Command { offset, bytes, .. } = self.requests[id].host.command;
        let end = offset + u64::from(bytes);
        sector_of(offset).0..sector_of(end + super::array::SECTOR - 1).0
    }

    /// Report a step of the request in this slot to the observer.
    #[inline]
    pub(super) fn observe<O: Observer>(
        &mut self,
        flash: &mut Flash<O>,
        now: u64,
        id: u32,
        step: RequestStep,
    ) {
        let (request, at) = (self.requests[id].host.index, SimTime(now));
        flash.observer_mut().request(&RequestEvent { request, at, step });
    }

    /// Notify the host of an event without data, after its fixed time.
    #[inline]
    pub(super) fn tell_host(&mut self, shape: &Shape, timers: &mut FewTimers, now: u64, work: Work) {
        let at = now + shape.host.complete_latency.0;
        self.done.push(timers, at, tagged(work.into()));
    }

    /// Transfer data to the host. Returns when the transfer begins and when it ends.
    #[inline]
    pub(super) fn send_up(&mut self, shape: &Shape, now: u64, bytes: u64) -> (u64, u64) {
        let (begin, span) = self.up.grant(now, bytes, shape.host.link_rate);
        (begin, begin + span)
    }

    /// Schedule the end of a command whose last data reach the host at `at`.
    #[inline]
    pub(super) fn data_up_at(&mut self, shape: &Shape, timers: &mut FewTimers, at: u64, work: Work) {
        let at = at + shape.host.complete_latency.0;
        self.data_up.push(timers, at, tagged(work.into()));
    }

    /// Queue the reads of a vector command at the controller. Each operation is submitted to the flash when the
    /// controller has served its last sector.
    pub(super) fn pass_reads<O: Observer>(
        &mut self,
        flash: &Flash<O>,
        timers: &mut FewTimers,
        now: u64,
        ops: &[OpId],
    ) {
        let sectors = |op: OpId| flash.op(op).cmd.units().count_ones();
        if let Some(at) = self.reads.come(now, ops, sectors) {
            timers.set(TIMER_READS, at);
        }
    }

    /// Send a program or an erase to the device, with `bytes` of data. The controller is busy for `sectors`.
    pub(super) fn pass_write(
        &mut self,
        shape: &Shape,
        timers: &mut FewTimers,
        now: u64,
        op: OpId,
        bytes: u64,
        sectors: u64,
    ) {
        let sent = now + shape.host.submit_latency.0;
        let arrived = match bytes {
            0 => sent,
            _ => {
                let (begin, span) = self.down.grant(sent, bytes, shape.host.rate_from_host());
                begin + span
            }
        };
        let command = shape.command_ns;
        let begin = self.writes.serve(arrived, command + sectors * shape.write_sector_ns);
        // The time of the sectors delays only later commands, not this one.
        self.to_write.push(timers, begin + command, op.number());
    }

    pub(super) fn submit_next_write<O: Observer>(&mut self, flash: &mut Flash<O>, timers: &mut FewTimers) {
        let op = OpId::of(self.to_write.pop(timers));
        let submitted = flash.submit(op);
        debug_assert_eq!(submitted, Submitted::Taken, "nothing joins, and no LUN is closed");
    }
}

impl State {
    /// Complete a command for which no data come from the device.
    pub(super) fn complete<O: Observer>(&mut self, shape: &Shape, flash: &mut Flash<O>, id: u32) {
        let i = &mut self.interface;
        i.observe(flash, self.now, id, RequestStep::Held);
        i.tell_host(shape, &mut self.timers, self.now, Work::Request(id));
        let latency = shape.host.complete_latency.0;
        i.requests[id].host.ledger.charge(Cause::HOST_LATENCY, latency);
    }

    /// Send a read that pblk issues on its own. It costs the host as much time as a request.
    pub(super) fn send_read(&mut self, shape: &Shape, work: Work) {
        let at = self.now + shape.host.submit_latency.0;
        self.interface.arrived.push(&mut self.timers, at, tagged(work.into()));
    }
}

impl<O: Observer, M: Medium> Pblk<O, M> {
    /// Whether the drive would accept another command now.
    #[inline]
    pub fn has_place(&self) -> bool {
        !self.state.interface.requests.is_exhausted()
    }

    /// Prefetch the map entry for a command at this offset that is submitted soon.
    #[inline]
    pub fn prepare(&self, offset: u64) {
        self.map.prefetch(sector_of(offset));
    }

    /// Submit a command at time `at`, which must not be before the last `advance`. Call `advance(at)` first: at equal
    /// times timers fire before submissions. `wanted` is when the host wanted to submit the command, at most `at`.
    /// The latency of the command counts from `wanted`. Returns the serial number of the submission.
    ///
    /// # Errors
    /// The queue is full, or the calls are out of order.
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

    /// Like [`Pblk::submit`], with the bytes of a write, which a medium with data stores. `data` has as many bytes as
    /// the command, or none for zeros.
    ///
    /// # Errors
    /// The queue is full, or the calls are out of order.
    #[inline]
    pub fn submit_write(
        &mut self,
        at: SimTime,
        wanted: SimTime,
        command: Command,
        tag: u64,
        data: &[u8],
    ) -> Result<u64, SubmitError> {
        if !self.has_place() {
            return Err(SubmitError::QueueFull);
        }
        let submission = Submission { at, wanted, command, data };
        submission.check(self.now(), self.next_deadline(), self.shape.host.max_transfer)?;
        self.pass(at.0);
        if !self.state.runs {
            self.begin_run();
        }
        let s = &mut self.state;
        let id = s.interface.requests.take();
        let index = s.interface.submitted;
        s.interface.submitted += 1;
        let r = &mut s.interface.requests[id];
        r.host.begin(index, tag, command, [wanted, at]);
        r.host.ledger.clear_rest();
        r.is_rebuilt = false;
        r.host.charge_host(self.shape.host.submit_latency);
        s.interface.arrived.push(&mut s.timers, at.0 + self.shape.host.submit_latency.0, id);
        self.data.submitted(&self.state.interface, id, data);
        self.state.interface.observe(
            &mut self.flash,
            self.state.now,
            id,
            RequestStep::Submitted { command, wanted },
        );
        Ok(index)
    }

    /// Number of outstanding host writes, and when the host wanted to submit the oldest.
    pub fn waiting_writes(&self) -> Option<(u32, SimTime)> {
        let i = &self.state.interface;
        let requests = i.requests.in_use().into_iter().map(|id| &i.requests[id].host);
        let arrived: Vec<u64> =
            requests.filter(|h| h.command.op == HostOp::Write).map(|h| h.arrived).collect();
        Some((arrived.len() as u32, SimTime(arrived.iter().copied().min()?)))
    }

    /// A host request reaches pblk, or a read that pblk issues on its own reaches the device.
    pub(super) fn arrived(&mut self) {
        let s = &mut self.state;
        match untagged(s.interface.arrived.pop(&mut s.timers)) {
            Work::Request(id) => self.begin(id),
            Work::Moved(id) => self.read_moved(id),
            Work::Metadata => self.read_metadata(),
            Work::Again(id) => self.read_again(id),
            Work::MovedAgain(id) => self.move_again(id),
            work => unreachable!("{work:?} comes to the device by another way"),
        }
    }

    /// Start a request of the host.
    fn begin(&mut self, id: u32) {
        let s = &mut self.state;
        let Command { op, offset, bytes, .. } = s.interface.requests[id].host.command;
        let inside = bytes > 0
            && offset.checked_add(u64::from(bytes)).is_some_and(|end| end <= self.shape.host_bytes());
        if op != HostOp::Flush && !inside {
            s.interface.requests[id].host.status = Status::OutOfRange;
            return self.state.complete(&self.shape, &mut self.flash, id);
        }
        match op {
            HostOp::Read => self.read(id),
            HostOp::Write => self.write(id),
            HostOp::Trim => self.trim(id),
            HostOp::Flush => self.flush(id),
        }
    }

    /// The controller has served a sector of a read. Submit the operations that it has served completely.
    pub(super) fn turn_ends(&mut self) {
        let (s, flash) = (&mut self.state, &mut self.flash);
        let at = s.interface.reads.end(s.now, |Through { op, waited, own }| {
            let submitted = flash.submit(op);
            debug_assert_eq!(submitted, Submitted::Taken, "nothing joins, and no LUN is closed");
            if matches!(Work::from(flash.op(op).cmd.owner), Work::Request(_)) {
                let mut ledger = Ledger::new();
                ledger.charge(Cause::CONTROLLER_WAIT, waited);
                ledger.charge(Cause::CONTROLLER, own);
                flash.add_to_ledger(op, &ledger);
            }
        });
        s.timers.set(TIMER_READS, at.unwrap_or(UNSET));
    }

    /// Fire the next event of the flash.
    #[inline]
    pub(super) fn fire_flash(&mut self) {
        match self.flash.fire() {
            Fact::Nothing | Fact::Transferred(_) => {}
            Fact::Sensed(op) => {
                let mut next = Some(op);
                while let Some(op) = next {
                    next = self.flash.bring_out(op);
                }
            }
            Fact::Ended(op) => {
                let mut next = Some(op);
                while let Some(op) = next {
                    next = self.flash.end(op);
                    let FlashCommand { kind, owner, extent: line, .. } = self.flash.op(op).cmd;
                    if self.flash.has_failed(op) {
                        self.state.writer.note_failure(owner.into());
                    } else if M::HOLDS_DATA {
                        match Work::from(owner) {
                            Work::Unit(id) => self.data.programmed(&self.shape, &self.state, id),
                            Work::Erase(chunk) => {
                                self.data.erased(&self.shape, line, Chunk::of(chunk).position)
                            }
                            work => unreachable!("{work:?} changes nothing on flash"),
                        }
                    }
                    self.flash.free(op);
                    if kind == OpKind::Program {
                        self.state.counters.rows_programmed += 1;
                    }
                    self.state.interface.tell_host(
                        &self.shape,
                        &mut self.state.timers,
                        self.state.now,
                        owner.into(),
                    );
                }
            }
            Fact::Decoded(op) => match Work::from(self.flash.op(op).cmd.owner) {
                Work::Request(id) => self.read_arrived(op, id),
                Work::Moved(id) => self.moved_arrived(op, id),
                Work::Metadata => self.metadata_arrived(op),
                work => unreachable!("a read for {work:?}"),
            },
        }
    }

    /// The data of a command have reached the host. Returns whether a host command has ended.
    pub(super) fn data_are_up(&mut self, completed: &mut impl FnMut(&Completion<'_>)) -> bool {
        let s = &mut self.state;
        match untagged(s.interface.data_up.pop(&mut s.timers)) {
            Work::Request(id) => {
                if self.reads_again(Reader::Host(id)) {
                    self.state.send_read(&self.shape, Work::Again(id));
                    return false;
                }
                self.deliver(id, completed);
                return true;
            }
            Work::Moved(id) if self.reads_again(Reader::Collection(id)) => {
                self.state.send_read(&self.shape, Work::MovedAgain(id))
            }
            Work::Moved(id) => self.moved_read(id),
            Work::Metadata => self.metadata_read(),
            work => unreachable!("{work:?} has no data"),
        }
        false
    }

    /// The host is notified of an event without data. Returns whether a host command has ended.
    pub(super) fn heard(&mut self, completed: &mut impl FnMut(&Completion<'_>)) -> bool {
        let s = &mut self.state;
        match untagged(s.interface.done.pop(&mut s.timers)) {
            Work::Request(id) => {
                self.deliver(id, completed);
                return true;
            }
            Work::Unit(unit) => self.programmed(unit),
            Work::Erase(chunk) => self.erased(chunk),
            work => unreachable!("{work:?} has data"),
        }
        false
    }

    fn deliver(&mut self, id: u32, completed: &mut impl FnMut(&Completion<'_>)) {
        let s = &mut self.state;
        let r = &s.interface.requests[id];
        if r.host.command.op == HostOp::Read {
            s.counters.reads += 1;
            s.counters.rebuilt_reads += u64::from(r.is_rebuilt);
            s.counters.media_errors += u64::from(r.host.status == Status::MediaError);
            let met = self.flash.met(id);
            s.counters.gc_blocked_reads += u64::from(met.collection);
            s.counters.queued_behind_reads += u64::from(met.queued_behind && !met.collection);
        }
        let returns = M::HOLDS_DATA && r.host.command.op == HostOp::Read && r.host.status == Status::Ok;
        let data = if returns { self.data.medium.read_data(id) } else { &[] };
        completed(&r.host.completion(s.now, data));
        self.flash.track(id);
        s.interface.requests.give(id);
        if self.shape.remembers_reads() {
            self.forget_wanted(Reader::Host(id));
        }
    }
}

/// The sector that contains a byte address of the host.
#[inline]
fn sector_of(offset: u64) -> crate::address::Lpn {
    crate::address::Lpn((offset / super::array::SECTOR) as u32)
}
