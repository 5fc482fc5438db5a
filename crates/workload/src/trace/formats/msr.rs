//! MSR Cambridge block traces (SNIA IOTTA 388): one CSV line per request.
//!
//! `time,host,disk,Read|Write,offset,size,response`: time and response in Windows file
//! time ticks (100 ns), offset and size in bytes. The device is the disk number; with
//! several hosts in one file, 65,536 × (order of the host's first appearance) is added.

use super::{Format, Looks};
use crate::trace::decode::{Ending, LineParser, Lines, Outcome, Parsed};
use crate::trace::error::Reason;
use crate::trace::fields::{Csv, bad_value};
use crate::trace::names::Names;
use crate::trace::options::TimeUnit;
use crate::trace::record::{Raw, too_large};
use tailcut_units::HostOp;

const LAYOUT: &str = "time (100 ns), host, disk, Read|Write, offset (bytes), size (bytes), response (100 ns)";

pub(crate) static FORMAT: Format = Format {
    name: "msr",
    aliases: &["msr-csv"],
    title: "MSR Cambridge CSV (SNIA)",
    layout: LAYOUT,
    looks: Looks::Line(|line| {
        let fields: Vec<_> = Csv::new(line, LAYOUT).take(8).collect();
        fields.len() == 7 && op(fields[3]).is_ok()
    }),
    open: |setup| {
        let hosts = Names::new("host", 4096, "one of at most 4096 different hosts");
        Box::new(Lines::new(Msr { unit: setup.unit(TimeUnit::Tick), hosts }))
    },
};

struct Msr {
    unit: u64,
    hosts: Names,
}

fn op(field: &[u8]) -> Result<HostOp, Box<Reason>> {
    match field {
        b"Read" | b"read" | b"READ" => Ok(HostOp::Read),
        b"Write" | b"write" | b"WRITE" => Ok(HostOp::Write),
        _ => Err(bad_value("operation", field, "Read or Write")),
    }
}

impl LineParser for Msr {
    const HEADER: bool = true;

    #[inline]
    fn parse(&mut self, line: &[u8]) -> Outcome {
        let mut fields = Csv::new(line, LAYOUT);
        let time = fields.time("time", self.unit)?;
        let host = self.hosts.number(fields.text("host")?)?;
        let disk = fields.number("disk")?;
        if disk > 0xffff {
            return Err(too_large("disk", disk, 0xffff));
        }
        let op = op(fields.text("operation")?)?;
        let offset = fields.number("offset")?;
        let bytes = fields.number("size")?;
        // The response time is not used, but if it is missing the line is cut.
        fields.text("response")?;
        let device = host << 16 | disk as u32;
        Ok(Parsed::Request(Raw { time, device, offset, bytes, op }))
    }

    fn ending(&self, line: &[u8]) -> Ending {
        match line.last() {
            Some(b',') => Ending::Cut(Reason::Missing { name: "response", layout: LAYOUT }),
            _ => Ending::Open("response"),
        }
    }
}
