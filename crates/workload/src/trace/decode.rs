//! Decodes bytes into records, one batch at a time; the code around every format's parser.

use super::error::{Place, Reason, TraceError};
use super::fields::trim;
use super::options::TimeUnit;
use super::record::{Raw, Record, TraceCounts};
use super::stream::{ByteStream, LINE_MAX};
use tailcut_units::HostOp;

/// Records per batch: small enough to stay in the first-level cache.
pub(crate) const BATCH: usize = 512;

/// A record with its absolute time, and its place in the file.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Entry {
    pub record: Record,
    pub place: u64,
}

/// Records decoded together. An error applies after the records of its batch, so that a
/// reader meets problems in file order.
#[derive(Default)]
pub(crate) struct Batch {
    pub entries: Vec<Entry>,
    pub next: usize,
    pub error: Option<TraceError>,
    pub ended: bool,
}

impl Batch {
    /// Append a request, and before it the FLUSH that it asks for, at the same time.
    #[inline]
    fn push(&mut self, place: u64, Request { record, preflush }: Request) {
        if preflush {
            let record = Record { op: HostOp::Flush, offset: 0, bytes: 0, fua: false, ..record };
            self.entries.push(Entry { record, place });
        }
        self.entries.push(Entry { record, place });
    }
}

/// A checked request, and whether a FLUSH precedes it.
struct Request {
    record: Record,
    preflush: bool,
}

/// The kind of one line or binary record.
pub(crate) enum Parsed {
    Request(Raw),
    /// A request with a flush before it (preflush: two requests, the first of them a FLUSH) or with forced
    /// unit access, or both.
    Special {
        raw: Raw,
        preflush: bool,
        fua: bool,
    },
    /// A comment, header or summary.
    Comment,
    /// An event or command that is not a request, or not of the kind that is replayed.
    Other,
}

impl Parsed {
    /// The request, checked; `None` if there is none, which is counted.
    #[inline]
    fn request(self, counts: &mut TraceCounts) -> Result<Option<Request>, Box<Reason>> {
        Ok(match self {
            Parsed::Request(raw) => Some(Request { record: raw.check()?, preflush: false }),
            Parsed::Special { raw, preflush, fua } => {
                Some(Request { record: Record { fua, ..raw.check()? }, preflush })
            }
            Parsed::Comment => {
                counts.comments += 1;
                None
            }
            Parsed::Other => {
                counts.other_events += 1;
                None
            }
        })
    }
}

/// A parser's result for a line or record; the error is boxed because it is rare.
pub(crate) type Outcome = Result<Parsed, Box<Reason>>;

/// The decoder of a format.
pub(crate) trait Decoder: Send {
    /// Append up to [`BATCH`] records, or one more if the last has a flush before it; set `ended` or `error` when there is no more.
    fn decode(&mut self, input: &mut ByteStream, batch: &mut Batch, counts: &mut TraceCounts);
    /// The name of a place in messages.
    fn place(&self, at: u64) -> Place;
    /// Doubts about the trace: its end may be cut, or something was found while reading.
    fn warnings(&self) -> Vec<String> {
        Vec::new()
    }
    /// Whether the format guarantees the order of time and its decoder checks it.
    fn sorted(&self) -> bool {
        false
    }
}

/// The input from which a format's parser is made, and the choices of the parser.
pub(crate) struct Setup<'a> {
    /// The first bytes of the trace; whole lines if it is text.
    pub sample: &'a [u8],
    /// The time unit given by the user.
    pub given: Option<TimeUnit>,
    /// The time unit that the parser uses; set by [`Setup::unit`].
    pub unit: TimeUnit,
    /// Where the unit is from: `given`, `format` or `detected`.
    pub unit_from: &'static str,
    /// Any further choice that the parser made from the data, for output.
    pub note: &'static str,
}

