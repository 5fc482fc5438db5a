//! A row that is filled unit by unit in no simulated time, by ageing and by instant collections.

use super::extents::Extents;
use super::layout::Layout;
use crate::address::Ppa;
use std::ops::Range;

/// The units of a row that are not yet filled.
#[derive(Clone, Copy, Debug, Default)]
pub struct OpenRow {
    next: Ppa,
    left: u32,
    extent: u32,
}

impl OpenRow {
    /// The empty row whose first unit is at address `first`.
    pub fn new(first: Ppa, layout: &Layout) -> OpenRow {
        OpenRow { next: first, left: layout.units_per_row, extent: layout.extent_of(first).0 }
    }

    /// The extent of the row.
    #[inline]
    pub fn extent(&self) -> u32 {
        self.extent
    }

    /// Whether all units are filled.
    #[inline]
    pub fn is_full(&self) -> bool {
        self.left == 0
    }

    /// Fill the next unit and return its address. Filling the last unit programs the row.
    #[inline]
    pub fn fill(&mut self, extents: &mut Extents, layout: &Layout) -> Ppa {
        let unit = self.next;
        self.next = self.next + 1;
        self.left -= 1;
        if self.left == 0 {
            extents.row_programmed(layout, self.extent);
        }
        unit
    }

    /// Program the row and leave the rest of its units without data. Returns the addresses of that
    /// rest.
    pub fn pad(&mut self, extents: &mut Extents, layout: &Layout) -> Range<Ppa> {
        let rest = self.next..self.next + std::mem::take(&mut self.left);
        if !rest.is_empty() {
            extents.row_programmed(layout, self.extent);
        }
        rest
    }
}
