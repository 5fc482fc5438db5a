//! Counts distinct 4 KiB pages: exactly while they fit into memory, else by an estimate.

use crate::interrupt::Interrupt;
use std::collections::BTreeMap;
use tailcut_units::random::mix;

/// Pages per chunk. A chunk is a bitmap of 4 KiB or, while sparse, a sorted list.
const CHUNK_PAGES: u64 = 32_768;
const WORDS: usize = (CHUNK_PAGES / 64) as usize;
/// The most entries with which a list is smaller than the bitmap.
const LIST_MAX: usize = 1024;
/// The approximate memory of a map entry without its pages, in bytes.
const ENTRY_BYTES: usize = 64;
/// Log2 of the estimate's registers: the standard error is 1.04 / sqrt(2^14) = 0.8 %.
const PRECISION: u32 = 14;

pub(super) enum Chunk {
    List(Vec<u16>),
    Bitmap(Box<[u64; WORDS]>),
}

/// A set of (device, page) pairs, used to count the pages and to list their runs.
///
/// Exact up to `bytes_max` of memory, then HyperLogLog (16 KiB, standard error 0.8 %).
pub(crate) struct Footprint {
    chunks: BTreeMap<(u32, u64), Chunk>,
    bytes: usize,
    bytes_max: usize,
    count: u64,
    registers: Option<Vec<u8>>,
    /// Changing from the exact set to the estimate takes seconds and must be
    /// interruptible.
    interrupt: Interrupt,
}

impl Footprint {
    pub fn new(bytes_max: usize, interrupt: Interrupt) -> Footprint {
        Footprint { chunks: BTreeMap::new(), bytes: 0, bytes_max, count: 0, registers: None, interrupt }
    }

    /// Add the pages `first..=last` of a device.
    pub fn add(&mut self, device: u32, first: u64, last: u64) {
        if self.registers.is_some() {
            (first..=last).for_each(|page| self.estimate(device, page));
            return;
        }
        let mut page = first;
        while page <= last {
            let chunk = page / CHUNK_PAGES;
            let end = last.min(chunk * CHUNK_PAGES + (CHUNK_PAGES - 1));
            self.add_in_chunk((device, chunk), (page % CHUNK_PAGES) as u16, (end % CHUNK_PAGES) as u16);
            page = end + 1;
        }
        if self.bytes > self.bytes_max {
            self.give_up();
        }
    }

    /// The number of distinct pages, and whether it is exact.
    pub fn pages(&self) -> (u64, bool) {
        match &self.registers {
            None => (self.count, true),
            Some(registers) => (estimated(registers), false),
        }
    }

    /// Call `each` with every unbroken run of pages within a chunk as (device, first,
    /// last), ordered by device and page. There are no runs once the set is estimated.
    pub fn runs(&self, mut each: impl FnMut(u32, u64, u64)) {
        for (&(device, chunk), pages) in &self.chunks {
            let base = chunk * CHUNK_PAGES;
            pages.runs(|first, last| each(device, base + u64::from(first), base + u64::from(last)));
        }
    }

    /// The same pages with all devices merged into one, number 0.
    pub fn overlaid(&self) -> Footprint {
        let mut all = Footprint::new(self.bytes_max, self.interrupt.clone());
        self.runs(|_, first, last| all.add(0, first, last));
        all
    }

    fn add_in_chunk(&mut self, key: (u32, u64), first: u16, last: u16) {
        let bytes = &mut self.bytes;
        let chunk = self.chunks.entry(key).or_insert_with(|| {
            *bytes += ENTRY_BYTES;
            Chunk::List(Vec::new())
        });
        if let Chunk::List(list) = chunk {
            if list.len() + usize::from(last - first) < LIST_MAX {
                for page in first..=last {
                    if let Err(at) = list.binary_search(&page) {
                        list.insert(at, page);
                        self.count += 1;
                        self.bytes += 2;
                    }
                }
                return;
            }
            self.bytes += WORDS * 8 - list.len() * 2;
            let mut words = Box::new([0u64; WORDS]);
            list.iter().for_each(|&page| words[usize::from(page / 64)] |= 1 << (page % 64));
            *chunk = Chunk::Bitmap(words);
        }
        let Chunk::Bitmap(words) = chunk else { return };
        for word in first / 64..=last / 64 {
            let low = if word == first / 64 { first % 64 } else { 0 };
            let high = if word == last / 64 { last % 64 } else { 63 };
            let mask = (u64::MAX << low) & (u64::MAX >> (63 - high));
            let slot = &mut words[usize::from(word)];
            self.count += u64::from((mask & !*slot).count_ones());
            *slot |= mask;
        }
    }

