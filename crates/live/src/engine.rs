//! The drive with its bytes, behind requests of any length.
//!
//! An engine takes requests at a time, cuts them into commands of the drive, keeps those that the drive's queue has no
//! place for, and gives each request back when its last command has ended. It has no clock and no socket.

use crate::nbd::{Errno, Request, RequestKind};
use crate::store::folder::{Keeper, StoreError, Stored};
use std::collections::VecDeque;
use tailcut_core::device::Completion;
use tailcut_core::intervention::{Intervention, InterventionError};
use tailcut_units::{Command, HostOp, SimTime, Status};

/// A request that has ended.
#[derive(Debug)]
pub struct Ended {
    /// The client that sent it, as the caller of [`Engine::take`] numbered it.
    pub client: u64,
    /// The request.
    pub request: Request,
    /// The data of a read that has succeeded.
    pub data: Vec<u8>,
    /// What went wrong.
    pub error: Option<Errno>,
    /// When it was taken, and when it has ended.
    pub times: [SimTime; 2],
}

/// A request under way.
struct Open {
    client: u64,
    request: Request,
    data: Vec<u8>,
    error: Option<Errno>,
    taken: SimTime,
    /// Commands that have not ended.
    left: u32,
}

/// A command that the drive's queue has no place for yet.
struct Waiting {
    command: Command,
    tag: u64,
    wanted: SimTime,
}

/// A drive that serves requests.
pub struct Engine {
    drive: Stored,
    /// Keeps the drive's store, if that outlives the process.
    keeper: Option<Keeper>,
    /// Whether a request has ended whose reply must wait until the store is committed.
    uncommitted: bool,
    open: Vec<Option<Open>>,
    free: Vec<u32>,
    waiting: VecDeque<Waiting>,
    ended: VecDeque<Ended>,
    /// The latest time at which a request was taken, and the earliest for the next.
    taken: [SimTime; 2],
    unit: u64,
    /// Whether a trimmed unit may still have its data.
    trim_keeps: bool,
    log: Option<Log>,
}

/// An entry for the log.
#[derive(Clone, Copy, Debug)]
pub enum Event<'a> {
    /// The drive gets a command.
    Submitted {
        /// Its number, counted since the drive was made.
        index: u64,
        /// When.
        at: SimTime,
        /// When its client wanted that.
        wanted: SimTime,
        /// The command.
        command: Command,
    },
    /// A command has ended.
    Completed(&'a Completion<'a>),
    /// Something else is done to the drive, or to its clock.
    Intervened {
        /// When.
        at: SimTime,
        /// What, as logs hold it.
        text: &'a str,
    },
}

