//! The drive with its data, which serves requests of any length.
//!
//! An engine takes requests at given times, splits them into commands of the drive, queues commands while the drive's
//! queue is full, and returns each request when its last command has ended. It has no clock and no socket.

use crate::nbd::{Errno, Request, RequestKind};
use crate::store::folder::{Keeper, StoreError, Stored};
use std::collections::VecDeque;
use tailcut_core::device::Completion;
use tailcut_core::intervention::{Intervention, InterventionError};
use tailcut_units::{Command, HostOp, SimTime, Status};

/// A request that has ended, with its result.
#[derive(Debug)]
pub struct Ended {
    /// The number of the client, as passed to [`Engine::take`].
    pub client: u64,
    /// The request.
    pub request: Request,
    /// The data of a successful read.
    pub data: Vec<u8>,
    /// The error, if the request has failed.
    pub error: Option<Errno>,
    /// When it was taken, and when it has ended.
    pub times: [SimTime; 2],
}

/// An outstanding request.
struct Open {
    client: u64,
    request: Request,
    data: Vec<u8>,
    error: Option<Errno>,
    taken: SimTime,
    /// Commands that have not ended.
    left: u32,
}

/// The commands of a request that wait for the drive's queue. They are made when they are submitted, so that a request
/// of any length takes little memory.
struct Waiting {
    slot: u32,
    /// The offset of the request.
    from: u64,
    fua: bool,
    ranges: [Part; 3],
    wanted: SimTime,
}

/// A part of a request for which the drive gets commands of one kind.
#[derive(Clone, Copy)]
struct Part {
    op: HostOp,
    at: u64,
    end: u64,
    /// The longest command, bytes.
    most: u64,
}

impl Part {
    fn new(op: HostOp, at: u64, end: u64, most: u64) -> Part {
        Part { op, at, end, most }
    }

    /// The number of its commands.
    fn commands(&self) -> u32 {
        self.end.saturating_sub(self.at).div_ceil(self.most) as u32
    }
}

impl Waiting {
    /// The next command, with its offset in the data of the request.
    fn next(&mut self) -> Option<(Command, usize)> {
        let part = self.ranges.iter_mut().find(|part| part.commands() > 0)?;
        let (op, offset) = (part.op, part.at);
        let bytes = part.most.min(part.end - offset) as u32;
        part.at += u64::from(bytes);
        if op == HostOp::Flush {
            return Some((Command::FLUSH, 0));
        }
        let fua = self.fua && op == HostOp::Write;
        Some((Command { op, offset, bytes, fua }, (offset - self.from) as usize))
    }

    fn is_empty(&self) -> bool {
        self.ranges.iter().all(|part| part.commands() == 0)
    }
}

/// A drive that serves requests of any length.
pub struct Engine {
    drive: Stored,
    /// Commits to the drive's store, if the store outlives the process.
    keeper: Option<Keeper>,
    /// Whether a request has ended whose reply must wait for a commit of the store.
    uncommitted: bool,
    open: Vec<Option<Open>>,
    free: Vec<u32>,
    waiting: VecDeque<Waiting>,
    ended: VecDeque<Ended>,
    /// The latest time at which a request was taken, and the earliest time for the next one.
    taken: [SimTime; 2],
    unit: u64,
    /// Whether a trimmed unit may keep its data.
    trim_keeps: bool,
    log: Option<Log>,
}

/// An event of the drive, for the log.
#[derive(Clone, Copy, Debug)]
pub enum Event<'a> {
    /// A command is submitted to the drive.
    Submitted {
        /// Its number, counted since the drive was created.
        index: u64,
        /// The time of the submission.
        at: SimTime,
        /// The time at which its client wanted to submit it.
        wanted: SimTime,
        /// The command.
        command: Command,
    },
    /// A command has ended.
    Completed(&'a Completion<'a>),
    /// The drive or its clock is changed otherwise.
    Intervened {
        /// The time.
        at: SimTime,
        /// The change, in the form of logs.
        text: &'a str,
    },
}

