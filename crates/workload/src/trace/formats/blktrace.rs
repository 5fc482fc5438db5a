//! blktrace's binary format, as `blktrace` writes it for each processor and `blkparse -d` for all.
//!
//! Records of 48 bytes and a payload, little-endian: u32 magic number and version, u32 sequence, u64
//! time (ns), u64 sector, u32 bytes, u32 action, u32 process, u32 device, u32 processor, u16 error, u16
//! bytes of payload. The lower half of the action is the event, the upper half the kind of request. As
//! for the text of blkparse, D events (issued to the driver) are replayed, or Q events (queued) if
//! there is no D event in the first 256 KiB.

use super::{Format, Looks, blkparse::special};
use crate::trace::decode::{Outcome, Parsed, RecordParser, Records, le_u16, le_u32, le_u64};
use crate::trace::error::Reason;
use crate::trace::options::TimeUnit;
use crate::trace::record::{Raw, sectors};
use tailcut_units::HostOp;

pub(crate) static FORMAT: Format = Format {
    name: "blktrace",
    aliases: &["blktrace-binary"],
    title: "blktrace binary (Linux)",
    layout: "48 B records with a payload: magic number, sequence, time (ns), sector, bytes, action, pid, device, cpu, \
             error, payload bytes",
    looks: Looks::Bytes(is_record),
    open: |setup| {
        let unit = setup.unit(TimeUnit::Ns);
        let (queued, issued) = seen(setup.sample);
        let wanted = if queued && !issued { QUEUE } else { ISSUE };
        setup.note = if wanted == QUEUE {
            "Q events (no D events found); `blkparse -d FILE` puts the files of all processors together"
        } else {
            "D events; `blkparse -d FILE` puts the files of all processors together"
        };
        Box::new(Records(Blktrace { unit, wanted, completed: 0, wanted_seen: 0, preflushes: 0, forced: 0 }))
    },
};

const HEAD: usize = 48;
/// The first three bytes of the magic number; the lowest byte is the version.
const MAGIC: u32 = 0x6561_7400;
const VERSION: u32 = 7;

const QUEUE: u32 = 1;
const ISSUE: u32 = 7;
const COMPLETE: u32 = 8;

const WRITE: u32 = 1 << 17;
const FLUSH: u32 = 1 << 18;
const PASSED_THROUGH: u32 = 1 << 25;
const NOTIFY: u32 = 1 << 26;
const DISCARD: u32 = 1 << 29;
const FUA: u32 = 1 << 31;

struct Blktrace {
    unit: u64,
    wanted: u32,
    completed: u64,
    wanted_seen: u64,
    preflushes: u64,
    forced: u64,
}

fn is_record(bytes: &[u8]) -> bool {
    bytes.len() >= HEAD && le_u32(bytes, 0) == MAGIC | VERSION
}

/// Bytes of a record with its payload.
fn length(head: &[u8]) -> usize {
    HEAD + usize::from(le_u16(head, 46))
}

/// Whether queued and issued requests are in a sample.
fn seen(sample: &[u8]) -> (bool, bool) {
    let (mut queued, mut issued, mut rest) = (false, false, sample);
    while is_record(rest) {
        let action = le_u32(rest, 28);
        if action & NOTIFY == 0 {
            queued |= action & 0xffff == QUEUE;
            issued |= action & 0xffff == ISSUE;
        }
        rest = rest.get(length(rest)..).unwrap_or(&[]);
    }
    (queued, issued)
}

impl RecordParser for Blktrace {
    const HEAD: usize = HEAD;
    const LONGEST: usize = HEAD + u16::MAX as usize;

    fn length(&self, head: &[u8]) -> usize {
        length(head)
    }

    fn parse(&mut self, head: &[u8]) -> Outcome {
        let magic = le_u32(head, 0);
        if magic != MAGIC | VERSION {
            let what = format!("the record begins with {magic:#010x}, not with {:#010x}", MAGIC | VERSION);
            return Err(Box::new(Reason::BadRecord { what }));
        }
        let action = le_u32(head, 28);
        let event = action & 0xffff;
        self.completed += u64::from(action & NOTIFY == 0 && event == COMPLETE);
        if action & (NOTIFY | PASSED_THROUGH) != 0 || event != self.wanted {
            return Ok(Parsed::Other);
        }
        self.wanted_seen += 1;
        let bytes = u64::from(le_u32(head, 24));
        let op = match action {
            _ if bytes == 0 && action & FLUSH == 0 => return Ok(Parsed::Other),
            _ if bytes == 0 => HostOp::Flush,
            _ if action & DISCARD != 0 => HostOp::Trim,
            _ if action & WRITE != 0 => HostOp::Write,
            _ => HostOp::Read,
        };
        let preflush = bytes > 0 && action & FLUSH != 0;
        self.preflushes += u64::from(preflush);
        let fua = bytes > 0 && action & FUA != 0;
        self.forced += u64::from(fua);
        let time = le_u64(head, 8);
        let time = time
            .checked_mul(self.unit)
            .ok_or_else(|| crate::trace::record::too_large("time", time, u64::MAX / self.unit))?;
        let offset = sectors("sector", le_u64(head, 16))?;
        let raw = Raw { time, device: le_u32(head, 36), offset, bytes, op };
        Ok(Parsed::Special { raw, preflush, fua })
    }

    fn warnings(&self) -> Vec<String> {
        let only = (self.completed > 0 && self.wanted_seen == 0).then(|| {
            format!(
                "it has {} completions (C) only; the requests are in D (issued) or Q (queued) events",
                self.completed
            )
        });
        let special = special(self.preflushes, self.forced);
        only.into_iter().chain(special.into_iter().flatten()).collect()
    }
}
