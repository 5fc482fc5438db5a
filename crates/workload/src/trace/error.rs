//! What can be wrong with a trace, said with the place and what is allowed.

use std::fmt;
use std::io;
use thiserror::Error;

/// Where in a trace: a line of a text format, a byte of a binary one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// Line number, from 1, in the decompressed text.
    Line(u64),
    /// Offset in the decompressed bytes of the record's first byte.
    Byte(u64),
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Place::Line(n) => write!(f, "line {n}"),
            Place::Byte(n) => write!(f, "byte {n}"),
        }
    }
}

/// Why a trace cannot be used.
#[derive(Debug, Error)]
pub enum TraceError {
    /// The operating system refused.
    #[error("{file}: cannot {action}: {source}")]
    Io {
        /// The file.
        file: String,
        /// What was tried.
        action: &'static str,
        /// What the system said.
        source: io::Error,
    },
    /// Reading was given up on request.
    #[error("{file}: interrupted")]
    Interrupted {
        /// The file.
        file: String,
    },
    /// No bytes at all.
    #[error("{file}: the trace is empty; a trace holds at least one request")]
    Empty {
        /// The file.
        file: String,
    },
    /// Lines or records, but none that became a request.
    #[error("{file}: no request in it: {detail}")]
    NoRequest {
        /// The file.
        file: String,
        /// What was found and skipped instead.
        detail: String,
    },
    /// No format claims the content.
    #[error(
        "{file}: byte 0: the content is no known trace format; known: {known} (choose one with --format)"
    )]
    Unrecognised {
        /// The file.
        file: String,
        /// The names of all formats.
        known: String,
    },
    /// One line or record is wrong.
    #[error("{file}: {place}: {reason}")]
    Record {
        /// The file.
        file: String,
        /// Which line or byte.
        place: Place,
        /// What is wrong and what is allowed.
        reason: Box<Reason>,
    },
    /// The compressed stream stops before its end mark.
    #[error(
        "{file}: the {kind} stream is truncated: it stops after {at} decompressed bytes without its end mark"
    )]
    Truncated {
        /// The file.
        file: String,
        /// `gzip` or `zstd`.
        kind: &'static str,
        /// Decompressed bytes read so far.
        at: u64,
    },
    /// Something else follows the compressed stream.
    #[error(
        "{file}: trailing garbage: the {kind} stream ends after {at} decompressed bytes, and what follows it is no {kind} stream; cut it off"
    )]
    TrailingGarbage {
        /// The file.
        file: String,
        /// `gzip`.
        kind: &'static str,
        /// Decompressed bytes of the stream.
        at: u64,
    },
    /// The compressed stream is not one.
    #[error("{file}: the {kind} stream is damaged near decompressed byte {at}: {source}")]
    Damaged {
        /// The file.
        file: String,
        /// `gzip` or `zstd`.
        kind: &'static str,
        /// Decompressed bytes read so far.
        at: u64,
        /// What the decoder said.
        source: io::Error,
    },
    /// A record is older than what was already handed out.
    #[error(
        "{file}: {place}: time jumps back by {back_ns} ns behind {newest}, beyond the sort window of {window_ns} ns and {window_records} records; enlarge it with --sort-window, or cut clocks that jump with --skip-gaps{doubt}"
    )]
    OutOfOrder {
        /// The file.
        file: String,
        /// Which line or byte.
        place: Place,
        /// Where the newest record so far stands.
        newest: Place,
        /// How far behind the newest record seen.
        back_ns: u64,
        /// The window in force.
        window_ns: u64,
        /// The most records the window holds.
        window_records: usize,
        /// What else is doubtful about the trace, with a separator before it.
        doubt: String,
    },
    /// An option's value cannot be used.
    #[error("trace option {option} = {value}: allowed is {allowed}")]
    Option {
        /// The option's name.
        option: &'static str,
        /// The value given.
        value: String,
        /// What is allowed.
        allowed: &'static str,
    },
}

/// What is wrong with one line or record.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Reason {
    /// Too few fields.
    #[error("field {name} is missing; expected {layout}")]
    Missing {
        /// The first field that is not there.
        name: &'static str,
        /// The line's layout.
        layout: &'static str,
    },
    /// A field that should be a number is not.
    #[error("{name} is {text:?}; allowed is a decimal number, 0 or more")]
    NotANumber {
        /// The field.
        name: &'static str,
        /// What stands there, cut to 40 bytes.
        text: String,
    },
    /// A field is below zero.
    #[error("{name} is {text:?}, which is negative; allowed is 0 or more")]
    Negative {
        /// The field.
        name: &'static str,
        /// What stands there, cut to 40 bytes.
        text: String,
    },
    /// A field does not fit.
    #[error("{name} is {text:?}, too large; allowed is at most {max}")]
    TooLarge {
        /// The field.
        name: &'static str,
        /// What stands there, cut to 40 bytes.
        text: String,
        /// The largest value allowed.
        max: u64,
    },
    /// A read, write or trim of nothing.
    #[error("the request's size is 0; allowed is 1 to 4294967295 bytes")]
    ZeroSize,
    /// The operation is unknown.
    #[error("{name} is {text:?}; allowed is {allowed}")]
    BadValue {
        /// The field.
        name: &'static str,
        /// What stands there, cut to 40 bytes.
        text: String,
        /// What may stand there.
        allowed: &'static str,
    },
    /// A line without end.
    #[error("the line is longer than {max} bytes")]
    LongLine {
        /// The most bytes a line may have.
        max: usize,
    },
    /// A binary record stops early.
    #[error("the file ends inside a record: {have} of its {need} bytes are there")]
    CutRecord {
        /// Bytes present.
        have: usize,
        /// Bytes of a whole record.
        need: usize,
    },
    /// A field of fixed length stops early.
    #[error("field {name} has {have} of its {need} characters")]
    CutField {
        /// The field.
        name: &'static str,
        /// Characters present.
        have: usize,
        /// Characters of a whole field.
        need: usize,
    },
    /// A compact trace whose parts disagree.
    #[error("{what}; the file is damaged, convert the original again")]
    Damaged {
        /// What disagrees.
        what: String,
    },
    /// The last line lacks its line break and cannot be read.
    #[error("{0}; the file ends without a line break here, so it may be truncated")]
    AtEnd(Box<Reason>),
}

/// A field as quoted in a message: at most 40 bytes, control characters replaced.
pub(crate) fn quote(field: &[u8]) -> String {
    let cut = &field[..field.len().min(40)];
    let mut text = String::from_utf8_lossy(cut).replace(|c: char| c.is_control(), "\u{fffd}");
    if field.len() > 40 {
        text.push('…');
    }
    text
}
