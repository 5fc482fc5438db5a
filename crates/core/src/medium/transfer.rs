//! The bytes of a command under way, and those of a slot of the write buffer.

use super::Range;
use super::ranges::Ranges;
use crate::address::{Lpn, Ppa};

/// Bytes that a read waits for.
#[derive(Clone, Debug)]
pub struct Piece {
    /// The address of their unit.
    pub ppa: Ppa,
    /// The logical unit.
    pub lpn: Lpn,
    /// Which bytes of the unit.
    pub range: Range<u32>,
    /// Their offset in the request's data.
    pub at: u32,
}

/// The data of a command.
#[derive(Clone, Debug, Default)]
pub struct Transfer {
    /// The bytes that the host writes, or that it reads.
    pub bytes: Vec<u8>,
    /// The bytes that a read still waits for.
    pub waits: Vec<Piece>,
    /// Bytes of a write that are in no slot yet.
    pub left: u32,
}

impl Transfer {
    /// Begin a command of `bytes` bytes. They are `data`, followed by zeros.
    pub fn begin(&mut self, bytes: u32, data: &[u8]) {
        self.waits.clear();
        self.left = 0;
        self.bytes.clear();
        self.bytes.extend_from_slice(&data[..data.len().min(bytes as usize)]);
        self.bytes.resize(bytes as usize, 0);
    }

    /// A part of the data.
    pub fn part(&self, at: u32, len: u32) -> &[u8] {
        &self.bytes[at as usize..(at + len) as usize]
    }

    /// A part of the data, to be written.
    pub fn part_mut(&mut self, at: u32, len: u32) -> &mut [u8] {
        &mut self.bytes[at as usize..(at + len) as usize]
    }
}

/// The bytes of a slot.
#[derive(Clone, Debug)]
pub struct Slot {
    /// The logical unit.
    pub lpn: Lpn,
    /// The sequence number of the newest bytes.
    pub sequence: u64,
    /// All bytes of the unit; those that are not held mean nothing.
    pub bytes: Vec<u8>,
    /// Which bytes are held.
    pub held: Ranges,
    /// The address at which the others are being read, or `NONE`.
    pub wants: Ppa,
    /// Whether a command wrote to the slot; otherwise it moves data that are on flash.
    pub written: bool,
}

impl Slot {
    /// A slot that is not in use.
    pub fn blank() -> Slot {
        Slot {
            lpn: Lpn::NONE,
            sequence: 0,
            bytes: Vec::new(),
            held: Ranges::default(),
            wants: Ppa::NONE,
            written: false,
        }
    }

    /// Take the slot for a unit of which no bytes are held.
    pub fn take(&mut self, lpn: Lpn, unit_bytes: u32) {
        self.lpn = lpn;
        self.bytes.resize(unit_bytes as usize, 0);
        self.held.clear();
        self.wants = Ppa::NONE;
        self.written = false;
    }

    /// Write the slot's record, from which [`Slot::from_record`] makes it again.
    pub fn record(&self, out: &mut Vec<u8>) {
        out.clear();
        out.extend(self.lpn.0.to_le_bytes());
        out.extend(self.wants.0.to_le_bytes());
        out.extend(self.sequence.to_le_bytes());
        out.extend(u32::from(self.written).to_le_bytes());
        out.extend((self.held.iter().count() as u32).to_le_bytes());
        out.extend(&self.bytes);
        for range in self.held.iter() {
            out.extend(range.start.to_le_bytes());
            out.extend(range.end.to_le_bytes());
        }
    }

    /// The slot of a record; `None` if no slot of units of this size has such a record.
    pub fn from_record(record: &[u8], unit_bytes: u32) -> Option<Slot> {
        let (head, rest) = record.split_at_checked(24)?;
        let word = |at: usize| u32::from_le_bytes([head[at], head[at + 1], head[at + 2], head[at + 3]]);
        let ranges = word(20) as usize;
        // A slot that was never taken has no bytes.
        let bytes = rest.len().checked_sub(ranges.checked_mul(8)?)?;
        let (bytes, rest) = rest.split_at(bytes);
        let mut held = Ranges::default();
        for range in rest.chunks_exact(8) {
            let at = |i: usize| u32::from_le_bytes([range[i], range[i + 1], range[i + 2], range[i + 3]]);
            if at(0) >= at(4) || at(4) > unit_bytes {
                return None;
            }
            held.add(at(0)..at(4));
        }
        (bytes.is_empty() || bytes.len() == unit_bytes as usize).then(|| Slot {
            lpn: Lpn(word(0)),
            wants: Ppa(word(4)),
            sequence: u64::from(word(8)) | u64::from(word(12)) << 32,
            written: word(16) != 0,
            bytes: bytes.to_vec(),
            held,
        })
    }

    /// Whether it holds its whole unit.
    pub fn is_whole(&self) -> bool {
        self.held.is_all(self.bytes.len() as u32)
    }
}
