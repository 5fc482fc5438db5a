//! DiskSim ASCII traces: five fields per line, separated by blanks.
//!
//! `time device lba sectors flags`: time in milliseconds with a fraction, lba and sectors
//! in 512 bytes, bit 0 of the flags (decimal or 0x hex) = read. Times with more than six
//! decimals in every line are taken as seconds, since a millisecond has a million
//! nanoseconds.

use super::{Format, Looks, ascii};
use crate::trace::decode::{Ending, LineParser, Lines, Outcome, Parsed};
use crate::trace::fields::{Words, number32};
use crate::trace::record::{Raw, sectors};
use tailcut_units::HostOp;

const LAYOUT: &str = "time (ms), device, lba (512 B), sectors, flags (bit 0 = read)";

pub(crate) static FORMAT: Format = Format {
    name: "disksim",
    aliases: &[],
    title: "DiskSim ASCII",
    layout: LAYOUT,
    looks: Looks::Line(ascii::looks_like_disksim),
    open: |setup| {
        let unit = ascii::unit(setup);
        if ascii::both_fit_but_rather_sectors(setup.sample) {
            setup.note = "addresses in sectors: in bytes every request would be shorter than a page; --format heimdall \
                          reads bytes";
        }
        Box::new(Lines::new(DiskSim { unit }))
    },
};

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
