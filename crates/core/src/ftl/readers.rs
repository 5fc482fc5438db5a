//! Reads that keep their extents from being erased.
//!
//! The readers of an extent are needed only before its erase. Therefore the table has the extent of each reader, and no
//! counter for each extent: on a large drive, each read would have to access such a counter in distant memory.

use crate::address::Extent;
use crate::containers::NONE;
use serde::{Deserialize, Serialize};

/// The reads under way, with their extents.
#[derive(Debug, Serialize, Deserialize)]
pub struct Readers {
    /// By number of the reader: the extent that it keeps, or `NONE`. Numbers of ended readers are reused, so the table
    /// is as long as the largest number of readers at one time.
    keep: Vec<u32>,
    /// Number of readers.
    count: u32,
}

impl Readers {
    /// No reader, with memory for `most` at the same time.
    pub fn new(most: u32) -> Readers {
        Readers { keep: Vec::with_capacity(most as usize), count: 0 }
    }

    /// Reader `number` begins: `extent` must not be erased.
    #[inline]
    pub fn begins(&mut self, number: u32, Extent(extent): Extent) {
        if number as usize >= self.keep.len() {
            self.keep.resize(number as usize + 1, NONE);
        }
        let place = &mut self.keep[number as usize];
        debug_assert_eq!(*place, NONE, "reader {number} keeps an extent already");
        *place = extent;
        self.count += 1;
    }

    /// Reader `number` ends. Returns the extent that it has kept.
    #[inline]
    pub fn ends(&mut self, number: u32) -> Extent {
        self.count -= 1;
        let extent = std::mem::replace(&mut self.keep[number as usize], NONE);
        debug_assert_ne!(extent, NONE, "reader {number} keeps no extent");
        Extent(extent)
    }

    /// The number of readers of an extent. The time is proportional to the largest number of readers at one time.
    pub fn of(&self, Extent(extent): Extent) -> u32 {
        if self.count == 0 {
            return 0;
        }
        self.keep.iter().map(|&kept| u32::from(kept == extent)).sum()
    }

    /// The readers, by number and extent.
    pub fn iter(&self) -> impl Iterator<Item = (u32, u32)> + '_ {
        (0..).zip(self.keep.iter().copied()).filter(|&(_, extent)| extent != NONE)
    }

    /// The largest number of readers for which there is memory.
    pub fn most(&self) -> usize {
        self.keep.capacity()
    }

    /// The number of readers.
    pub fn count(&self) -> u32 {
        self.count
    }

    /// Whether restored readers fit a drive with this number of extents and readers.
    pub fn fit(&self, extents: u32, most: usize) -> bool {
        let inside = |(_, extent)| extent < extents;
        self.keep.len() <= most && self.iter().all(inside) && self.iter().count() == self.count as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn readers_keep_their_extents_until_they_end() {
        let mut readers = Readers::new(4);
        let of = |readers: &Readers| [5, 6].map(|extent| readers.of(Extent(extent)));
        assert_eq!((of(&readers), readers.count()), ([0, 0], 0));
        readers.begins(2, Extent(5));
        readers.begins(0, Extent(5));
        readers.begins(3, Extent(6));
        assert_eq!((of(&readers), readers.count()), ([2, 1], 3));
        assert!(readers.iter().eq([(0, 5), (2, 5), (3, 6)]));
        assert_eq!((readers.ends(2), of(&readers)), (Extent(5), [1, 1]));
        readers.begins(2, Extent(6));
        assert_eq!((readers.ends(0), of(&readers), readers.count()), (Extent(5), [0, 2], 2));
        assert!(readers.fit(7, 4) && !readers.fit(6, 4), "an extent that is not there");
        assert!(!readers.fit(7, 3), "more readers than the drive has");
        readers.count += 1;
        assert!(!readers.fit(7, 4), "a wrong count");
    }
}
