//! Host commands and how they end.

use serde::{Deserialize, Serialize};

/// The kind of a host command.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum HostOp {
    /// Read a byte range.
    Read,
    /// Write a byte range.
    Write,
    /// Declare a byte range unused (deallocate, discard).
    Trim,
    /// Complete when all writes acknowledged before are durable.
    Flush,
}

/// One host command. Offsets and lengths are bytes within the host capacity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Command {
    /// The kind of the command.
    pub op: HostOp,
    /// First byte; ignored for a flush.
    pub offset: u64,
    /// Length in bytes, at least 1; 0 for a flush.
    pub bytes: u32,
    /// Forced unit access: a write completes only when its data are durable. Ignored for other kinds.
    pub fua: bool,
}

impl Command {
    /// A flush.
    pub const FLUSH: Command = Command::new(HostOp::Flush, 0, 0);

    /// A command without forced unit access.
    pub const fn new(op: HostOp, offset: u64, bytes: u32) -> Command {
        Command { op, offset, bytes, fua: false }
    }
}

impl HostOp {
    /// All kinds, in the order of their numbers.
    pub const ALL: [HostOp; 4] = [HostOp::Read, HostOp::Write, HostOp::Trim, HostOp::Flush];

    /// Their number.
    pub const COUNT: usize = HostOp::ALL.len();

    /// The kind with a name in files.
    pub fn named(name: &str) -> Option<HostOp> {
        HostOp::ALL.into_iter().find(|op| op.name() == name)
    }

    /// Its name in files: `read`, `write`, `trim` or `flush`.
    pub fn name(self) -> &'static str {
        match self {
            HostOp::Read => "read",
            HostOp::Write => "write",
            HostOp::Trim => "trim",
            HostOp::Flush => "flush",
        }
    }
}

/// How a command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// Completed.
    Ok,
    /// The range lies outside the drive.
    OutOfRange,
    /// Data of the range cannot be read and cannot be computed: none are returned.
    MediaError,
    /// The drive has no spare blocks left and refuses to change data.
    ReadOnly,
}

/// Why a drive became read-only.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReadOnlyReason {
    /// Too few good blocks are left for the data that the drive must be able to hold.
    FewGoodBlocks,
    /// A collection found no free row in its lane, or collections won none for host data.
    NoFreeRow,
}

impl ReadOnlyReason {
    /// A clause for messages.
    pub const fn describe(self) -> &'static str {
        match self {
            ReadOnlyReason::FewGoodBlocks => "too few good blocks were left",
            ReadOnlyReason::NoFreeRow => "collections found or gained no free row",
        }
    }
}

impl Status {
    /// All, in the order of their numbers in output.
    pub const ALL: [Status; 4] = [Status::Ok, Status::OutOfRange, Status::MediaError, Status::ReadOnly];

    /// The name in output.
    pub const fn name(self) -> &'static str {
        match self {
            Status::Ok => "ok",
            Status::OutOfRange => "out_of_range",
            Status::MediaError => "media_error",
            Status::ReadOnly => "read_only",
        }
    }
}
