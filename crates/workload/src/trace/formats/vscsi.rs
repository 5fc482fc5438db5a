//! VMware vSCSI traces, binary, little-endian, versions 1 and 2.
//!
//! Version 1, 32 bytes: u32 serial, u32 bytes, u32 scatter-gather entries, u16 command,
//! u16 version (high byte 1), u64 lba (512 B), u64 time (µs). Version 2, 40 bytes: u16
//! command, u16 version (high byte 2), u32 serial, u32 bytes, u32 entries, u64 lba, u64
//! time (µs), u64 response (µs). Commands are SCSI operation codes: the READ and WRITE of
//! 6 to 16 bytes, SYNCHRONIZE CACHE (a flush); others are counted and skipped.

use super::{Format, Looks};
use crate::trace::decode::{Outcome, Parsed, RecordParser, Records, le_u16, le_u32, le_u64};
use crate::trace::fields::bad_value;
use crate::trace::options::TimeUnit;
use crate::trace::record::{Raw, sectors, too_large};
use tailcut_units::HostOp;

pub(crate) static FORMAT: Format = Format {
    name: "vscsi",
    aliases: &["cloudphysics"],
    title: "VMware vSCSI binary",
    layout: "32 B records: u32 serial, u32 bytes, u32 n_sg, u16 command, u16 version, u64 lba (512 B), u64 time (us)",
    looks: Looks::Bytes(|sample| looks::<1>(sample) || looks::<2>(sample)),
    open: |setup| {
        let unit = setup.unit(TimeUnit::Us);
        if looks::<2>(setup.sample) {
            setup.note = "version 2";
            Box::new(Records(Vscsi::<2> { unit }))
        } else {
            setup.note = "version 1";
            Box::new(Records(Vscsi::<1> { unit }))
        }
    },
};

struct Vscsi<const VERSION: u8> {
    unit: u64,
}

/// The host operation of a SCSI operation code.
fn op(command: u16) -> Option<HostOp> {
    match command {
        0x08 | 0x28 | 0xa8 | 0x88 => Some(HostOp::Read),
        0x0a | 0x2a | 0xaa | 0x8a => Some(HostOp::Write),
        0x35 | 0x91 => Some(HostOp::Flush),
        _ => None,
    }
}

/// (offset of the command, of the byte count, of the lba), in bytes.
const fn places(version: u8) -> (usize, usize, usize) {
    if version == 1 { (12, 4, 16) } else { (0, 8, 16) }
}

/// Whether up to 64 records carry the version and at least half of them are requests.
fn looks<const VERSION: u8>(sample: &[u8]) -> bool {
    let (command, ..) = places(VERSION);
    let size = if VERSION == 1 { 32 } else { 40 };
    let records = sample.chunks_exact(size).take(64);
    let count = records.len();
    let version = |r: &[u8]| (le_u16(r, command + 2) >> 8) as u8 == VERSION && le_u16(r, command) < 256;
    let known = records.clone().filter(|r| op(le_u16(r, command)).is_some()).count();
    // One foreign record is accepted, so that it is reported as a bad record and not as
    // an unknown file.
    let versions = records.clone().filter(|r| version(r)).count();
    count > 0 && known * 2 >= count && versions + usize::from(count > 8) >= count
}

impl<const VERSION: u8> RecordParser for Vscsi<VERSION> {
    const HEAD: usize = if VERSION == 1 { 32 } else { 40 };

    #[inline]
    fn parse(&mut self, record: &[u8]) -> Outcome {
        let (command, bytes, lba) = places(VERSION);
        let version = le_u16(record, command + 2);
        if version >> 8 != u16::from(VERSION) {
            let text = version.to_string();
            return Err(bad_value(
                "version",
                text.as_bytes(),
                "256 to 511 (version 1) or 512 to 767 (version 2)",
            ));
        }
        let Some(op) = op(le_u16(record, command)) else {
            return Ok(Parsed::Other);
        };
        let time = le_u64(record, lba + 8);
        let time =
            time.checked_mul(self.unit).ok_or_else(|| too_large("time", time, u64::MAX / self.unit))?;
        let offset = sectors("lba", le_u64(record, lba))?;
        let bytes = u64::from(le_u32(record, bytes));
        Ok(Parsed::Request(Raw { time, device: 0, offset, bytes, op }))
    }
}
