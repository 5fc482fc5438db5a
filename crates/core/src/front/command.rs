//! Commands of the host: the state of each command under way, and its completion.

use serde::{Deserialize, Serialize};
use tailcut_units::{Cause, Command, HostOp, Ledger, SimTime, Span, Status};

/// The reason why a drive refuses a command. The drive is unchanged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SubmitError {
    /// Submit again after the next completion.
    #[error("the device queue is full")]
    QueueFull,
    /// The drive is at a later time, or has an event at or before the time of the submission.
    #[error("the drive is not at {} ns: advance it to the time of the submission, which may not go back", at.0)]
    NotAdvanced {
        /// The time of the submission.
        at: SimTime,
    },
    /// The host cannot want a command after it has submitted it.
    #[error("a command that is submitted at {} ns was wanted at {} ns, which is later", at.0, wanted.0)]
    WantedLater {
        /// When the host wanted to submit it.
        wanted: SimTime,
        /// The time of the submission.
        at: SimTime,
    },
    /// A read or write is larger than the drive takes (`host.max_transfer`).
    #[error("{bytes} bytes are more than the {most} of one command")]
    TooLarge {
        /// Its bytes.
        bytes: u32,
        /// The largest number of bytes of a command.
        most: u64,
    },
    /// The number of data bytes of a write is neither 0 nor that of the command.
    #[error("a write of {bytes} bytes has {given} bytes of data")]
    DataLength {
        /// Bytes of the command.
        bytes: u32,
        /// Bytes of its data.
        given: usize,
    },
}

/// A command as its submitter gives it.
pub struct Submission<'a> {
    /// When it is submitted.
    pub at: SimTime,
    /// When the host wanted to submit it.
    pub wanted: SimTime,
    /// The command.
    pub command: Command,
    /// The bytes of a write, or none for zeros.
    pub data: &'a [u8],
}

impl Submission<'_> {
    /// Check a submission, except for the state of the queue. The drive is at `now`, has its next event at `next`, and
    /// accepts `most` bytes for each command.
    ///
    /// # Errors
    /// The mistake of the submitter.
    #[inline]
    pub fn check(&self, now: SimTime, next: SimTime, most: u64) -> Result<(), SubmitError> {
        let Submission { at, wanted, command, data } = *self;
        if at < now || next <= at {
            return Err(SubmitError::NotAdvanced { at });
        }
        if wanted > at {
            return Err(SubmitError::WantedLater { wanted, at });
        }
        if u64::from(command.bytes) > most && matches!(command.op, HostOp::Read | HostOp::Write) {
            return Err(SubmitError::TooLarge { bytes: command.bytes, most });
        }
        if !data.is_empty() && data.len() != command.bytes as usize {
            return Err(SubmitError::DataLength { bytes: command.bytes, given: data.len() });
        }
        Ok(())
    }
}

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

/// A command that the drive has accepted, until it ends.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Arrived {
    /// Serial number of the submission, from 0.
    pub index: u64,
    /// The tag that the submitter attached.
    pub tag: u64,
    /// The command.
    pub command: Command,
    /// When the host wanted to submit it, ns.
    pub arrived: u64,
    /// Its status at its end, as far as known.
    pub status: Status,
    /// Latency by cause so far.
    pub ledger: Ledger,
}

impl Arrived {
    /// No command.
    pub fn blank() -> Arrived {
        Arrived {
            index: 0,
            tag: 0,
            command: Command::FLUSH,
            arrived: 0,
            status: Status::Ok,
            ledger: Ledger::new(),
        }
    }

    /// Initialise the fields for a command that the host wanted to submit at `wanted` and has submitted at `at`. Of the
    /// ledger only the part of the host's side is initialised.
    #[inline]
    pub fn begin(&mut self, index: u64, tag: u64, command: Command, [wanted, at]: [SimTime; 2]) {
        (self.index, self.tag, self.command) = (index, tag, command);
        self.arrived = wanted.0;
        self.status = Status::Ok;
        self.ledger.clear_host();
        if at > wanted {
            self.ledger.charge(Cause::HOST_QUEUE, (at - wanted).0);
        }
    }

    /// Charge a fixed latency of the host interface.
    #[inline]
    pub fn charge_host(&mut self, latency: Span) {
        self.ledger.charge(Cause::HOST_LATENCY, latency.0);
    }

    /// The completion at `now`, with the data of a read.
    #[inline]
    pub fn completion<'a>(&'a self, now: u64, data: &'a [u8]) -> Completion<'a> {
        debug_assert_eq!(self.ledger.sum(), now - self.arrived, "a ledger adds up: {:?}", self.ledger);
        Completion {
            index: self.index,
            tag: self.tag,
            command: self.command,
            arrived: SimTime(self.arrived),
            completed: SimTime(now),
            status: self.status,
            ledger: &self.ledger,
            data,
        }
    }
}
