//! FIU block traces (SNIA IOTTA 390), captured below the page cache.
//!
//! `time pid process lba sectors R|W major minor md5`: time in nanoseconds, lba and
//! sectors in 512 bytes; the hash of the content is not used. A process name may hold
//! blanks, so the operation is searched from the sixth field on. The device is major ×
//! 2^20 + minor, as in Linux.

use super::{Format, Looks};
use crate::trace::decode::{Ending, LineParser, Lines, Outcome, Parsed};
use crate::trace::error::Reason;
use crate::trace::fields::{Words, bad_value, number, time};
use crate::trace::options::TimeUnit;
use crate::trace::record::{Raw, sectors};
use tailcut_units::HostOp;

const LAYOUT: &str = "time (ns), pid, process, lba (512 B), sectors, R|W, major, minor, md5";
/// The most words of a line that are examined; process names have at most 16 bytes.
const WORDS: usize = 20;
/// Hexadecimal digits of an MD5 hash.
const MD5_DIGITS: usize = 32;
type Split<'a> = [&'a [u8]; WORDS];

pub(crate) static FORMAT: Format = Format {
    name: "fiu",
    aliases: &["fiu-iodedup"],
    title: "FIU IODedup (SNIA)",
    layout: LAYOUT,
    looks: Looks::Line(|line| split(line).is_ok_and(|(words, _)| number("", words[0]).is_ok())),
    open: |setup| Box::new(Lines::new(Fiu { unit: setup.unit(TimeUnit::Ns) })),
};

struct Fiu {
    unit: u64,
}

/// Split a line into its words; also returns the index of the operation.
fn split(line: &[u8]) -> Result<(Split<'_>, usize), Box<Reason>> {
    let mut words = [&[][..]; WORDS];
    let mut count = 0;
    for word in Words::new(line, LAYOUT).take(WORDS) {
        words[count] = word;
        count += 1;
    }
    if count < 8 {
        let name = ["time", "pid", "process", "lba", "sectors", "operation", "major", "minor"][count];
        return Err(Box::new(Reason::Missing { name, layout: LAYOUT }));
    }
    let is_op = |w: &[u8]| matches!(w, b"R" | b"W" | b"r" | b"w");
    match (5..count - 2).find(|&i| is_op(words[i])) {
        Some(op) => Ok((words, op)),
        None => Err(bad_value("operation", words[5], "R or W")),
    }
}

impl LineParser for Fiu {
    #[inline]
    fn parse(&mut self, line: &[u8]) -> Outcome {
        let (words, at) = split(line)?;
        let time = time("time", words[0], self.unit)?;
        let offset = sectors("lba", number("lba", words[at - 2])?)?;
        let bytes = sectors("sectors", number("sectors", words[at - 1])?)?;
        let op = if matches!(words[at], b"R" | b"r") { HostOp::Read } else { HostOp::Write };
        let device = linux_device(number("major", words[at + 1])?, number("minor", words[at + 2])?)?;
        Ok(Parsed::Request(Raw { time, device, offset, bytes, op }))
    }

    fn ending(&self, line: &[u8]) -> Ending {
        let Ok((words, at)) = split(line) else { return Ending::Whole };
        match words.get(at + 3).map_or(0, |md5| md5.len()) {
            0 => Ending::Open("minor"),
            MD5_DIGITS => Ending::Whole,
            have => Ending::Cut(Reason::CutField { name: "md5", have, need: MD5_DIGITS }),
        }
    }
}

/// The Linux device number: 12 bits of major, 20 bits of minor.
pub(super) fn linux_device(major: u64, minor: u64) -> Result<u32, Box<Reason>> {
    if major >= 1 << 12 {
        return Err(crate::trace::record::too_large("major", major, (1 << 12) - 1));
    }
    if minor >= 1 << 20 {
        return Err(crate::trace::record::too_large("minor", minor, (1 << 20) - 1));
    }
    Ok((major << 20 | minor) as u32)
}
