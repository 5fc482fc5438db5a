//! What the ASCII traces of DiskSim, Heimdall and SSDSim share: five fields per line, separated by blanks.
//!
//! DiskSim and Heimdall have the same columns in other units, so a line can fit both. What tells them apart
//! is here.

use crate::trace::decode::{Setup, sample_lines};
use crate::trace::error::Reason;
use crate::trace::fields::{Words, bad_value, number};
use crate::trace::options::TimeUnit;
use tailcut_units::HostOp;

const COLUMNS: &str = "time, device, address, size, and flags or op";

/// The unit of times with a fraction: the user's, or by the number of decimals.
pub(super) fn unit(setup: &mut Setup<'_>) -> u64 {
    if setup.given.is_some() || !has_seconds(setup.sample) {
        return setup.unit(TimeUnit::Ms);
    }
    setup.unit(TimeUnit::S);
    setup.unit_from = "detected";
    TimeUnit::S.nanos()
}

/// Whether the times of all lines have more decimals than milliseconds have nanoseconds.
pub(super) fn has_seconds(sample: &[u8]) -> bool {
    let decimals = |line| {
        let time = Words::new(line, COLUMNS).next()?;
        Some(time.len() - 1 - time.iter().position(|b| *b == b'.')?)
    };
    let mut all = sample_lines(sample).map(decimals).peekable();
    all.peek().is_some() && all.all(|decimals| decimals.is_some_and(|n| n > 6))
}

/// Whether the line has five fields that look like numbers, the first with a decimal
/// point.
pub(super) fn looks_like_disksim(line: &[u8]) -> bool {
    let fields: Vec<_> = Words::new(line, COLUMNS).take(6).collect();
    fields.len() == 5
        && fields[0].contains(&b'.')
        && fields[0].iter().all(|b| b.is_ascii_digit() || matches!(b, b'.' | b'-' | b'e' | b'E'))
        && fields[1..4].iter().filter(|f| f.iter().all(|b| b.is_ascii_digit() || *b == b'-')).count() >= 2
}

/// Whether lines that fit both formats are rather of sectors: in bytes, every request would be shorter
/// than a page.
pub(super) fn both_fit_but_rather_sectors(sample: &[u8]) -> bool {
    let fits = sample_lines(sample).filter(|line| looks_like_heimdall(line)).count();
    fits * 2 > sample_lines(sample).count() && rather_sectors(sample)
}

/// Whether every request would be shorter than a page if its size were in bytes.
pub(in crate::trace) fn rather_sectors(sample: &[u8]) -> bool {
    let size = |line| Words::new(line, COLUMNS).nth(3).and_then(|size| number("", size).ok());
    sample_lines(sample).filter_map(size).max().is_some_and(|most| most < 4096)
}

/// Whether the line fits DiskSim, its last field is 0 or 1, and its offset and size are whole sectors in bytes.
pub(super) fn looks_like_heimdall(line: &[u8]) -> bool {
    let fields: Vec<_> = Words::new(line, COLUMNS).take(6).collect();
    looks_like_disksim(line)
        && matches!(fields[4], b"0" | b"1")
        && number("", fields[2]).is_ok_and(|offset| offset % 512 == 0)
        && number("", fields[3]).is_ok_and(|size| size >= 512 && size % 512 == 0)
}

/// The operation that the field `op` of Heimdall and SSDSim names.
#[inline]
pub(super) fn op(fields: &mut Words) -> Result<HostOp, Box<Reason>> {
    match fields.text("op")? {
        b"1" => Ok(HostOp::Read),
        b"0" => Ok(HostOp::Write),
        other => Err(bad_value("op", other, "1 (read) or 0 (write)")),
    }
}
