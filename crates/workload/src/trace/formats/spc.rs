//! UMass / SPC-1 traces (Storage Performance Council format, e.g. Financial, WebSearch).
//!
//! `ASU,LBA,size,opcode,timestamp[,...]`: LBA in 512 bytes, size in bytes, opcode r or w,
//! timestamp in seconds with a fraction. The device is the application storage unit.

use super::{Format, Looks};
use crate::trace::decode::{Ending, LineParser, Lines, Outcome, Parsed};
use crate::trace::fields::{Csv, bad_value};
use crate::trace::options::TimeUnit;
use crate::trace::record::{Raw, sectors};
use tailcut_units::HostOp;

const LAYOUT: &str = "ASU, LBA (512 B), size (bytes), opcode (r|w), timestamp (s)";

pub(crate) static FORMAT: Format = Format {
    name: "spc",
    aliases: &["umass"],
    title: "UMass / SPC-1 ASCII",
    layout: LAYOUT,
    looks: Looks::Line(|line| {
        let fields: Vec<_> = Csv::new(line, LAYOUT).take(8).collect();
        fields.len() >= 5 && matches!(fields[3], b"r" | b"R" | b"w" | b"W")
    }),
    open: |setup| Box::new(Lines::new(Spc { unit: setup.unit(TimeUnit::S) })),
};

struct Spc {
    unit: u64,
}

impl LineParser for Spc {
    const HEADER: bool = true;

    #[inline]
    fn parse(&mut self, line: &[u8]) -> Outcome {
        let mut fields = Csv::new(line, LAYOUT);
        let device = fields.number32("ASU")?;
        let offset = sectors("LBA", fields.number("LBA")?)?;
        let bytes = fields.number("size")?;
        let op = match fields.text("opcode")? {
            b"r" | b"R" => HostOp::Read,
            b"w" | b"W" => HostOp::Write,
            other => return Err(bad_value("opcode", other, "r or w")),
        };
        let time = fields.time("timestamp", self.unit)?;
        Ok(Parsed::Request(Raw { time, device, offset, bytes, op }))
    }

    fn ending(&self, _: &[u8]) -> Ending {
        Ending::Open("timestamp")
    }
}