/// Why something is not done to a drive.
#[derive(Debug, thiserror::Error)]
pub enum IntervenedError {
    /// The drive does not take it.
    #[error(transparent)]
    Refused(#[from] InterventionError),
    /// It is done, but the store cannot be written.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Takes the events of a drive.
pub type Log = Box<dyn FnMut(&Event<'_>) + Send>;

impl Engine {
    /// Serve a drive.
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

    /// Commit what the drive does with this keeper of its store.
    pub fn kept_by(&mut self, keeper: Keeper) {
        self.keeper = Some(keeper);
    }

    /// Call `log` with every command that the drive gets, and with every completion.
    pub fn logged(&mut self, log: Log) {
        self.log = Some(log);
    }

    /// End what is under way, however long that takes the drive, and commit the store. Returns the time at which the last
    /// command ended.
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

    /// When something happens next.
    pub fn next_deadline(&self) -> SimTime {
        self.drive.next_deadline()
    }

    /// Take a request of a client at time `now`, to which the engine has been advanced.
    pub fn take(&mut self, now: SimTime, client: u64, request: Request) {
        let now = now.max(self.taken[1]);
        self.taken[0] = now;
        let slot = self.free.pop().unwrap_or_else(|| {
            self.open.push(None);
            self.open.len() as u32 - 1
        });
        let commands = self.commands_of(&request);
        let left = commands.len() as u32;
        let bytes = if request.kind == RequestKind::Read { request.length as usize } else { 0 };
        let data = vec![0; bytes];
        for (command, at) in commands {
            let tag = u64::from(slot) << 32 | u64::from(at);
            self.waiting.push_back(Waiting { command, tag, wanted: now });
        }
        self.open[slot as usize] = Some(Open { client, request, data, error: None, taken: now, left });
        self.advance(now);
    }

    /// Let something be done to the drive now. Requests taken before are submitted before, and later ones after it, also
    /// if it is the same nanosecond by the clock; so a replay gives the same. Returns its time.
    ///
    /// # Errors
    /// The drive does not take it, and nothing has changed; or the store cannot be written.
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

    /// Tell the log of something that is not done to the drive. Returns its time: requests taken before came before it,
    /// and later ones come after it.
    pub fn note_now(&mut self, now: SimTime, text: &str) -> SimTime {
        let at = SimTime(now.max(self.taken[0]).max(self.drive.now()).0 + 1);
        self.advance(at);
        self.taken = [at; 2];
        self.note(at, text);
        at
    }

    /// Tell the log of something that is done.
    fn note(&mut self, at: SimTime, text: &str) {
        if let Some(log) = &mut self.log {
            log(&Event::Intervened { at, text });
        }
    }

    /// The commands of a request, each with its place in the request's data.
    fn commands_of(&self, request: &Request) -> Vec<(Command, u32)> {
        let (from, fua) = (request.offset, request.fua);
        let end = from + u64::from(request.length);
        let mut commands = Vec::with_capacity(1);
        let mut add = |op: HostOp, from: u64, end: u64, most: u64| {
            let mut at = from;
            while at < end {
                let bytes = most.min(end - at) as u32;
                let fua = fua && op == HostOp::Write;
                commands.push((Command { op, offset: at, bytes, fua }, (at - request.offset) as u32));
                at += u64::from(bytes);
            }
        };
        let most = self.drive.max_transfer();
        match request.kind {
            RequestKind::Read => add(HostOp::Read, from, end, most),
            RequestKind::Write(_) => add(HostOp::Write, from, end, most),
            // Zeros that are to be durable are written, since a TRIM has no forced unit access.
            // So are those of a drive that may keep what is trimmed, as it does where parity covers it.
            RequestKind::WriteZeroes { allocate } if allocate || fua || self.trim_keeps => {
                add(HostOp::Write, from, end, most);
            }
            RequestKind::Trim => add(HostOp::Trim, from, end, u64::from(u32::MAX)),
            RequestKind::WriteZeroes { .. } => {
                // A trimmed unit reads as zeros; what is not a whole unit is written.
                let first = from.next_multiple_of(self.unit).min(end);
                let last = (end / self.unit * self.unit).max(first);
                add(HostOp::Write, from, first, most);
                add(HostOp::Trim, first, last, u64::from(u32::MAX));
                add(HostOp::Write, last, end, most);
            }
            RequestKind::Flush => commands.push((Command::FLUSH, 0)),
        }
        commands
    }

    /// Let time pass up to `now`. What waits for a place in the drive's queue gets it as soon as there is one.
    pub fn advance(&mut self, now: SimTime) {
        loop {
            match self.waiting.front().map(|w| w.wanted.max(self.drive.now())) {
                // What the drive does at a time goes before a submission.
                Some(at) if self.drive.has_place() && self.drive.next_deadline() > at => self.submit(at),
                Some(at) if self.drive.has_place() => drop(self.fire(at)),
                _ if self.fire(now) == 0 => return,
                _ => {}
            }
        }
    }

    /// Submit the first command that waits.
    fn submit(&mut self, at: SimTime) {
        let Some(Waiting { command, tag, wanted }) = self.waiting.pop_front() else { return };
        let (slot, from) = place(tag);
        let data = match &self.open[slot] {
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

    /// Let the drive do what is due by `until`, up to the first completion. Returns how many timers fired.
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

    /// Whether a trimmed unit may still have its data, so that a hole must be written with zeros.
    pub fn trim_keeps(&self) -> bool {
        self.trim_keeps
    }

    /// Whether a request has ended that was not given back.
    pub fn has_ended(&self) -> bool {
        !self.ended.is_empty()
    }

    /// A request that has ended, the first first. What it has changed is in the store by then.
    ///
    /// # Errors
    /// The store cannot be written. The request has no answer then.
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

/// The slot of a tag's request, and the place of the command's data in that of the request.
fn place(tag: u64) -> (usize, usize) {
    ((tag >> 32) as usize, (tag & u64::from(u32::MAX)) as usize)
}
