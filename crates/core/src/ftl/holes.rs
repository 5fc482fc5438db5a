//! Holes: parts of extents that hold no data, because a block there is bad or its plane is dead.
//!
//! A *part* of an extent is the rows that lie on one set of planes. With `ftl.bad_blocks = "hole"` an
//! extent with a bad block stays in use without the part that has the block.

use super::layout::Layout;
use serde::{Deserialize, Serialize};

/// The holes of all extents.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Holes {
    /// By extent and part: whether the part is a hole.
    is_hole: Vec<bool>,
    /// By extent: mapping units in its holes.
    units: Vec<u32>,
}

impl Holes {
    /// No holes.
    pub fn new(layout: &Layout) -> Holes {
        let extents = layout.extents() as usize;
        Holes { is_hole: vec![false; extents * layout.parts as usize], units: vec![0; extents] }
    }

    /// Turn a part of an extent into a hole. Returns the number of mapping units that the extent loses; 0 if the part
    /// is a hole already.
    pub fn add(&mut self, layout: &Layout, extent: u32, part: u32) -> u32 {
        let is_hole = &mut self.is_hole[(extent * layout.parts + part) as usize];
        let lost = if std::mem::replace(is_hole, true) { 0 } else { layout.units_per_part() };
        self.units[extent as usize] += lost;
        lost
    }

    /// Whether a part of an extent is a hole.
    #[inline]
    pub fn has(&self, layout: &Layout, extent: u32, part: u32) -> bool {
        self.is_hole[(extent * layout.parts + part) as usize]
    }

    /// By extent: mapping units in its holes.
    #[inline]
    pub fn units(&self) -> &[u32] {
        &self.units
    }

    /// The first row of an extent, from `row` on, outside of holes; the number of its rows if there is none.
    #[inline]
    pub fn next_row(&self, layout: &Layout, extent: u32, row: u32) -> u32 {
        let rows = row..layout.rows_per_extent.min(row + layout.parts);
        let mut usable = rows.filter(|&row| !self.has(layout, extent, layout.part_of(row)));
        usable.next().unwrap_or(layout.rows_per_extent)
    }

    /// All holes, as extents and parts.
    pub fn all<'a>(&'a self, layout: &'a Layout) -> impl Iterator<Item = (u32, u32)> + 'a {
        let place = |at: u32| (at / layout.parts, at % layout.parts);
        (0..).zip(&self.is_hole).filter(|(_, is_hole)| **is_hole).map(move |(at, _)| place(at))
    }

    /// Whether each of the given holes is also one of these.
    pub fn has_all(&self, others: &Holes) -> bool {
        others.is_hole.iter().zip(&self.is_hole).all(|(&other, &own)| own || !other)
    }

    /// Whether restored tables can belong to this layout.
    pub fn fits(&self, layout: &Layout) -> bool {
        let extents = layout.extents() as usize;
        if self.is_hole.len() != extents * layout.parts as usize || self.units.len() != extents {
            return false;
        }
        let holes = |of: &[bool]| of.iter().filter(|&&is_hole| is_hole).count() as u32;
        let parts = self.is_hole.chunks(layout.parts as usize);
        parts.zip(&self.units).all(|(of, &units)| holes(of) * layout.units_per_part() == units)
    }
}