    fn give_up(&mut self) {
        self.registers = Some(vec![0; 1 << PRECISION]);
        for ((device, chunk), pages) in std::mem::take(&mut self.chunks) {
            if self.interrupt.is_raised() {
                return;
            }
            let base = chunk * CHUNK_PAGES;
            match pages {
                Chunk::List(list) => list.iter().for_each(|&p| self.estimate(device, base + u64::from(p))),
                Chunk::Bitmap(words) => {
                    let set = |&p: &u64| words[(p / 64) as usize] >> (p % 64) & 1 == 1;
                    (0..CHUNK_PAGES).filter(set).for_each(|p| self.estimate(device, base + p));
                }
            }
        }
    }

    fn estimate(&mut self, device: u32, page: u64) {
        let hash = mix(page ^ mix(u64::from(device)));
        let register = (hash >> (64 - PRECISION)) as usize;
        let rank = ((hash << PRECISION) | 1 << (PRECISION - 1)).leading_zeros() as u8 + 1;
        if let Some(registers) = &mut self.registers {
            registers[register] = registers[register].max(rank);
        }
    }
}

/// HyperLogLog with the small-range correction, which has no effect here since the set is
/// large.
fn estimated(registers: &[u8]) -> u64 {
    let m = registers.len() as f64;
    let sum: f64 = registers.iter().map(|&r| 0.5f64.powi(i32::from(r))).sum();
    let raw = 0.7213 / (1.0 + 1.079 / m) * m * m / sum;
    let empty = registers.iter().filter(|&&r| r == 0).count();
    if raw <= 2.5 * m && empty > 0 { (m * (m / empty as f64).ln()) as u64 } else { raw as u64 }
}

impl Chunk {
    fn runs(&self, mut each: impl FnMut(u16, u16)) {
        let mut open: Option<(u16, u16)> = None;
        let mut extend = |first: u16, last: u16| match &mut open {
            Some((_, end)) if *end + 1 == first => *end = last,
            _ => {
                if let Some((first, last)) = open.replace((first, last)) {
                    each(first, last);
                }
            }
        };
        match self {
            Chunk::List(list) => list.iter().for_each(|&page| extend(page, page)),
            Chunk::Bitmap(words) => {
                for (word, &bits) in words.iter().enumerate() {
                    let (base, mut left, mut at) = (word as u16 * 64, bits, 0);
                    while left != 0 {
                        let skip = left.trailing_zeros() as u16;
                        let length = (left >> skip).trailing_ones() as u16;
                        extend(base + at + skip, base + at + skip + length - 1);
                        at += skip + length;
                        left = left.checked_shr(u32::from(skip + length)).unwrap_or(0);
                    }
                }
            }
        }
        if let Some((first, last)) = open {
            each(first, last);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;
    use tailcut_units::Stream;

    fn fill(set: &mut Footprint, requests: u64, space: u64) -> u64 {
        let mut truth = HashSet::new();
        let mut random = Stream::new(1, "footprint", 0);
        for _ in 0..requests {
            let (device, first) = (random.below(3) as u32, random.below(space));
            let last = first + random.below(70);
            set.add(device, first, last);
            truth.extend((first..=last).map(|p| (device, p)));
        }
        truth.len() as u64
    }

    #[test]
    fn counts_exactly_across_chunks_lists_and_bitmaps() {
        for (requests, space) in [(10, 100), (3000, 200_000), (2000, 1 << 40)] {
            let mut set = Footprint::new(64 << 20, Interrupt::default());
            let truth = fill(&mut set, requests, space);
            assert_eq!(set.pages(), (truth, true));
        }
    }

    #[test]
    fn beyond_its_memory_it_estimates_within_four_standard_errors() {
        let mut set = Footprint::new(100_000, Interrupt::default());
        let truth = fill(&mut set, 20_000, 1 << 40) as f64;
        let (pages, exact) = set.pages();
        assert!(!exact && (pages as f64 / truth - 1.0).abs() < 4.0 * 0.0081, "{pages} for {truth}");
    }
}
