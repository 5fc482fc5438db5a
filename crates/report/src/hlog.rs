//! `latency.hlog`: the standard HdrHistogram log (V2, deflated), which the HdrHistogram tools
//! of any language read. Each histogram is one interval that spans the whole run, with the tag
//! `scheme/job/read`, or `write`, `trim` or `flush`. Values are in ns; the printed maximum is in ms.

use crate::error::ReportError;
use crate::regular::open;
use base64::Engine;
use base64::engine::general_purpose::STANDARD as BASE64;
use flate2::read::ZlibDecoder;
use hdrhistogram::Histogram;
use hdrhistogram::serialization::interval_log::{
    IntervalLogIterator, IntervalLogWriterBuilder, LogEntry, Tag,
};
use hdrhistogram::serialization::{Deserializer, V2DeflateSerializer};
use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::time::{Duration, SystemTime};
use tailcut_stats::Measured;
use tailcut_units::HostOp;

/// The file's name in an output folder.
pub const FILE: &str = "latency.hlog";

/// Writes the log of one run from the measurements of every scheme. Populations without
/// requests are left out.
pub fn write(mut out: impl Write, schemes: &[(&str, &Measured)]) -> Result<(), ReportError> {
    let failed = |e: &dyn std::fmt::Display| ReportError::Hlog(e.to_string());
    let mut serializer = V2DeflateSerializer::new();
    let mut builder = IntervalLogWriterBuilder::new();
    // Virtual time starts at zero; without a start time, readers would guess one.
    builder
        .add_comment("[Histogram log format version 1.3]")
        .add_comment("[Tailcut latencies in ns; times are virtual]")
        .with_start_time(SystemTime::UNIX_EPOCH)
        .with_base_time(SystemTime::UNIX_EPOCH)
        .with_max_value_divisor(1e6);
    let mut log = builder.begin_log_with(&mut out, &mut serializer).map_err(|e| failed(&e))?;
    for (scheme, measured) in schemes {
        for job in &measured.jobs {
            for op in HostOp::ALL {
                let population = job.of(op);
                if population.count() == 0 {
                    continue;
                }
                let text = tag(&format!("{scheme}/{}/{}", job.name, op.name()));
                let length = Duration::from_nanos(measured.runtime.0);
                log.write_histogram(population.histogram(), Duration::ZERO, length, Tag::new(&text))
                    .map_err(|e| failed(&e))?;
            }
        }
    }
    Ok(())
}

/// The tag of a text: without commas and white space, which a tag must not contain.
pub fn tag(text: &str) -> String {
    text.chars().map(|c| if c == ',' || c.is_whitespace() { '_' } else { c }).collect()
}

/// The longest line that is read, and the most bytes that the counts of a histogram take. A histogram of this program takes
/// at most 300 KiB.
const LONGEST_LINE: u64 = 1 << 20;

/// How a compressed histogram of the second version of the format begins.
const COOKIE: [u8; 4] = [0x1c, 0x84, 0x93, 0x14];

/// A histogram as the format has it before its counts: a cookie, the length of the counts, an offset, the digits, the lowest
/// and the highest value, and a factor.
const HEAD: usize = 40;

/// Read a log that [`write`] has written: `each` gets the tag and the latencies (ns) of each histogram, in order.
///
/// # Errors
/// A file that is not of this form; [`ReportError::Interrupted`] once `stopped` returns true.
pub fn read(
    path: &Path,
    stopped: &dyn Fn() -> bool,
    mut each: impl FnMut(&str, &Histogram<u64>),
) -> Result<(), ReportError> {
    let mut file = BufReader::new(open(path).map_err(ReportError::io(path))?);
    for number in 1.. {
        if stopped() {
            return Err(ReportError::Interrupted);
        }
        let damaged = |reason: &str| ReportError::Damaged {
            path: path.to_path_buf(),
            line: number,
            reason: reason.to_string(),
        };
        let mut line = Vec::new();
        let read =
            (&mut file).take(LONGEST_LINE).read_until(b'\n', &mut line).map_err(ReportError::io(path))?;
        if read == 0 {
            break;
        }
        if line.last() != Some(&b'\n') {
            let long = read as u64 == LONGEST_LINE;
            return Err(damaged(if long { "a line of more than 1 MiB" } else { "the line is cut" }));
        }
        if line.starts_with(b"#") || line.starts_with(b"\"") || line.trim_ascii().is_empty() {
            continue;
        }
        match IntervalLogIterator::new(&line).next() {
            Some(Ok(LogEntry::Interval(interval))) => {
                let Some(tag) = interval.tag() else { return Err(damaged("a histogram without a tag")) };
                let histogram = decode(interval.encoded_histogram()).map_err(|e| damaged(&e))?;
                each(tag.as_str(), &histogram);
            }
            _ => return Err(damaged("no interval of a histogram log")),
        }
    }
    Ok(())
}

/// The histogram of a text. Its size is checked before anything is reserved for it.
fn decode(text: &str) -> Result<Histogram<u64>, String> {
    let bytes = BASE64.decode(text).map_err(|e| format!("the histogram is damaged: {e}"))?;
    // The compressed form: a cookie, the length, and the compressed bytes.
    let (head, packed) = bytes.split_at_checked(8).ok_or("the histogram is cut")?;
    if head[..4] != COOKIE || head[4..] != (packed.len() as u32).to_be_bytes() {
        return Err("the histogram is damaged".to_string());
    }
    let mut plain = Vec::new();
    ZlibDecoder::new(packed)
        .take(LONGEST_LINE)
        .read_to_end(&mut plain)
        .map_err(|e| format!("the histogram is damaged: {e}"))?;
    let number = |at: usize| plain.get(at..at + 4).map(|b| u32::from_be_bytes([b[0], b[1], b[2], b[3]]));
    let (length, digits) = (number(4), number(12));
    let whole = length.is_some_and(|length| plain.len() == HEAD + length as usize);
    // With more digits a small text could ask for much memory. Nine bytes of ones are a count that cannot be negated.
    let endless = plain.windows(9).any(|bytes| bytes == [0xff; 9]);
    if !whole || endless || digits.is_none_or(|digits| digits > 3) {
        return Err("the histogram is damaged".to_string());
    }
    Deserializer::new()
        .deserialize(&mut plain.as_slice())
        .map_err(|e| format!("the histogram is damaged: {e}"))
}
