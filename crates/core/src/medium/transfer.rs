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
}

impl Transfer {
    /// Begin a command of `bytes` bytes. They are `data`, followed by zeros.
    pub fn begin(&mut self, bytes: u32, data: &[u8]) {
        self.waits.clear();
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

    /// Whether it holds its whole unit.
    pub fn is_whole(&self) -> bool {
        self.held.is_all(self.bytes.len() as u32)
    }
}
