//! Lost data: sectors of the host that can neither be read nor be computed by parity.
//!
//! Without strides such a sector stays where it is, and its line is not freed while the sector is valid. In Linux
//! collection fails on such a line again and again. With strides collection drops the sector and frees the line, and
//! the logical address is recorded as lost. Reads of it fail until the host writes the whole sector or trims it.

use super::array::SECTOR;
use super::drive::Pblk;
use super::payload::covers_all;
use crate::address::{Lpn, Ppa};
use crate::ftl::map::Mapping;
use crate::medium::Medium;
use crate::observer::Observer;
use std::ops::Range;

impl<O: Observer, M: Medium> Pblk<O, M> {
    /// Whether collection has dropped this sector of the host.
    #[inline]
    pub fn has_lost_data(&self, lpn: Lpn) -> bool {
        let lost = &self.state.failures.lost;
        !lost.is_empty() && lost.contains(&lpn)
    }

    /// Collection drops this valid sector. Its data are lost.
    #[cold]
    pub(super) fn lose_sector(&mut self, lpn: Lpn, sector: Ppa) {
        debug_assert_eq!(self.map.lookup(lpn), Mapping::Flash(sector));
        self.map.trim(lpn);
        self.data.trimmed(lpn);
        self.invalidate(sector);
        self.state.failures.lost.insert(lpn);
    }

    /// A command of the host has written a sector or a part of it.
    #[inline]
    pub(super) fn lost_no_more(&mut self, lpn: Lpn, by: u32) {
        if self.has_lost_data(lpn) && covers_all(&self.state.interface.requests[by].host.command, lpn) {
            self.state.failures.lost.remove(&lpn);
        }
    }

    /// The byte ranges of the host whose data cannot be read, in order. Adjacent ranges are joined.
    pub(super) fn lost_ranges(&self) -> Vec<Range<u64>> {
        let f = &self.state.failures;
        if f.knows_no_unreadable() && f.lost.is_empty() {
            return Vec::new();
        }
        let nothing_gives =
            |sector: Ppa| self.state.failures.is_unreadable(&self.shape, sector) && !self.can_compute(sector);
        let mut ranges: Vec<Range<u64>> = Vec::new();
        for lpn in Lpn(0).run(self.shape.sectors) {
            let on_flash = matches!(self.map.lookup(lpn), Mapping::Flash(sector) if nothing_gives(sector));
            if !on_flash && !f.lost.contains(&lpn) {
                continue;
            }
            let start = u64::from(lpn.0) * SECTOR;
            match ranges.last_mut() {
                Some(last) if last.end == start => last.end += SECTOR,
                _ => ranges.push(start..start + SECTOR),
            }
        }
        ranges
    }
}
