//! Tencent Cloud Block Storage traces (SNIA IOTTA 27917).
//!
//! `timestamp,offset,size,ioType,volumeID`: timestamp in whole seconds, offset and size in
//! 512-byte sectors, ioType 0 = read, 1 = write. All requests of a second have the same
//! time.

use super::{Format, Looks};
use crate::trace::decode::{Ending, LineParser, Lines, Outcome, Parsed};
use crate::trace::fields::{Csv, bad_value};
use crate::trace::options::TimeUnit;
use crate::trace::record::{Raw, sectors};
use tailcut_units::HostOp;

const LAYOUT: &str = "timestamp (s), offset (512 B), size (512 B), ioType (0 = read, 1 = write), volumeID";

pub(crate) static FORMAT: Format = Format {
    name: "tencent",
    aliases: &["cbs", "tencent-cbs"],
    title: "Tencent CBS CSV",
    layout: LAYOUT,
    looks: Looks::Line(|line| {
        let fields: Vec<_> = Csv::new(line, LAYOUT).take(6).collect();
        let whole = |f: &&[u8]| !f.is_empty() && f.iter().all(|b| b.is_ascii_digit() || *b == b'-');
        fields.len() == 5 && fields.iter().filter(|f| whole(f)).count() >= 4 && fields[3].len() == 1
    }),
    open: |setup| Box::new(Lines::new(Tencent { unit: setup.unit(TimeUnit::S) })),
};

struct Tencent {
    unit: u64,
}

impl LineParser for Tencent {
    const HEADER: bool = true;

    #[inline]
    fn parse(&mut self, line: &[u8]) -> Outcome {
        let mut fields = Csv::new(line, LAYOUT);
        let time = fields.time("timestamp", self.unit)?;
        let offset = sectors("offset", fields.number("offset")?)?;
        let bytes = sectors("size", fields.number("size")?)?;
        let op = match fields.text("ioType")? {
            b"0" => HostOp::Read,
            b"1" => HostOp::Write,
            other => return Err(bad_value("ioType", other, "0 (read) or 1 (write)")),
        };
        let device = fields.number32("volumeID")?;
        Ok(Parsed::Request(Raw { time, device, offset, bytes, op }))
    }

    fn ending(&self, _: &[u8]) -> Ending {
        Ending::Open("volumeID")
    }
}
