//! Numbers the touched pages of a trace without holes.

use super::footprint::Footprint;
use super::layout::PAGE;
use super::record::{Record, TraceCounts};
use tailcut_units::HostOp;

/// The most runs examined one by one, from the last position on, before a binary search is
/// used.
const CLOSE: usize = 8;

/// Numbers the pages that a trace reads or writes, in order of device number and address. The
/// pages of one request are neighbours before and after.
pub(crate) struct DenseMap {
    runs: Vec<Run>,
    pages: u64,
    /// All devices are treated as one, number 0.
    overlaid: bool,
}

/// A run of neighbouring pages of a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Run {
    device: u32,
    first: u64,
    last: u64,
    /// The number of the first page.
    number: u64,
}

impl DenseMap {
    /// Number the pages of an exact footprint; `None` if it has more than `runs_max` runs, of
    /// 32 bytes each. `overlaid` says that the footprint treats all devices as one.
    pub fn new(touched: &Footprint, overlaid: bool, runs_max: usize) -> Option<DenseMap> {
        let mut map = DenseMap { runs: Vec::new(), pages: 0, overlaid };
        let mut fits = true;
        touched.runs(|device, first, last| {
            let number = map.pages;
            map.pages += last - first + 1;
            let full = map.runs.len() == runs_max;
            match map.runs.last_mut() {
                // A run ends with its chunk; the next chunk may continue it.
                Some(run) if run.device == device && run.last + 1 == first => run.last = last,
                _ if full => fits = false,
                _ => map.runs.push(Run { device, first, last, number }),
            }
        });
        fits.then_some(map)
    }

    /// How many pages are numbered.
    pub fn pages(&self) -> u64 {
        self.pages
    }

    /// The number of the first touched page at or after `page`, and whether that is `page`
    /// itself. `near` is the index of the last run found, and is updated.
    fn number(&self, device: u32, page: u64, near: &mut usize) -> (u64, bool) {
        let before = |run: &Run| (run.device, run.last) < (device, page);
        // Requests often follow one another, so runs near the last one are examined first.
        let mut at = *near;
        let close = self.runs[at.min(self.runs.len())..].iter().take(CLOSE);
        let ahead = close.take_while(|run| before(run)).count();
        if at > self.runs.len() || ahead == CLOSE || (at > 0 && !before(&self.runs[at - 1])) {
            at = self.runs.partition_point(before);
        } else {
            at += ahead;
        }
        *near = at;
        match self.runs.get(at) {
            Some(run) if run.device == device && run.first <= page => (run.number + page - run.first, true),
            Some(run) => (run.number, false),
            None => (self.pages, false),
        }
    }

    /// As [`DenseMap::place`], but the address counts among the touched pages of the record's
    /// own device, and the device number stays.
    pub fn place_in_device(
        &self,
        record: &Record,
        near: &mut usize,
        counts: &mut TraceCounts,
    ) -> Option<Record> {
        let placed = self.place(record, near, counts)?;
        let first = self.runs.get(self.runs.partition_point(|run| run.device < record.device));
        let before = if record.op == HostOp::Flush { 0 } else { first.map_or(0, |run| run.number) };
        let offset = placed.offset.saturating_sub(before * PAGE);
        Some(Record { offset, device: record.device, ..placed })
    }

    /// Give the record its address among the touched pages of all devices; `None` for a trim
    /// that touches none of them. A larger trim keeps the touched part.
    #[inline]
    pub fn place(&self, record: &Record, near: &mut usize, counts: &mut TraceCounts) -> Option<Record> {
        if record.op == HostOp::Flush {
            return Some(Record { device: 0, ..*record });
        }
        let device = if self.overlaid { 0 } else { record.device };
        let (first, inside) = (record.offset / PAGE, record.offset % PAGE);
        let (number, touched) = self.number(device, first, near);
        let offset = number * PAGE + if touched { inside } else { 0 };
        if record.op != HostOp::Trim {
            // Every read or write is in the footprint, which was measured in an earlier pass
            // over the same file.
            return Some(Record { offset, device: 0, ..*record });
        }
        let end = record.offset + u64::from(record.bytes);
        let (number, touched) = self.number(device, end / PAGE, near);
        let end = number * PAGE + if touched { end % PAGE } else { 0 };
        if end <= offset {
            counts.untouched_trims += 1;
            return None;
        }
        // Pages were removed and none added, so the trim is not longer than before.
        Some(Record { offset, bytes: (end - offset) as u32, device: 0, ..*record })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::interrupt::Interrupt;
    use std::collections::BTreeSet;
    use tailcut_units::Stream;

    fn record(op: HostOp, device: u32, offset: u64, bytes: u64) -> Record {
        Record { time: 0, offset, bytes: bytes as u32, device, op, fua: false }
    }

    #[test]
    fn pages_are_numbered_without_holes_in_order_of_device_and_address() {
        let mut random = Stream::new(5, "dense", 0);
        let mut touched = Footprint::new(64 << 20, Interrupt::default());
        let mut pages = BTreeSet::new();
        let mut requests = Vec::new();
        for _ in 0..4000 {
            let (device, first) = (random.below(3) as u32, random.below(1 << 18) << random.below(12));
            let last = first + random.below(40);
            touched.add(device, first, last);
            pages.extend((first..=last).map(|p| (device, p)));
            requests.push((device, first, last));
        }
        let map = DenseMap::new(&touched, false, usize::MAX).unwrap();
        assert_eq!(map.pages(), pages.len() as u64);
        let numbers: std::collections::HashMap<_, _> = pages.iter().copied().zip(0u64..).collect();
        let (mut near, mut counts) = (0, TraceCounts::default());
        for &(device, first, last) in &requests {
            let bytes = (last - first + 1) * PAGE - 600;
            let placed =
                map.place(&record(HostOp::Read, device, first * PAGE + 100, bytes), &mut near, &mut counts);
            let placed = placed.unwrap();
            assert_eq!((placed.device, u64::from(placed.bytes)), (0, bytes));
            assert_eq!(placed.offset, numbers[&(device, first)] * PAGE + 100);
            // All pages of a request are neighbours.
            assert_eq!(numbers[&(device, last)] - numbers[&(device, first)], last - first);
        }
    }

    #[test]
    fn a_trim_keeps_what_is_touched_of_it() {
        let mut touched = Footprint::new(64 << 20, Interrupt::default());
        touched.add(0, 10, 19);
        touched.add(0, 100, 100);
        touched.add(1, 5, 5);
        let map = DenseMap::new(&touched, false, 3).unwrap();
        let mut counts = TraceCounts::default();
        let mut trim = |device, first: u64, last: u64| {
            let record = record(HostOp::Trim, device, first * PAGE, (last - first + 1) * PAGE);
            let placed = map.place(&record, &mut 0, &mut counts)?;
            Some((placed.offset / PAGE, u64::from(placed.bytes) / PAGE))
        };
        assert_eq!(trim(0, 0, 1000), Some((0, 11)));
        assert_eq!(trim(0, 15, 200), Some((5, 6)));
        assert_eq!(trim(1, 0, 9), Some((11, 1)));
        assert_eq!((trim(0, 20, 99), trim(0, 101, 9000), trim(2, 0, 9)), (None, None, None));
        assert_eq!(counts.untouched_trims, 3);
        assert!(DenseMap::new(&touched, false, 2).is_none());
    }
}
