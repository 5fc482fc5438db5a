//! Heimdall-style traces: five fields per line, separated by blanks.
//!
//! `time device offset size op`: time in milliseconds with a fraction, offset and size in
//! **bytes**, op 1 = read, 0 = write. The columns are those of DiskSim with other units,
//! so the data decide: in a byte trace, offsets and sizes are multiples of 512 and no
//! size is below 512, on at least 95 % of the first 1,000 lines; and the largest size is a
//! page of 4096 bytes or more. Sizes of 512 to 3584 alone are taken as sectors.

use super::{Format, Looks, ascii};
use crate::trace::decode::{Ending, LineParser, Lines, Outcome, Parsed};
use crate::trace::fields::Words;
use crate::trace::record::Raw;

const LAYOUT: &str = "time (ms), device, offset (bytes), size (bytes), op (1 = read, 0 = write)";

pub(crate) static FORMAT: Format = Format {
    name: "heimdall",
    aliases: &[],
    title: "Heimdall ASCII (DiskSim columns, addresses in bytes)",
    layout: LAYOUT,
    looks: Looks::Line(ascii::looks_like_heimdall),
    open: |setup| {
        let unit = ascii::unit(setup);
        setup.note = "addresses in bytes: all are multiples of 512, and a size reaches a page; --format disksim reads sectors";
        Box::new(Lines::new(Heimdall { unit }))
    },
};

struct Heimdall {
    unit: u64,
}

impl LineParser for Heimdall {
    #[inline]
    fn parse(&mut self, line: &[u8]) -> Outcome {
        let mut fields = Words::new(line, LAYOUT);
        let time = fields.time("time", self.unit)?;
        let device = fields.number32("device")?;
        let offset = fields.number("offset")?;
        let bytes = fields.number("size")?;
        let op = ascii::op(&mut fields)?;
        Ok(Parsed::Request(Raw { time, device, offset, bytes, op }))
    }

    /// The last field is one character, so it cannot be incomplete.
    fn ending(&self, _: &[u8]) -> Ending {
        Ending::Whole
    }
}
