//! Heimdall-style traces: five fields per line, separated by blanks.
//!
//! `time device offset size op`: time in milliseconds with a fraction, offset and size in
//! **bytes**, op 1 = read, 0 = write. The columns are those of DiskSim with other units,
//! so the data decide: in a byte trace, offsets and sizes are multiples of 512 and no
//! size is below 512, on at least 95 % of the first 1,000 lines; and the largest size is a
//! page of 4096 bytes or more. Sizes of 512 to 3584 alone are taken as sectors.

use super::{Format, disksim};
use crate::trace::decode::{Ending, LineParser, Lines, Outcome, Parsed, sample_lines};
use crate::trace::detect::Looks;
use crate::trace::fields::{Words, bad_value, number};
use crate::trace::record::Raw;
use tailcut_units::HostOp;

const LAYOUT: &str = "time (ms), device, offset (bytes), size (bytes), op (1 = read, 0 = write)";

pub(crate) static FORMAT: Format = Format {
    name: "heimdall",
    aliases: &[],
    title: "Heimdall ASCII (DiskSim columns, addresses in bytes)",
    layout: LAYOUT,
    looks: Looks::Line(looks),
    open: |setup| {
        let unit = disksim::unit(setup);
        setup.note = "addresses in bytes: all are multiples of 512, and a size reaches a page; --format disksim reads sectors";
        Box::new(Lines::new(Heimdall { unit }))
    },
};

/// Whether lines that fit both formats are rather of sectors: in bytes, every request would be shorter
/// than a page.
pub(super) fn both_fit_but_rather_sectors(sample: &[u8]) -> bool {
    let fits = sample_lines(sample).filter(|line| looks(line)).count();
    fits * 2 > sample_lines(sample).count() && rather_sectors(sample)
}

/// Whether every request would be shorter than a page if its size were in bytes.
pub(in crate::trace) fn rather_sectors(sample: &[u8]) -> bool {
    let size = |line| Words::new(line, LAYOUT).nth(3).and_then(|size| number("", size).ok());
    sample_lines(sample).filter_map(size).max().is_some_and(|most| most < 4096)
}

fn looks(line: &[u8]) -> bool {
    let fields: Vec<_> = Words::new(line, LAYOUT).take(6).collect();
    disksim::looks(line)
        && matches!(fields[4], b"0" | b"1")
        && number("", fields[2]).is_ok_and(|offset| offset % 512 == 0)
        && number("", fields[3]).is_ok_and(|size| size >= 512 && size % 512 == 0)
}

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
        let op = match fields.text("op")? {
            b"1" => HostOp::Read,
            b"0" => HostOp::Write,
            other => return Err(bad_value("op", other, "1 (read) or 0 (write)")),
        };
        Ok(Parsed::Request(Raw { time, device, offset, bytes, op }))
    }

    /// The last field is one character, so it cannot be incomplete.
    fn ending(&self, _: &[u8]) -> Ending {
        Ending::Whole
    }
}
