//! Tailcut's compact form, binary, little-endian: the format that `trace convert` writes.
//!
//! A header of 64 bytes: magic `TCUTRACE`, u32 version (1), u32 record size (24), u64
//! records, u64 time of the last record (ns), u64 reads, u64 writes, u64 XXH3-64 of all
//! records, u64 XXH3-64 of the 56 bytes before. Then the records: u64 time in ns since the
//! first record (low 62 bits) and operation (top 2 bits: 0 read, 1 write, 2 trim, 3
//! flush), u64 offset (bytes, low 63 bits) and forced unit access (top bit), u32 bytes, u32 device. Times never decrease. Nothing
//! follows the records.

use super::{Format, Looks};
use crate::trace::decode::{BATCH, Batch, Decoder, Entry, le_u32, le_u64};
use crate::trace::error::{Place, Reason, TraceError};
use crate::trace::options::TimeUnit;
use crate::trace::record::{ADDRESS_MAX, Raw, Record, TIME_MAX, TraceCounts};
use crate::trace::stream::ByteStream;
use std::io::{self, BufWriter, Seek, SeekFrom, Write};
use tailcut_units::HostOp;
use xxhash_rust::xxh3::{Xxh3Default, xxh3_64};

pub(crate) static FORMAT: Format = Format {
    name: "compact",
    aliases: &["tailcut"],
    title: "Tailcut compact binary",
    layout: "64 B header, 24 B records: u64 time (ns) with operation, u64 offset (bytes), u32 bytes, u32 device",
    looks: Looks::Bytes(|sample| sample.starts_with(&MAGIC)),
    open: |setup| {
        setup.unit(TimeUnit::Ns);
        // The form fixes its unit; a unit given by the user would change every time
        // without a warning.
        setup.unit = TimeUnit::Ns;
        setup.unit_from = "format";
        Box::new(Compact { header: None, done: 0, last: 0, hash: Box::default() })
    },
};

/// The first bytes of a compact trace.
pub const MAGIC: [u8; 8] = *b"TCUTRACE";
/// Bytes of the header.
pub const HEADER_BYTES: usize = 64;
/// Bytes of a record.
pub const RECORD_BYTES: usize = 24;
const VERSION: u32 = 1;

/// The contents of the header of a compact trace.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CompactHeader {
    /// The number of records that follow.
    pub records: u64,
    /// Time of the last record, ns since the first.
    pub span_ns: u64,
    /// Reads among the records.
    pub reads: u64,
    /// Writes among the records.
    pub writes: u64,
    /// XXH3-64 of all records.
    pub checksum: u64,
}

impl CompactHeader {
    /// The header's bytes.
    pub fn to_bytes(&self) -> [u8; HEADER_BYTES] {
        let mut out = [0; HEADER_BYTES];
        out[..8].copy_from_slice(&MAGIC);
        out[8..12].copy_from_slice(&VERSION.to_le_bytes());
        out[12..16].copy_from_slice(&(RECORD_BYTES as u32).to_le_bytes());
        let numbers = [self.records, self.span_ns, self.reads, self.writes, self.checksum];
        for (slot, number) in out[16..56].chunks_exact_mut(8).zip(numbers) {
            slot.copy_from_slice(&number.to_le_bytes());
        }
        let sum = xxh3_64(&out[..56]);
        out[56..].copy_from_slice(&sum.to_le_bytes());
        out
    }

    fn parse(bytes: &[u8]) -> Result<CompactHeader, String> {
        if bytes.len() < HEADER_BYTES {
            return Err(format!(
                "the file ends inside the header: only {} of its 64 bytes are present",
                bytes.len()
            ));
        }
        if bytes[..8] != MAGIC {
            return Err("the magic number TCUTRACE is missing".into());
        }
        let (version, size) = (le_u32(bytes, 8), le_u32(bytes, 12));
        if version != VERSION || size != RECORD_BYTES as u32 {
            return Err(format!(
                "version {version} with records of {size} bytes; allowed is version 1 with 24"
            ));
        }
        if le_u64(bytes, 56) != xxh3_64(&bytes[..56]) {
            return Err("the header's checksum is wrong".into());
        }
        Ok(CompactHeader {
            records: le_u64(bytes, 16),
            span_ns: le_u64(bytes, 24),
            reads: le_u64(bytes, 32),
            writes: le_u64(bytes, 40),
            checksum: le_u64(bytes, 48),
        })
    }
}

/// The bytes of one record. `record.time` must be at most [`TIME_MAX`].
fn encode(record: &Record) -> [u8; RECORD_BYTES] {
    let op = match record.op {
        HostOp::Read => 0u64,
        HostOp::Write => 1,
        HostOp::Trim => 2,
        HostOp::Flush => 3,
    };
    let mut out = [0; RECORD_BYTES];
    out[..8].copy_from_slice(&(record.time | op << 62).to_le_bytes());
    out[8..16].copy_from_slice(&(record.offset | u64::from(record.fua) << 63).to_le_bytes());
    out[16..20].copy_from_slice(&record.bytes.to_le_bytes());
    out[20..].copy_from_slice(&record.device.to_le_bytes());
    out
}

/// Write records in the compact form. Their times must not decrease, and be at most [`TIME_MAX`].
///
/// # Errors
/// The output cannot be written.
pub fn write_compact(records: &[Record], out: impl Write + Seek) -> io::Result<()> {
    let mut out = CompactWriter::new(out)?;
    records.iter().try_for_each(|record| out.push(record))?;
    out.finish().map(drop)
}

