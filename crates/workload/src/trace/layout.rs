//! Maps the addresses of a trace to the drive.
//!
//! The devices known when the layout is fixed get equal slices, one after another, in
//! order of first appearance. Inside a slice an address is folded by its 4 KiB page, as
//! `page mod pages of the slice`; the offset inside the page stays. Each lap adds `lap ×
//! shift` pages before folding. The shift of a slice is the span of pages that its
//! requests covered in the first lap. If that span is the whole slice or more, the shift
//! is 0.618 of the slice, so that laps do not use the same addresses. A request that would
//! cross the slice's end moves down until it ends there. A request larger than the slice
//! is issued in pieces; a trim is instead shortened to the slice, since its rest would
//! trim the same addresses again.

use super::error::{TraceError, bad};
use super::footprint::Footprint;
use super::options::DeviceRule;
use super::record::{Record, TraceCounts};
use crate::interrupt::Interrupt;
use std::collections::HashMap;
use tailcut_units::{Command, HostOp};

/// Addresses are folded in pages of this many bytes.
pub(super) const PAGE: u64 = 4096;
/// The most devices numbered by appearance; for further devices the device number selects
/// the slice.
const DEVICES_MAX: usize = 65_536;

/// A part of the drive, in pages.
#[derive(Clone, Debug)]
struct Slice {
    first: u64,
    pages: u64,
    /// Lowest and highest page (exclusive, unfolded) used in the first lap.
    low: u64,
    high: u64,
}

impl Slice {
    fn shift(&self) -> u64 {
        let span = self.high.saturating_sub(self.low);
        // 633/1024 is close to the golden ratio 0.618; u128 because pages × 633 may not
        // fit 64 bits.
        if span < self.pages { span } else { (u128::from(self.pages) * 633 / 1024) as u64 }
    }
}

/// The mapping from (device, offset) to the drive.
pub(super) struct Layout {
    slices: Vec<Slice>,
    /// The slice of each device, filled in order of appearance.
    devices: HashMap<u32, u32>,
    last: (u32, u32),
}

/// The rest of a request that needs more than one command; the rest begins at the slice's
/// first byte.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pieces {
    op: HostOp,
    fua: bool,
    base: u64,
    limit: u64,
    left: u64,
}

impl Iterator for Pieces {
    type Item = Command;

    fn next(&mut self) -> Option<Command> {
        // The request had at most 4 GiB - 1 bytes, so a piece fits 32 bits.
        let bytes = self.left.min(self.limit) as u32;
        self.left -= u64::from(bytes);
        (bytes > 0).then_some(Command { op: self.op, offset: self.base, bytes, fua: self.fua })
    }
}

impl Layout {
    /// Make a layout; `devices` are in order of first appearance.
    pub fn new(capacity: u64, devices: &[u32], rule: DeviceRule) -> Result<Layout, TraceError> {
        let pages = capacity / PAGE;
        if pages == 0 {
            return Err(bad("capacity", capacity, "at least 4096 bytes"));
        }
        let wanted = match rule {
            DeviceRule::Slices => devices.len().max(1) as u64,
            DeviceRule::Overlay => 1,
        };
        // With more devices than pages, devices share slices of one page.
        let count = wanted.min(pages);
        let each = pages / count;
        let slice = |i| Slice { first: i * each, pages: each, low: u64::MAX, high: 0 };
        let mut map = HashMap::new();
        for (order, &device) in devices.iter().enumerate() {
            map.insert(device, (order as u64 % count) as u32);
        }
        let last = (0, map.get(&0).copied().unwrap_or(u32::MAX));
        Ok(Layout { slices: (0..count).map(slice).collect(), devices: map, last })
    }

    #[inline]
    fn slice_of(&mut self, device: u32, counts: &mut TraceCounts) -> usize {
        if self.last.0 != device || self.last.1 == u32::MAX {
            self.last = (device, self.look_up(device, counts));
        }
        self.last.1 as usize
    }

    #[cold]
    fn look_up(&mut self, device: u32, counts: &mut TraceCounts) -> u32 {
        let count = self.slices.len() as u32;
        if let Some(&slice) = self.devices.get(&device) {
            return slice;
        }
        counts.late_devices += 1;
        if self.devices.len() >= DEVICES_MAX {
            return device % count;
        }
        let slice = self.devices.len() as u32 % count;
        self.devices.insert(device, slice);
        slice
    }

    /// The bytes that the first `pages` pages take on the drive, once folded.
    pub fn fold_range(&self, pages: u64) -> u64 {
        pages.min(self.slices[0].pages) * PAGE
    }

