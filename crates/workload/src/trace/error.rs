//! Errors of a trace, with the place and the allowed values.

use std::fmt;
use std::io;
use thiserror::Error;

/// A place in a trace: a line of a text format, a byte of a binary format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// Line number, from 1, in the decompressed text.
    Line(u64),
    /// Offset of the record's first byte in the decompressed bytes.
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
    /// An error of the operating system.
    #[error("{file}: cannot {action}: {source}")]
    Io {
        /// The file.
        file: String,
        /// The action that failed.
        action: &'static str,
        /// The error of the system.
        source: io::Error,
    },
    /// Reading was interrupted by the user.
    #[error("{file}: interrupted")]
    Interrupted {
        /// The file.
        file: String,
    },
    /// The trace has no bytes.
    #[error("{file}: the trace is empty; a trace holds at least one request")]
    Empty {
        /// The file.
        file: String,
    },
    /// The trace has lines or records, but none of them is a request.
    #[error("{file}: no request in it: {detail}")]
    NoRequest {
        /// The file.
        file: String,
        /// The lines or records that were skipped.
        detail: String,
    },
    /// The content matches no format.
    #[error(
        "{file}: byte 0: the content matches no known trace format; known: {known} (choose one with --format, or describe the columns of any other text with --columns)"
    )]
    Unrecognised {
        /// The file.
        file: String,
        /// The names of all formats.
        known: String,
    },
    /// One line or record is wrong.
    #[error("{file}: {place}: {reason}{read_as}")]
    Record {
        /// The file.
        file: String,
        /// The line or byte.
        place: Place,
        /// What is wrong and what is allowed.
        reason: Box<Reason>,
        /// The format that was assumed, in words; empty if the user named it.
        read_as: String,
    },
    /// An archive of files.
    #[error("{file}: {kind} archive, which may hold several files; unpack it, and give the files in it")]
    Archive {
        /// The file.
        file: String,
        /// `a tar`, `a zip` and so on.
        kind: &'static str,
    },
    /// The compressed stream ends before its end mark.
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
    /// Other bytes follow the compressed stream.
    #[error(
        "{file}: trailing garbage: the {kind} stream ends after {at} decompressed bytes, and the bytes after it are not a {kind} stream; remove them"
    )]
    TrailingGarbage {
        /// The file.
        file: String,
        /// `gzip`.
        kind: &'static str,
        /// Decompressed bytes of the stream.
        at: u64,
    },
    /// The compressed stream is damaged.
    #[error("{file}: the {kind} stream is damaged near decompressed byte {at}: {source}")]
    Damaged {
        /// The file.
        file: String,
        /// `gzip` or `zstd`.
        kind: &'static str,
        /// Decompressed bytes read so far.
        at: u64,
        /// The error of the decoder.
        source: io::Error,
    },
    /// A record is older than a record already returned.
    #[error(
        "{file}: {place}: time jumps back by {back_ns} ns behind {newest}, beyond the sort window of {window_ns} ns and {window_records} records; enlarge it with --sort-window, or cut clocks that jump with --skip-gaps{doubt}"
    )]
    OutOfOrder {
        /// The file.
        file: String,
        /// The line or byte.
        place: Place,
        /// The place of the newest record so far.
        newest: Place,
        /// How much older the record is than the newest one.
        back_ns: u64,
        /// The sort window.
        window_ns: u64,
        /// The most records the window holds.
        window_records: usize,
        /// Further doubts about the trace, with a separator before them.
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
        /// The first missing field.
        name: &'static str,
        /// The line's layout.
        layout: &'static str,
    },
    /// A field that should be a number is not one.
    #[error("{name} is {text:?}; allowed is a decimal number, 0 or more")]
    NotANumber {
        /// The field.
        name: &'static str,
        /// The content of the field, cut to 40 bytes.
        text: String,
    },
    /// A field is negative.
    #[error("{name} is {text:?}, which is negative; allowed is 0 or more")]
    Negative {
        /// The field.
        name: &'static str,
        /// The content of the field, cut to 40 bytes.
        text: String,
    },
    /// A field is above its bound.
    #[error("{name} is {text:?}, too large; allowed is at most {max}")]
    TooLarge {
        /// The field.
        name: &'static str,
        /// The content of the field, cut to 40 bytes.
        text: String,
        /// The largest value allowed.
        max: u64,
    },
    /// A read, write or trim of 0 bytes.
    #[error("the request's size is 0; allowed is 1 to 4294967295 bytes")]
    ZeroSize,
    /// A field has an unknown value.
    #[error("{name} is {text:?}; allowed is {allowed}")]
    BadValue {
        /// The field.
        name: &'static str,
        /// The content of the field, cut to 40 bytes.
        text: String,
        /// The values allowed.
        allowed: &'static str,
    },
    /// A line that is too long.
    #[error("the line is longer than {max} bytes")]
    LongLine {
        /// The most bytes a line may have.
        max: usize,
    },
    /// The file ends inside a binary record.
    #[error("the file ends inside a record: {have} of its {need} bytes are there")]
    CutRecord {
        /// Bytes present.
        have: usize,
        /// Bytes of a whole record.
        need: usize,
    },
    /// A binary record that is none of its format.
    #[error("{what}")]
    BadRecord {
        /// What is wrong.
        what: String,
    },
    /// A field of fixed length is too short.
    #[error("field {name} has {have} of its {need} characters")]
    CutField {
        /// The field.
        name: &'static str,
        /// Characters present.
        have: usize,
        /// Characters of a whole field.
        need: usize,
    },
    /// A compact trace whose parts are inconsistent.
    #[error("{what}; the file is damaged, convert the original again")]
    Damaged {
        /// What is inconsistent.
        what: String,
    },
    /// The last line has no line break and cannot be parsed.
    #[error("{0}; the file ends without a line break here, so it may be truncated")]
    AtEnd(Box<Reason>),
}

/// An option error.
pub(crate) fn bad(option: &'static str, value: impl ToString, allowed: &'static str) -> TraceError {
    TraceError::Option { option, value: value.to_string(), allowed }
}

/// A field quoted for a message: at most 40 bytes, with control characters replaced.
pub(crate) fn quote(field: &[u8]) -> String {
    let cut = &field[..field.len().min(40)];
    let mut text = String::from_utf8_lossy(cut).replace(|c: char| c.is_control(), "\u{fffd}");
    if field.len() > 40 {
        text.push('…');
    }
    text
}
