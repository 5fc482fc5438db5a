//! Systor '17 enterprise VDI traces (SNIA IOTTA 4964).
//!
//! A header line, then `timestamp,response,IOType,LUN,offset,size`: timestamp and response
//! in seconds with a fraction (the response may be empty), IOType R or W, offset and size
//! in bytes. Records are written at completion, so times are not in order.

use super::{Format, Looks};
use crate::trace::decode::{Ending, LineParser, Lines, Outcome, Parsed};
use crate::trace::fields::{Csv, bad_value};
use crate::trace::options::TimeUnit;
use crate::trace::record::Raw;
use tailcut_units::HostOp;

const LAYOUT: &str = "timestamp (s), response (s), IOType (R|W), LUN, offset (bytes), size (bytes)";

pub(crate) static FORMAT: Format = Format {
    name: "systor",
    aliases: &["systor17"],
    title: "Systor '17 VDI CSV (SNIA)",
    layout: LAYOUT,
    looks: Looks::Line(|line| {
        let fields: Vec<_> = Csv::new(line, LAYOUT).take(7).collect();
        fields.len() == 6 && matches!(fields[2], b"R" | b"W" | b"r" | b"w")
    }),
    open: |setup| Box::new(Lines::new(Systor { unit: setup.unit(TimeUnit::S) })),
};

struct Systor {
    unit: u64,
}

impl LineParser for Systor {
    const HEADER: bool = true;

    #[inline]
    fn parse(&mut self, line: &[u8]) -> Outcome {
        let mut fields = Csv::new(line, LAYOUT);
        let time = fields.time("timestamp", self.unit)?;
        fields.text("response")?;
        let op = match fields.text("IOType")? {
            b"R" | b"r" => HostOp::Read,
            b"W" | b"w" => HostOp::Write,
            other => return Err(bad_value("IOType", other, "R or W")),
        };
        let device = fields.number32("LUN")?;
        let offset = fields.number("offset")?;
        let bytes = fields.number("size")?;
        Ok(Parsed::Request(Raw { time, device, offset, bytes, op }))
    }

    fn ending(&self, _: &[u8]) -> Ending {
        Ending::Open("size")
    }
}