    /// The bytes that a set of pages takes on the drive, once folded.
    pub fn fold(&self, touched: &Footprint) -> u64 {
        let count = self.slices.len() as u32;
        // The set never exceeds the drive, which has at most 16 TiB: a bitmap of 512 MiB.
        let mut folded = Footprint::new(usize::MAX, Interrupt::default());
        touched.runs(|device, first, last| {
            let slice = self.devices.get(&device).copied().unwrap_or(device % count);
            let Slice { first: base, pages, .. } = self.slices[slice as usize];
            let length = (last - first + 1).min(pages);
            let start = first % pages;
            let end = start + length;
            folded.add(0, base + start, base + end.min(pages) - 1);
            if end > pages {
                folded.add(0, base, base + end - pages - 1);
            }
        });
        folded.pages().0 * PAGE
    }

    /// Turn a request into a command; the part that does not fit goes to `rest`.
    #[inline]
    pub fn place(
        &mut self,
        record: &Record,
        lap: u32,
        counts: &mut TraceCounts,
        rest: &mut Option<Pieces>,
    ) -> Command {
        let op = record.op;
        if op == HostOp::Flush {
            return Command::FLUSH;
        }
        let index = self.slice_of(record.device, counts);
        let slice = &mut self.slices[index];
        let (mut page, inside) = (record.offset / PAGE, record.offset % PAGE);
        let pages = (inside + u64::from(record.bytes)).div_ceil(PAGE);
        if lap == 0 {
            slice.low = slice.low.min(page);
            slice.high = slice.high.max(page + pages);
        }
        if page >= slice.pages {
            page %= slice.pages;
            counts.folded += 1;
        }
        if lap > 0 {
            let shift = u128::from(slice.shift()) * u128::from(lap);
            page = ((u128::from(page) + shift) % u128::from(slice.pages)) as u64;
        }
        let base = slice.first * PAGE;
        if page + pages > slice.pages {
            if pages > slice.pages {
                counts.split += 1;
                let limit = slice.pages * PAGE;
                let (command, pieces) = split(record, base, page * PAGE + inside, limit);
                counts.pieces += 1 + pieces.left.div_ceil(limit);
                *rest = Some(pieces);
                return command;
            }
            counts.moved += 1;
            page = slice.pages - pages;
        }
        Command { op, offset: base + page * PAGE + inside, bytes: record.bytes, fua: record.fua }
    }
}

/// Split a request larger than its slice of `limit` bytes: the first command runs to the
/// slice's end, and the pieces start again at its beginning.
#[cold]
fn split(record: &Record, base: u64, at: u64, limit: u64) -> (Command, Pieces) {
    let op = record.op;
    let left = u64::from(record.bytes);
    let (at, left) = if op == HostOp::Trim { (0, left.min(limit)) } else { (at, left) };
    // At most 4 GiB - 1 bytes, like the request.
    let first = left.min(limit - at) as u32;
    let fua = record.fua;
    let command = Command { op, offset: base + at, bytes: first, fua };
    (command, Pieces { op, fua, base, limit, left: left - u64::from(first) })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(device: u32, offset: u64, bytes: u32) -> Record {
        Record { time: 0, offset, bytes, device, op: HostOp::Write, fua: false }
    }

    #[test]
    fn every_command_stays_in_its_slice_and_no_byte_is_lost() {
        let mut counts = TraceCounts::default();
        let capacity = 100 * PAGE + 17;
        let mut layout = Layout::new(capacity, &[7, 3, 9], DeviceRule::Slices).unwrap();
        for (device, slice) in [(7u32, 0u64), (3, 1), (9, 2), (55, 0)] {
            for offset in [0, 512, 32 * PAGE, 33 * PAGE, 1 << 50, PAGE * 32 + 100] {
                for bytes in [1u32, 512, 4096, 5000, 40 * 4096, 200 * 4096] {
                    for lap in 0..3 {
                        let mut rest = None;
                        let first = layout.place(&record(device, offset, bytes), lap, &mut counts, &mut rest);
                        let all: Vec<_> = std::iter::once(first).chain(rest.into_iter().flatten()).collect();
                        let (low, high) = (slice * 33 * PAGE, (slice + 1) * 33 * PAGE);
                        assert!(all.iter().all(|c| c.offset >= low && c.offset + u64::from(c.bytes) <= high));
                        assert_eq!(all.iter().map(|c| u64::from(c.bytes)).sum::<u64>(), u64::from(bytes));
                    }
                }
            }
        }
        assert!(counts.folded > 0 && counts.moved > 0 && counts.split > 0);
        assert_eq!(counts.late_devices, 1);
    }

    #[test]
    fn laps_move_by_the_span_of_the_first() {
        let mut counts = TraceCounts::default();
        let mut layout = Layout::new(1000 * PAGE, &[0], DeviceRule::Slices).unwrap();
        let mut page = |page, lap| {
            layout.place(&record(0, page * PAGE, 4096), lap, &mut counts, &mut None).offset / PAGE
        };
        assert_eq!((page(10, 0), page(29, 0)), (10, 29));
        assert_eq!((page(10, 1), page(10, 2)), (30, 50));
    }
}