/// Writes the compact form.
pub(in crate::trace) struct CompactWriter<W: Write + Seek> {
    out: BufWriter<W>,
    hash: Xxh3Default,
    header: CompactHeader,
}

impl<W: Write + Seek> CompactWriter<W> {
    pub(in crate::trace) fn new(out: W) -> io::Result<CompactWriter<W>> {
        let mut out = BufWriter::with_capacity(256 * 1024, out);
        out.write_all(&[0; HEADER_BYTES])?;
        Ok(CompactWriter { out, hash: Xxh3Default::new(), header: CompactHeader::default() })
    }

    pub(in crate::trace) fn push(&mut self, record: &Record) -> io::Result<()> {
        let bytes = encode(record);
        self.hash.update(&bytes);
        self.header.records += 1;
        self.header.reads += u64::from(record.op == HostOp::Read);
        self.header.writes += u64::from(record.op == HostOp::Write);
        self.header.span_ns = record.time;
        self.out.write_all(&bytes)
    }

    /// The counts are first in the file but are known last.
    pub(in crate::trace) fn finish(mut self) -> io::Result<CompactHeader> {
        self.header.checksum = self.hash.digest();
        self.out.seek(SeekFrom::Start(0))?;
        self.out.write_all(&self.header.to_bytes())?;
        self.out.flush()?;
        Ok(self.header)
    }
}

const OPS: [HostOp; 4] = [HostOp::Read, HostOp::Write, HostOp::Trim, HostOp::Flush];

struct Compact {
    header: Option<CompactHeader>,
    done: u64,
    last: u64,
    hash: Box<Xxh3Default>,
}

impl Compact {
    fn fail(file: &str, at: u64, what: String) -> TraceError {
        let reason = Box::new(Reason::Damaged { what });
        TraceError::Record { file: file.into(), place: Place::Byte(at), reason, read_as: String::new() }
    }

    fn header(&mut self, input: &mut ByteStream) -> Result<CompactHeader, TraceError> {
        if let Some(header) = self.header {
            return Ok(header);
        }
        let parsed = CompactHeader::parse(input.peek(HEADER_BYTES)?);
        let header = parsed.map_err(|what| Self::fail(input.file(), 0, what))?;
        input.consume(HEADER_BYTES);
        self.header = Some(header);
        Ok(header)
    }

    fn finish(&self, input: &mut ByteStream, header: &CompactHeader) -> Result<(), TraceError> {
        let at = input.offset();
        if !input.peek(1)?.is_empty() {
            return Err(Self::fail(input.file(), at, format!("bytes follow the {} records", header.records)));
        }
        if self.hash.digest() != header.checksum {
            return Err(Self::fail(input.file(), at, "the checksum of the records is wrong".into()));
        }
        Ok(())
    }

    /// Decode up to one batch of records; `Ok(true)` at the end.
    fn batch(&mut self, input: &mut ByteStream, entries: &mut Vec<Entry>) -> Result<bool, TraceError> {
        let header = self.header(input)?;
        let want = (header.records - self.done).min(BATCH as u64) as usize;
        if want == 0 {
            self.finish(input, &header)?;
            return Ok(true);
        }
        let at = input.offset();
        let bytes = input.peek(want * RECORD_BYTES)?;
        let whole = (bytes.len() / RECORD_BYTES).min(want);
        if whole == 0 {
            let what =
                format!("the header announces {} records, the file ends after {}", header.records, self.done);
            return Err(Self::fail(input.file(), at, what));
        }
        let body = &bytes[..whole * RECORD_BYTES];
        self.hash.update(body);
        let mut wrong = None;
        for (place, record) in (at..).step_by(RECORD_BYTES).zip(body.chunks_exact(RECORD_BYTES)) {
            let word = le_u64(record, 0);
            let (time, op) = (word & TIME_MAX, OPS[(word >> 62) as usize]);
            let place_on_device = le_u64(record, 8);
            let (offset, fua) = (place_on_device & (ADDRESS_MAX - 1), place_on_device >= ADDRESS_MAX);
            let raw =
                Raw { time, device: le_u32(record, 20), offset, bytes: u64::from(le_u32(record, 16)), op };
            let checked = if time < self.last {
                Err(Box::new(Reason::Damaged { what: format!("time falls from {} to {time} ns", self.last) }))
            } else {
                raw.check().map(|record| Record { fua, ..record })
            };
            match checked {
                Ok(record) => entries.push(Entry { record, place }),
                Err(reason) => {
                    wrong = Some((place, reason));
                    break;
                }
            }
            self.last = time;
        }
        if let Some((place, reason)) = wrong {
            return Err(TraceError::Record {
                file: input.file().into(),
                place: Place::Byte(place),
                reason,
                read_as: String::new(),
            });
        }
        input.consume(whole * RECORD_BYTES);
        self.done += whole as u64;
        Ok(false)
    }
}

impl Decoder for Compact {
    fn decode(&mut self, input: &mut ByteStream, batch: &mut Batch, counts: &mut TraceCounts) {
        match self.batch(input, &mut batch.entries) {
            Ok(ended) => batch.ended = ended,
            Err(error) => batch.error = Some(error),
        }
        counts.lines += batch.entries.len() as u64;
    }

    fn place(&self, at: u64) -> Place {
        Place::Byte(at)
    }

    fn sorted(&self) -> bool {
        true
    }
}