/// Why an intervention has failed.
#[derive(Debug, thiserror::Error)]
pub enum IntervenedError {
    /// The drive refuses it. Nothing has changed.
    #[error(transparent)]
    Refused(#[from] InterventionError),
    /// It was applied, but the store cannot be written.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Called with each event of a drive.
pub type Log = Box<dyn FnMut(&Event<'_>) + Send>;

impl Engine {
    /// Create an engine for a drive.
    pub fn new(drive: Stored) -> Engine {
        let dimensions = drive.dimensions();
        let (unit, trim_keeps) = (dimensions.unit_bytes, dimensions.has_parity);
        Engine {
            drive,
            keeper: None,
            uncommitted: false,
            open: Vec::new(),
            free: Vec::new(),
            waiting: VecDeque::new(),
            ended: VecDeque::new(),
            taken: [SimTime::ZERO; 2],
            unit,
            trim_keeps,
            log: None,
        }
    }

    /// Commit the changes of the drive with this keeper of its store.
    pub fn kept_by(&mut self, keeper: Keeper) {
        self.keeper = Some(keeper);
    }

    /// Call `log` with every command and every completion.
    pub fn logged(&mut self, log: Log) {
        self.log = Some(log);
    }

    /// Finish all outstanding requests, however long the drive takes, and commit the store. Returns the time at which
    /// the last command ended.
    ///
    /// # Errors
    /// The store cannot be written.
    pub fn stop(&mut self) -> Result<SimTime, StoreError> {
        while self.outstanding() > 0 && self.next_deadline() != SimTime::NEVER {
            let at = self.next_deadline();
            self.advance(at);
        }
        if let Some(keeper) = &mut self.keeper {
            keeper.stop(&mut self.drive)?;
        }
        Ok(self.drive.now())
    }

    /// The drive.
    pub fn drive(&self) -> &Stored {
        &self.drive
    }

    /// Requests that have not ended.
    pub fn outstanding(&self) -> usize {
        self.open.len() - self.free.len()
    }

    /// When the next event is due.
    pub fn next_deadline(&self) -> SimTime {
        self.drive.next_deadline()
    }

    /// Take a request of a client at time `now`. The engine must have been advanced to `now`.
    pub fn take(&mut self, now: SimTime, client: u64, request: Request) {
        let now = now.max(self.taken[1]);
        self.taken[0] = now;
        let slot = self.free.pop().unwrap_or_else(|| {
            self.open.push(None);
            self.open.len() as u32 - 1
        });
        let ranges = self.parts_of(&request);
        let left = ranges.iter().map(Part::commands).sum();
        let bytes = if request.kind == RequestKind::Read { request.length as usize } else { 0 };
        let data = vec![0; bytes];
        let waiting = Waiting { slot, from: request.offset, fua: request.fua, ranges, wanted: now };
        if !waiting.is_empty() {
            self.waiting.push_back(waiting);
        }
        self.open[slot as usize] = Some(Open { client, request, data, error: None, taken: now, left });
        self.advance(now);
    }

    /// Apply an intervention to the drive now. Earlier requests are submitted before it and later ones after it, even
    /// if the clock gives them the same nanosecond, so that a replay gives the same results. Returns its time.
    ///
    /// # Errors
    /// The drive refuses it, and nothing has changed; or the store cannot be written.
    pub fn intervene(&mut self, now: SimTime, what: &Intervention) -> Result<SimTime, IntervenedError> {
        let at = now.max(self.taken[0]).max(self.drive.now());
        self.advance(at);
        self.drive.intervene(at, what)?;
        self.taken[1] = SimTime(at.0 + 1);
        let text = what.to_string();
        self.note(at, &text);
        if let Some(keeper) = &mut self.keeper {
            keeper.intervention(at, &text);
            keeper.commit(&mut self.drive)?;
            self.uncommitted = false;
        }
        Ok(at)
    }

    /// Log an event that does not change the drive. Returns its time. Earlier requests come before it, and later ones
    /// come after it.
    pub fn note_now(&mut self, now: SimTime, text: &str) -> SimTime {
        let at = SimTime(now.max(self.taken[0]).max(self.drive.now()).0 + 1);
        self.advance(at);
        self.taken = [at; 2];
        self.note(at, text);
        at
    }

    /// Log an intervention or another event.
    fn note(&mut self, at: SimTime, text: &str) {
        if let Some(log) = &mut self.log {
            log(&Event::Intervened { at, text });
        }
    }

    /// The parts of a request, each of which is split into commands.
    fn parts_of(&self, request: &Request) -> [Part; 3] {
        let from = request.offset;
        let end = from + u64::from(request.length);
        let most = self.drive.max_transfer();
        let none = Part::new(HostOp::Flush, 0, 0, 1);
        let one = |op: HostOp, most: u64| [Part::new(op, from, end, most), none, none];
        match request.kind {
            RequestKind::Read => one(HostOp::Read, most),
            RequestKind::Write(_) => one(HostOp::Write, most),
            // Zeros that must be durable are written, because a TRIM has no forced unit access. Zeros are also
            // written if the drive may keep trimmed data, as it does where parity covers them.
            RequestKind::WriteZeroes { allocate } if allocate || request.fua || self.trim_keeps => {
                one(HostOp::Write, most)
            }
            RequestKind::Trim => one(HostOp::Trim, u64::from(u32::MAX)),
            RequestKind::WriteZeroes { .. } => {
                // Whole units are trimmed and then read as zeros. Parts of units are written.
                let first = from.next_multiple_of(self.unit).min(end);
                let last = (end / self.unit * self.unit).max(first);
                [
                    Part::new(HostOp::Write, from, first, most),
                    Part::new(HostOp::Trim, first, last, u64::from(u32::MAX)),
                    Part::new(HostOp::Write, last, end, most),
                ]
            }
            RequestKind::Flush => [Part::new(HostOp::Flush, 0, 1, 1), none, none],
        }
    }

    /// Advance to `now`. Commands that wait are submitted as soon as the drive's queue has room.
    pub fn advance(&mut self, now: SimTime) {
        loop {
            match self.waiting.front().map(|w| w.wanted.max(self.drive.now())) {
                // At equal times the drive's events come before a submission.
                Some(at) if self.drive.has_place() && self.drive.next_deadline() > at => self.submit(at),
                Some(at) if self.drive.has_place() => drop(self.fire(at)),
                _ if self.fire(now) == 0 => return,
                _ => {}
            }
        }
    }

    /// Submit the first waiting command.
    fn submit(&mut self, at: SimTime) {
        let Some(first) = self.waiting.front_mut() else { return };
        let (slot, wanted) = (first.slot, first.wanted);
        let Some((command, from)) = first.next() else { return };
        if first.is_empty() {
            self.waiting.pop_front();
        }
        let tag = u64::from(slot) << 32 | from as u64;
        let data = match &self.open[slot as usize] {
            Some(Open { request: Request { kind: RequestKind::Write(data), .. }, .. }) => {
                &data[from..from + command.bytes as usize]
            }
            _ => &[],
        };
        if let Some(keeper) = &mut self.keeper {
            keeper.command(at, wanted, &command);
        }
        let taken = self.drive.submit_write(at, wanted, command, tag, data);
        let index = taken.expect("the queue has a place, and time has been advanced");
        if let Some(log) = &mut self.log {
            log(&Event::Submitted { index, at, wanted, command });
        }
    }

    /// Fire the timers that are due by `until`, up to the first completion. Returns the number of timers fired.
    fn fire(&mut self, until: SimTime) -> u64 {
        let Engine { drive, open, free, ended, log, uncommitted, keeper, .. } = self;
        drive.advance_to_completion(until, u64::MAX, &mut |c| {
            if let Some(log) = log {
                log(&Event::Completed(c));
            }
            let (slot, at) = place(c.tag);
            let Some(o) = &mut open[slot] else { return };
            match c.status {
                Status::Ok if c.command.op == HostOp::Read => {
                    o.data[at..at + c.data.len()].copy_from_slice(c.data);
                }
                Status::Ok => {}
                Status::ReadOnly => o.error = Some(Errno::ReadOnly),
                Status::MediaError => o.error = Some(Errno::Io),
                Status::OutOfRange => o.error = Some(Errno::Invalid),
            }
            o.left -= 1;
            if o.left == 0
                && let Some(Open { client, request, data, error, taken, .. }) = open[slot].take()
            {
                *uncommitted |= keeper.is_some() && request.kind != RequestKind::Read;
                ended.push_back(Ended { client, request, data, error, times: [taken, c.completed] });
                free.push(slot as u32);
            }
        })
    }

    /// Whether a trimmed unit may keep its data. A hole must then be written with zeros.
    pub fn trim_keeps(&self) -> bool {
        self.trim_keeps
    }

    /// Whether a request has ended and was not returned yet.
    pub fn has_ended(&self) -> bool {
        !self.ended.is_empty()
    }

    /// Return the oldest ended request. Its changes are then in the store.
    ///
    /// # Errors
    /// The store cannot be written. The request then has no answer.
    pub fn next_ended(&mut self) -> Result<Option<Ended>, StoreError> {
        if let Some(keeper) = &mut self.keeper
            && (self.uncommitted || keeper.is_due(&self.drive))
        {
            keeper.commit(&mut self.drive)?;
            self.uncommitted = false;
        }
        Ok(self.ended.pop_front())
    }
}

/// Decode a tag: the slot of its request, and the offset of the command's data in the request.
fn place(tag: u64) -> (usize, usize) {
    ((tag >> 32) as usize, (tag & u64::from(u32::MAX)) as usize)
}
