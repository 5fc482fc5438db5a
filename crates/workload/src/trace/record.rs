//! One request of a trace, and the counters of all that was read, skipped and changed.

use super::error::{Reason, quote};
use serde::Serialize;
use tailcut_units::{HostOp, SimTime};

/// One request of a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Record {
    /// Time in ns; from a [`super::TraceReader`] it counts from the trace's first record.
    pub time: u64,
    /// First byte on the device; 0 for a flush.
    pub offset: u64,
    /// Length in bytes, at least 1; 0 for a flush.
    pub bytes: u32,
    /// The device, volume or address space, as numbered in the trace.
    pub device: u32,
    /// The operation.
    pub op: HostOp,
    /// Forced unit access.
    pub fua: bool,
}

impl Record {
    /// A request of a program, on the only device of its trace.
    ///
    /// # Errors
    /// A request that is empty or too long, or a number above its bound.
    pub fn new(time: u64, op: HostOp, offset: u64, bytes: u64) -> Result<Record, Box<Reason>> {
        if time > TIME_MAX {
            return Err(too_large("time in ns", time, TIME_MAX));
        }
        Raw { time, device: 0, offset, bytes, op }.check()
    }
}

/// One request as parsed: times are absolute and nothing is checked yet.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Raw {
    pub time: u64,
    pub device: u32,
    pub offset: u64,
    pub bytes: u64,
    pub op: HostOp,
}

/// The upper bound (exclusive) of a trace's addresses: 8 EiB.
pub const ADDRESS_MAX: u64 = 1 << 63;

/// The longest trace, in ns. It leaves two bits of a 64-bit word free.
pub const TIME_MAX: u64 = SimTime::LATEST.0;

impl Raw {
    /// Check what all formats require: a request is not empty, is not longer than a
    /// command can be, and does not exceed the address space.
    #[inline]
    pub fn check(self) -> Result<Record, Box<Reason>> {
        let Raw { time, device, offset, bytes, op } = self;
        if op == HostOp::Flush {
            return Ok(Record { time, offset: 0, bytes: 0, device, op, fua: false });
        }
        if bytes == 0 {
            return Err(Box::new(Reason::ZeroSize));
        }
        let Ok(short) = u32::try_from(bytes) else {
            return Err(too_large("size in bytes", bytes, u64::from(u32::MAX)));
        };
        if offset > ADDRESS_MAX - bytes {
            return Err(too_large("offset in bytes", offset, ADDRESS_MAX - bytes));
        }
        Ok(Record { time, offset, bytes: short, device, op, fua: false })
    }
}

/// The error of a number above its bound.
pub(crate) fn too_large(name: &'static str, value: u64, max: u64) -> Box<Reason> {
    Box::new(Reason::TooLarge { name, text: quote(value.to_string().as_bytes()), max })
}

/// Convert 512-byte sectors to bytes.
#[inline]
pub(crate) fn sectors(name: &'static str, count: u64) -> Result<u64, Box<Reason>> {
    if count > ADDRESS_MAX >> 9 { Err(too_large(name, count, ADDRESS_MAX >> 9)) } else { Ok(count << 9) }
}

/// Counts of what was read, skipped and changed. Nothing is dropped without being counted
/// here.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct TraceCounts {
    /// Lines of a text format, records of a binary one.
    pub lines: u64,
    /// Blank lines skipped.
    pub blank: u64,
    /// Comment, header and summary lines skipped.
    pub comments: u64,
    /// Events or commands of other kinds skipped (blkparse Q/G/C, SCSI inquiries, …).
    pub other_events: u64,
    /// Requests of devices that the device filter left out.
    pub other_devices: u64,
    /// Requests before the time window.
    pub before_window: u64,
    /// Requests returned, over all laps; a split request counts once.
    pub requests: u64,
    /// Requests that were later in the file than a newer one, and were sorted.
    pub reordered: u64,
    /// The largest jump back in time, in ns.
    pub backward_max_ns: u64,
    /// Gaps that `skip_gaps_ns` shortened.
    pub gaps_cut: u64,
    /// The total time removed by `skip_gaps_ns`, in ns.
    pub gaps_cut_ns: u64,
    /// Jumps back of the clock that `skip_gaps_ns` removed.
    pub jumps_back_cut: u64,
    /// Requests whose scaled size or time was limited to its bound.
    pub clamped: u64,
    /// Requests with addresses beyond their device's part of the drive, which were
    /// folded.
    pub folded: u64,
    /// Requests moved to a lower address so that they end inside their device's part.
    pub moved: u64,
    /// Requests larger than their device's part, issued in pieces.
    pub split: u64,
    /// The requests of the host that these became.
    pub pieces: u64,
    /// Requests of devices first seen after the layout was fixed; such a device shares a
    /// part.
    pub late_devices: u64,
    /// Trims of pages that the trace neither reads nor writes, left out by a dense remap.
    pub untouched_trims: u64,
    /// Laps completed or begun.
    pub laps: u32,
    /// Doubts about the trace, known once it has been read to its end.
    pub warnings: Vec<String>,
}

impl TraceCounts {
    /// One line about the skipped records, for messages.
    pub(crate) fn skipped(&self) -> String {
        format!(
            "{} lines or records: {} blank, {} comments or headers, {} other events, {} of other devices, {} before the time window",
            self.lines, self.blank, self.comments, self.other_events, self.other_devices, self.before_window
        )
    }
}