impl Setup<'_> {
    /// Set the time unit, the user's or else the format's own, and return its nanoseconds.
    pub fn unit(&mut self, own: TimeUnit) -> u64 {
        self.unit = self.given.unwrap_or(own);
        self.unit_from = if self.given.is_some() { "given" } else { "format" };
        self.unit.nanos()
    }
}

/// The data lines of a sample: lines that are not blank and not comments.
pub(crate) fn sample_lines(sample: &[u8]) -> impl Iterator<Item = &[u8]> {
    sample
        .split(|b| matches!(b, b'\n' | b'\r'))
        .map(trim)
        .filter(|l| !l.is_empty() && !is_comment(l))
        .take(1000)
}

fn is_comment(line: &[u8]) -> bool {
    line.first() == Some(&b'#') || line.starts_with(b"//")
}

/// How complete a last line is that can be parsed but has no line break.
pub(crate) enum Ending {
    /// The last field has a fixed form and is complete.
    Whole,
    /// This field, the last, may be incomplete.
    Open(&'static str),
    /// The line is certainly cut.
    Cut(Reason),
}

/// A parser of one line.
pub(crate) trait LineParser: Send {
    /// Whether the first data line may be a header, which begins with a letter or a quote.
    const HEADER: bool = false;
    /// Whether the first data line is a header.
    fn is_header(&self, line: &[u8]) -> bool {
        Self::HEADER && (line[0].is_ascii_alphabetic() || line[0] == b'"')
    }
    /// `line` is trimmed and neither blank nor a comment.
    fn parse(&mut self, line: &[u8]) -> Outcome;
    /// How complete the line just parsed is if the file ends directly after it, without a
    /// line break.
    fn ending(&self, line: &[u8]) -> Ending;
    /// A warning to the user about the lines so far.
    fn warning(&self) -> Option<String> {
        None
    }
}

/// A decoder of text with one record per line.
pub(crate) struct Lines<P> {
    parser: P,
    number: u64,
    data: u64,
    /// The last field of a last line without a line break, if it may be incomplete.
    open: Option<&'static str>,
    /// The first line, if it is a header. Files that were put together repeat it.
    header: Vec<u8>,
}

impl<P: LineParser> Lines<P> {
    pub fn new(parser: P) -> Lines<P> {
        Lines { parser, number: 0, data: 0, open: None, header: Vec::new() }
    }

    fn fail(&self, file: &str, reason: Box<Reason>) -> TraceError {
        TraceError::Record {
            file: file.into(),
            place: Place::Line(self.number),
            reason,
            read_as: String::new(),
        }
    }

    #[inline]
    fn parse(
        &mut self,
        line: &[u8],
        whole: bool,
        counts: &mut TraceCounts,
    ) -> Result<Option<Request>, Box<Reason>> {
        let line = trim(line);
        if line.is_empty() {
            counts.blank += 1;
            return Ok(None);
        }
        if is_comment(line) {
            counts.comments += 1;
            return Ok(None);
        }
        self.data += 1;
        // Bytes of value 0 are not text.
        if self.data == 1 && self.parser.is_header(line) && !line.contains(&0) {
            self.header = line.to_vec();
        }
        if line == self.header {
            counts.comments += 1;
            return Ok(None);
        }
        let request = self.parser.parse(line)?.request(counts)?;
        if !whole {
            match self.parser.ending(line) {
                Ending::Whole => {}
                Ending::Open(field) => self.open = Some(field),
                Ending::Cut(reason) => return Err(Box::new(reason)),
            }
        }
        Ok(request)
    }
}

impl<P: LineParser> Decoder for Lines<P> {
    fn decode(&mut self, input: &mut ByteStream, batch: &mut Batch, counts: &mut TraceCounts) {
        while batch.entries.len() < BATCH {
            let (line, whole) = match input.line() {
                Ok(Some(line)) => line,
                Ok(None) => {
                    batch.ended = true;
                    return;
                }
                Err(error) => {
                    batch.error = Some(error);
                    return;
                }
            };
            self.number += 1;
            counts.lines += 1;
            if line.len() > LINE_MAX {
                let reason = Box::new(Reason::LongLine { max: LINE_MAX });
                batch.error = Some(self.fail(input.file(), reason));
                return;
            }
            match self.parse(line, whole, counts) {
                Ok(None) => {}
                Ok(Some(record)) => batch.push(self.number, record),
                Err(reason) => {
                    let reason = if whole { reason } else { Box::new(Reason::AtEnd(reason)) };
                    batch.error = Some(self.fail(input.file(), reason));
                    return;
                }
            }
        }
    }

