//! The record of each block that can fail. Every operation reads it, so the records of a multi-plane operation share a
//! cache line.

use crate::containers::big::prefetch;
use crate::nand::errors::draw::PageFactor;
use bytemuck::{Pod, Zeroable};
use serde::{Deserialize, Serialize};
use std::ops::{Index, IndexMut};

/// The largest number of program/erase cycles that a record holds; further cycles are not counted.
pub const MOST_CYCLES: u32 = (1 << 23) - 1;
/// Flag in [`Record::rest`]: no page has been programmed in this run since the erase.
const BEFORE: u32 = MOST_CYCLES + 1;

/// The state of a block that every operation reads, in 8 bytes. (The time of the first program is in another table.)
#[derive(Clone, Copy, Debug, Serialize, Deserialize, Pod, Zeroable)]
#[repr(C)]
pub(super) struct Record {
    /// Reads since the erase.
    pub reads: u32,
    /// Program/erase cycles, including those before the run (23 bits); the flag [`BEFORE`]; the entry for plain reads
    /// (8 bits).
    rest: u32,
}

impl Record {
    /// Position of the entry for plain reads in `rest`.
    const PLAIN_SHIFT: u32 = 24;

    /// The record of an erased block.
    pub fn erased(cycles: u32) -> Record {
        Record { reads: 0, rest: cycles.min(MOST_CYCLES) | BEFORE }.with_plain(PageFactor::UNKNOWN)
    }

    /// Program/erase cycles, including those before the run.
    #[inline]
    pub fn cycles(self) -> u32 {
        self.rest & MOST_CYCLES
    }

    /// The record with another number of cycles, and without an entry for plain reads.
    pub fn with_cycles(self, cycles: u32) -> Record {
        let rest = self.rest & BEFORE | cycles.min(MOST_CYCLES);
        Record { rest, ..self }.with_plain(PageFactor::UNKNOWN)
    }

    /// Whether no page has been programmed in this run since the erase.
    #[inline]
    pub fn is_of_before(self) -> bool {
        self.rest & BEFORE != 0
    }

    /// Note the program of the first page in this run. Clears the entry for plain reads.
    #[inline]
    pub fn begin(&mut self) {
        self.rest &= MOST_CYCLES;
    }

    /// Whether pages with this factor have plain reads.
    #[inline]
    pub fn has_plain(self, factor: PageFactor) -> bool {
        self.rest >= u32::from(factor.byte()) << Record::PLAIN_SHIFT
    }

    /// The largest factor of pages with plain reads.
    #[inline]
    pub fn plain(self) -> PageFactor {
        PageFactor::of_byte((self.rest >> Record::PLAIN_SHIFT) as u8)
    }

    /// The record with another entry for plain reads.
    #[inline]
    pub fn with_plain(self, most: PageFactor) -> Record {
        let others = self.rest & (u32::MAX >> (u32::BITS - Record::PLAIN_SHIFT));
        Record { rest: others | u32::from(most.byte()) << Record::PLAIN_SHIFT, ..self }
    }

    /// Count a read.
    #[inline]
    pub fn count_read(&mut self) {
        self.reads = self.reads.saturating_add(1);
    }
}

/// Number of records in a group.
const GROUP: usize = 4;

/// Records that share a cache line.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, Pod, Zeroable)]
#[repr(C, align(32))]
struct Group([Record; GROUP]);

const _: () = assert!(size_of::<Group>() == GROUP * size_of::<Record>());

/// The records of all blocks.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Records(Vec<Group>);

impl Records {
    /// `count` equal records.
    pub fn new(record: Record, count: usize) -> Records {
        Records(vec![Group([record; GROUP]); count.div_ceil(GROUP)])
    }

    /// All records, including those that fill the last group.
    pub fn all_mut(&mut self) -> &mut [Record] {
        bytemuck::cast_slice_mut(&mut self.0)
    }

    /// The `count` records from position `at`, if they form a whole group.
    #[inline]
    pub fn group_mut(&mut self, at: usize, count: u32) -> Option<&mut [Record; GROUP]> {
        let is_group = count as usize == GROUP && at.is_multiple_of(GROUP);
        if is_group { self.0.get_mut(at / GROUP).map(|group| &mut group.0) } else { None }
    }

    /// Prefetch the records from `first` to `last` into the processor's caches.
    #[inline]
    pub fn prefetch(&self, first: usize, last: usize) {
        let (first, last) = (first / GROUP, last / GROUP);
        prefetch(&self.0, first);
        // Most operations lie within one group.
        for group in first + 1..=last {
            prefetch(&self.0, group);
        }
    }
}

impl Index<usize> for Records {
    type Output = Record;
    #[inline]
    fn index(&self, at: usize) -> &Record {
        &bytemuck::cast_slice::<Group, Record>(&self.0)[at]
    }
}

impl IndexMut<usize> for Records {
    #[inline]
    fn index_mut(&mut self, at: usize) -> &mut Record {
        &mut bytemuck::cast_slice_mut::<Group, Record>(&mut self.0)[at]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Each field of a record changes without the others.
        #[test]
        fn the_parts_of_a_record_are_apart(cycles in any::<u32>(), others in any::<u32>(), byte in any::<u8>(), asked in any::<u8>()) {
            let [most, asked] = [byte, asked].map(PageFactor::of_byte);
            let mut record = Record::erased(cycles);
            prop_assert_eq!((record.cycles(), record.reads), (cycles.min(MOST_CYCLES), 0));
            prop_assert!(record.is_of_before() && record.plain() == PageFactor::UNKNOWN);
            record.count_read();
            record = record.with_plain(most);
            prop_assert_eq!((record.cycles(), record.reads), (cycles.min(MOST_CYCLES), 1));
            prop_assert!(record.is_of_before() && record.plain() == most);
            prop_assert_eq!(record.has_plain(asked), most >= asked);
            let aged = record.with_cycles(others);
            prop_assert_eq!((aged.cycles(), aged.reads), (others.min(MOST_CYCLES), 1));
            prop_assert!(aged.is_of_before() && aged.plain() == PageFactor::UNKNOWN);
            record.begin();
            prop_assert_eq!((record.cycles(), record.reads), (cycles.min(MOST_CYCLES), 1));
            prop_assert!(!record.is_of_before() && record.plain() == PageFactor::UNKNOWN);
            prop_assert!(!record.with_plain(most).with_cycles(others).is_of_before());
        }
    }

    #[test]
    fn four_records_are_a_group() {
        let mut records = Records::new(Record::erased(3), 7);
        assert!(records.group_mut(0, 4).is_some() && records.group_mut(4, 4).is_some());
        assert!(records.group_mut(2, 4).is_none() && records.group_mut(8, 4).is_none());
        assert!(records.group_mut(4, 2).is_none());
        records[6].count_read();
        assert_eq!(
            records.all_mut().iter().map(|record| record.reads).collect::<Vec<_>>(),
            [0, 0, 0, 0, 0, 0, 1, 0]
        );
    }
}
