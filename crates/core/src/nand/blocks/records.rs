//! What every operation on a block that can fail looks at, by block, in lines of the caches.

use super::BEFORE;
use crate::containers::big::prefetch;
use bytemuck::{Pod, Zeroable};
use serde::{Deserialize, Serialize};
use std::ops::{Index, IndexMut};

/// What operations look at: 16 bytes.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, Pod, Zeroable)]
#[repr(C)]
pub(super) struct Record {
    /// When the first page was programmed since the erase, ns; [`BEFORE`]: before the run.
    pub programmed: u64,
    /// Reads since the erase.
    pub reads: u32,
    /// Program/erase cycles, with those of the past.
    pub cycles: u32,
}

impl Record {
    /// The record of an erased block.
    pub fn erased(cycles: u32) -> Record {
        Record { programmed: BEFORE, reads: 0, cycles }
    }

    /// Count a read.
    #[inline]
    pub fn count_read(&mut self) {
        self.reads = self.reads.saturating_add(1);
    }
}

/// Records of a line.
const PER_LINE: usize = 4;

/// Records that lie in one line of the caches.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, Pod, Zeroable)]
#[repr(C, align(64))]
struct Line([Record; PER_LINE]);

const _: () = assert!(size_of::<Line>() == PER_LINE * size_of::<Record>());

/// The records of all blocks.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Records(Vec<Line>);

impl Records {
    /// `count` equal records.
    pub fn new(record: Record, count: usize) -> Records {
        Records(vec![Line([record; PER_LINE]); count.div_ceil(PER_LINE)])
    }

    /// The `count` records from `at` on, if they fill a line.
    #[inline]
    pub fn line(&mut self, at: usize, count: u32) -> Option<&mut [Record; PER_LINE]> {
        let fills = count as usize == PER_LINE && at.is_multiple_of(PER_LINE);
        if fills { self.0.get_mut(at / PER_LINE).map(|line| &mut line.0) } else { None }
    }

    /// Ask the processor to bring the records from `first` to `last` into its caches.
    #[inline]
    pub fn prefetch(&self, first: usize, last: usize) {
        let (first, last) = (first / PER_LINE, last / PER_LINE);
        prefetch(&self.0, first);
        // Most operations are within a line.
        for line in first + 1..=last {
            prefetch(&self.0, line);
        }
    }
}

impl Index<usize> for Records {
    type Output = Record;
    #[inline]
    fn index(&self, at: usize) -> &Record {
        &bytemuck::cast_slice::<Line, Record>(&self.0)[at]
    }
}

impl IndexMut<usize> for Records {
    #[inline]
    fn index_mut(&mut self, at: usize) -> &mut Record {
        &mut bytemuck::cast_slice_mut::<Line, Record>(&mut self.0)[at]
    }
}