    fn place(&self, at: u64) -> Place {
        Place::Line(at)
    }

    fn warnings(&self) -> Vec<String> {
        let open = self.open.map(|field| {
            format!(
                "line {}: the file ends without a line break after the last field, {field}; if the file was \
                 cut, that field may be too short",
                self.number
            )
        });
        open.into_iter().chain(self.parser.warning()).collect()
    }
}

/// A parser of a binary record.
pub(crate) trait RecordParser: Send {
    /// Bytes of the head of a record, from which its length follows.
    const HEAD: usize;
    /// Bytes of the longest record.
    const LONGEST: usize = Self::HEAD;
    /// Bytes of the record that begins with a whole head.
    fn length(&self, _head: &[u8]) -> usize {
        Self::HEAD
    }
    /// `record` has exactly its length.
    fn parse(&mut self, record: &[u8]) -> Outcome;
    /// Warnings to the user about the records so far.
    fn warnings(&self) -> Vec<String> {
        Vec::new()
    }
}

/// A decoder of binary records.
pub(crate) struct Records<P>(pub P);

impl<P: RecordParser> Decoder for Records<P> {
    fn decode(&mut self, input: &mut ByteStream, batch: &mut Batch, counts: &mut TraceCounts) {
        while batch.entries.len() < BATCH {
            let at = input.offset();
            let bytes = match input.peek(P::LONGEST) {
                Ok(bytes) => bytes,
                Err(error) => {
                    batch.error = Some(error);
                    return;
                }
            };
            if bytes.is_empty() {
                batch.ended = true;
                return;
            }
            let need = if bytes.len() < P::HEAD { P::HEAD } else { self.0.length(bytes) };
            let parsed = match bytes.get(..need) {
                Some(record) => self.0.parse(record),
                None => Err(Box::new(Reason::CutRecord { have: bytes.len(), need })),
            };
            match parsed.and_then(|parsed| parsed.request(counts)) {
                Ok(Some(request)) => batch.push(at, request),
                Ok(None) => {}
                Err(reason) => {
                    let file = input.file().into();
                    batch.error = Some(TraceError::Record {
                        file,
                        place: Place::Byte(at),
                        reason,
                        read_as: String::new(),
                    });
                    return;
                }
            }
            counts.lines += 1;
            input.consume(need);
        }
    }

    fn place(&self, at: u64) -> Place {
        Place::Byte(at)
    }

    fn warnings(&self) -> Vec<String> {
        self.0.warnings()
    }
}

/// Read a little-endian number of a binary record; 0 if out of range, which cannot happen
/// for a whole record.
#[inline]
pub(crate) fn le_u16(record: &[u8], at: usize) -> u16 {
    record.get(at..at + 2).and_then(|b| b.try_into().ok()).map_or(0, u16::from_le_bytes)
}

/// See [`le_u16`].
#[inline]
pub(crate) fn le_u32(record: &[u8], at: usize) -> u32 {
    record.get(at..at + 4).and_then(|b| b.try_into().ok()).map_or(0, u32::from_le_bytes)
}

/// See [`le_u16`].
#[inline]
pub(crate) fn le_u64(record: &[u8], at: usize) -> u64 {
    record.get(at..at + 8).and_then(|b| b.try_into().ok()).map_or(0, u64::from_le_bytes)
}
