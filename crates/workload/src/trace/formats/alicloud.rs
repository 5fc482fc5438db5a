//! Alibaba Cloud block traces (2020).
//!
//! `device_id,opcode,offset,length,timestamp`: opcode R or W, offset and length in bytes,
//! timestamp in microseconds.

use super::{Format, Looks};
use crate::trace::decode::{Ending, LineParser, Lines, Outcome, Parsed};
use crate::trace::fields::{Csv, bad_value};
use crate::trace::options::TimeUnit;
use crate::trace::record::Raw;
use tailcut_units::HostOp;

const LAYOUT: &str = "device_id, opcode (R|W), offset (bytes), length (bytes), timestamp (us)";

pub(crate) static FORMAT: Format = Format {
    name: "alicloud",
    aliases: &["alibaba"],
    title: "Alibaba Cloud block CSV",
    layout: LAYOUT,
    looks: Looks::Line(|line| {
        let fields: Vec<_> = Csv::new(line, LAYOUT).take(6).collect();
        fields.len() == 5 && matches!(fields[1], b"R" | b"W" | b"r" | b"w")
    }),
    open: |setup| Box::new(Lines::new(AliCloud { unit: setup.unit(TimeUnit::Us) })),
};

struct AliCloud {
    unit: u64,
}

impl LineParser for AliCloud {
    const HEADER: bool = true;

    #[inline]
    fn parse(&mut self, line: &[u8]) -> Outcome {
        let mut fields = Csv::new(line, LAYOUT);
        let device = fields.number32("device_id")?;
        let op = match fields.text("opcode")? {
            b"R" | b"r" => HostOp::Read,
            b"W" | b"w" => HostOp::Write,
            other => return Err(bad_value("opcode", other, "R or W")),
        };
        let offset = fields.number("offset")?;
        let bytes = fields.number("length")?;
        let time = fields.time("timestamp", self.unit)?;
        Ok(Parsed::Request(Raw { time, device, offset, bytes, op }))
    }

    fn ending(&self, _: &[u8]) -> Ending {
        Ending::Open("timestamp")
    }
}
