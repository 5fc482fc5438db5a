//! Commands of the host: what is known of each under way, and what its submitter hears at its end.

use serde::{Deserialize, Serialize};
use tailcut_units::{Cause, Command, HostOp, Ledger, SimTime, Span, Status};

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
    /// How it will end, as far as that is known.
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
            command: Command { op: HostOp::Flush, offset: 0, bytes: 0 },
            arrived: 0,
            status: Status::Ok,
            ledger: Ledger::new(),
        }
    }

    /// Make it the command with this number, which the host wanted to submit at `wanted` and has submitted at `at`.
    #[inline]
    pub fn begin(&mut self, index: u64, tag: u64, command: Command, [wanted, at]: [SimTime; 2]) {
        (self.index, self.tag, self.command) = (index, tag, command);
        self.arrived = wanted.0;
        self.status = Status::Ok;
        self.ledger.clear();
        if at > wanted {
            self.ledger.charge(Cause::HOST_QUEUE, (at - wanted).0);
        }
    }

    /// Charge a fixed latency of the host interface.
    #[inline]
    pub fn charge_host(&mut self, latency: Span) {
        self.ledger.charge(Cause::HOST_LATENCY, latency.0);
    }

    /// What its submitter hears at `now`, with the data of a read.
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
