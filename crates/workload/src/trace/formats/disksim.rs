//! DiskSim ASCII traces: five fields per line, separated by blanks.
//!
//! `time device lba sectors flags`: time in milliseconds with a fraction, lba and sectors
//! in 512 bytes, bit 0 of the flags (decimal or 0x hex) = read. Times with more than six
//! decimals in every line are taken as seconds, since a millisecond has a million
//! nanoseconds.

use super::{Format, heimdall};
use crate::trace::decode::{Ending, LineParser, Lines, Outcome, Parsed, Setup, sample_lines};
use crate::trace::detect::Looks;
use crate::trace::fields::{Words, number32};
use crate::trace::options::TimeUnit;
use crate::trace::record::{Raw, sectors};
use tailcut_units::HostOp;

const LAYOUT: &str = "time (ms), device, lba (512 B), sectors, flags (bit 0 = read)";

pub(crate) static FORMAT: Format = Format {
    name: "disksim",
    aliases: &[],
    title: "DiskSim ASCII",
    layout: LAYOUT,
    looks: Looks::Line(looks),
    open: |setup| {
        let unit = unit(setup);
        if heimdall::both_fit_but_rather_sectors(setup.sample) {
            setup.note = "addresses in sectors: in bytes every request would be shorter than a page; --format heimdall \
                          reads bytes";
        }
        Box::new(Lines::new(DiskSim { unit }))
    },
};

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
        let time = Words::new(line, LAYOUT).next()?;
        Some(time.len() - 1 - time.iter().position(|b| *b == b'.')?)
    };
    let mut all = sample_lines(sample).map(decimals).peekable();
    all.peek().is_some() && all.all(|decimals| decimals.is_some_and(|n| n > 6))
}

/// Whether the line has five fields that look like numbers, the first with a decimal
/// point.
pub(super) fn looks(line: &[u8]) -> bool {
    let fields: Vec<_> = Words::new(line, LAYOUT).take(6).collect();
    fields.len() == 5
        && fields[0].contains(&b'.')
        && fields[0].iter().all(|b| b.is_ascii_digit() || matches!(b, b'.' | b'-' | b'e' | b'E'))
        && fields[1..4].iter().filter(|f| f.iter().all(|b| b.is_ascii_digit() || *b == b'-')).count() >= 2
}

struct DiskSim {
    unit: u64,
}

impl LineParser for DiskSim {
    #[inline]
    fn parse(&mut self, line: &[u8]) -> Outcome {
        let mut fields = Words::new(line, LAYOUT);
        let time = fields.time("time", self.unit)?;
        let device = fields.number32("device")?;
        let offset = sectors("lba", fields.number("lba")?)?;
        let bytes = sectors("sectors", fields.number("sectors")?)?;
        let flags = fields.text("flags")?;
        let flags = match flags.strip_prefix(b"0x").and_then(|h| std::str::from_utf8(h).ok()) {
            Some(hex) => u32::from_str_radix(hex, 16).or_else(|_| number32("flags", flags))?,
            None => number32("flags", flags)?,
        };
        let op = if flags & 1 == 1 { HostOp::Read } else { HostOp::Write };
        Ok(Parsed::Request(Raw { time, device, offset, bytes, op }))
    }

    fn ending(&self, _: &[u8]) -> Ending {
        Ending::Open("flags")
    }
}
