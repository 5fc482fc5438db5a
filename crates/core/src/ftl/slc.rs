//! The states of the extents in SLC mode: free, open, full or being folded.
//!
//! Their valid units, pending rows and readers are counted in [`super::extents`], like those of all extents.

use super::layout::Layout;
use crate::address::{Extent, Lane, Ppa};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeSet, VecDeque};

/// The region of one lane.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct LaneRegion {
    free: VecDeque<Extent>,
    /// The open extent, or none.
    open: Extent,
    next_row: u32,
    /// Fully programmed extents, the oldest first.
    full: VecDeque<Extent>,
    /// The extent that is being folded, or none.
    folded: Extent,
    /// Extents erased since the drive was made.
    erases: u64,
}

impl LaneRegion {
    /// Take the next row, if there is one.
    pub fn take_row(&mut self, layout: &Layout) -> Option<Ppa> {
        if self.open == Extent::NONE || self.next_row == layout.slc_rows {
            (self.open, self.next_row) = (self.free.pop_front()?, 0);
        }
        let ppa = Ppa(self.open.0 * layout.units_per_extent + self.next_row * layout.units_per_row);
        self.next_row += 1;
        Some(ppa)
    }

    /// Note that all allocated rows of an extent have been programmed. Returns whether the extent is full now.
    pub fn rows_programmed(&mut self, layout: &Layout, extent: Extent) -> bool {
        if self.open == extent && self.next_row < layout.slc_rows {
            return false;
        }
        if self.open == extent {
            self.open = Extent::NONE;
        }
        self.full.push_back(extent);
        true
    }

    /// Rows that are free.
    pub fn free_rows(&self, layout: &Layout) -> u32 {
        let open = if self.open == Extent::NONE { 0 } else { layout.slc_rows - self.next_row };
        self.free.len() as u32 * layout.slc_rows + open
    }

    /// The full extents, the oldest first.
    pub fn full(&self) -> impl Iterator<Item = Extent> + '_ {
        self.full.iter().copied()
    }

    /// Begin to fold a full extent.
    pub fn begin_fold(&mut self, extent: Extent) {
        debug_assert!(self.folded == Extent::NONE && self.full.contains(&extent));
        self.full.retain(|&other| other != extent);
        self.folded = extent;
    }

    /// The extent that was folded is erased.
    pub fn erased(&mut self) {
        debug_assert_ne!(self.folded, Extent::NONE);
        self.free.push_back(std::mem::replace(&mut self.folded, Extent::NONE));
        self.erases += 1;
    }

    /// Extents erased since the drive was made.
    pub fn erases(&self) -> u64 {
        self.erases
    }

    /// The row up to which an extent is written.
    fn rows_written(&self, layout: &Layout, extent: Extent) -> u32 {
        match extent == self.open {
            true => self.next_row,
            false if self.free.contains(&extent) => 0,
            false => layout.slc_rows,
        }
    }

    /// Whether a restored table contains only extents of this lane's region, each once.
    fn fits(&self, layout: &Layout, own: &BTreeSet<Extent>) -> bool {
        let single = [self.open, self.folded].into_iter().filter(|&extent| extent != Extent::NONE);
        let listed: Vec<Extent> = self.free.iter().chain(&self.full).copied().chain(single).collect();
        let distinct: BTreeSet<Extent> = listed.iter().copied().collect();
        distinct.len() == listed.len()
            && distinct.is_subset(own)
            && self.next_row <= layout.slc_rows
            && self.erases <= 1 << 48
    }

    /// Check that the state of an extent fits its numbers of valid units and pending rows.
    fn audit_extent(&self, extent: Extent, valid: u32, pending: u32) -> Result<(), String> {
        let (free, full) = (self.free.contains(&extent), self.full.contains(&extent));
        law!(!free || valid == 0, "free extent {extent} has {valid} valid units");
        let written = free || full || extent == self.folded;
        law!(!written || pending == 0, "extent {extent} of the SLC region has {pending} rows under way");
        law!(written || extent == self.open || pending > 0, "extent {extent} is in no state");
        Ok(())
    }
}

/// The SLC region of a drive, lane by lane. It has no lane on a drive without one.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Region {
    lanes: Vec<LaneRegion>,
}

impl Region {
    /// The region of a new drive: all free.
    pub fn new(layout: &Layout) -> Region {
        let lane = |lane| LaneRegion {
            free: layout.slc_extents_of(lane).collect(),
            open: Extent::NONE,
            next_row: 0,
            full: VecDeque::with_capacity(layout.slc_extents as usize),
            folded: Extent::NONE,
            erases: 0,
        };
        let lanes = if layout.slc_extents > 0 { layout.lanes } else { 0 };
        Region { lanes: Lane(0).run(lanes).map(lane).collect() }
    }

    /// The region of a lane.
    pub fn of(&self, lane: Lane) -> &LaneRegion {
        &self.lanes[lane.index()]
    }

    /// The region of a lane, to change it.
    pub fn of_mut(&mut self, lane: Lane) -> &mut LaneRegion {
        &mut self.lanes[lane.index()]
    }

    /// The regions of all lanes.
    pub fn lanes(&self) -> impl Iterator<Item = (Lane, &LaneRegion)> {
        (0..).map(Lane).zip(&self.lanes)
    }

    /// Whether the region is completely erased.
    pub fn is_empty(&self, layout: &Layout) -> bool {
        self.lanes.iter().all(|l| l.free.len() == layout.slc_extents as usize)
    }

    /// Add, by extent, the row up to which it is written.
    pub fn add_rows_written(&self, layout: &Layout, rows: &mut [u32]) {
        for (lane, region) in self.lanes() {
            for extent in layout.slc_extents_of(lane) {
                rows[extent.index()] = region.rows_written(layout, extent);
            }
        }
    }

    /// Whether restored tables can belong to this layout.
    pub fn fits(&self, layout: &Layout) -> bool {
        let lanes = if layout.slc_extents > 0 { layout.lanes as usize } else { 0 };
        let fits = |(lane, l): (Lane, &LaneRegion)| l.fits(layout, &layout.slc_extents_of(lane).collect());
        self.lanes.len() == lanes && self.lanes().all(fits)
    }

    /// Check that each extent is in one state. By extent: `valid` units and `pending` rows. By lane: the extent that is
    /// `collected`.
    pub fn audit(
        &self,
        layout: &Layout,
        valid: &[u32],
        pending: &[u32],
        collected: &[Option<u32>],
    ) -> Result<(), String> {
        law!(self.fits(layout), "an extent of the SLC region is in several states, or of another lane");
        for (lane, region) in self.lanes() {
            let of_lane = collected[lane.index()].map(Extent).filter(|&extent| layout.is_slc(extent));
            let folded = of_lane.unwrap_or(Extent::NONE);
            law!(region.folded == folded, "lane {lane} folds {folded}, and its region {}", region.folded);
            for extent in layout.slc_extents_of(lane) {
                region.audit_extent(extent, valid[extent.index()], pending[extent.index()])?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ftl::config::ExtentKind;

    /// Two lanes of superblocks of two planes, with two extents of two pages in SLC mode after three others.
    fn layout() -> Layout {
        Layout::new(ExtentKind::Superblock, 2, 2, 6, 4096, 4096, 2, vec![3, 2], 1).with_slc(2, 2)
    }

    #[test]
    fn extents_in_slc_mode_follow_the_usable_ones_of_their_lane() {
        let l = layout();
        assert_eq!((l.stride, l.slc_rows, l.extents()), (5, 2, 10));
        let of = |lane| l.slc_extents_of(Lane(lane)).map(|extent| extent.0).collect::<Vec<_>>();
        assert_eq!((of(0), of(1)), (vec![3, 4], vec![7, 8]));
        let slc: Vec<u32> = (0..10).filter(|&extent| l.is_slc(Extent(extent))).collect();
        assert_eq!(slc, [3, 4, 7, 8]);
        assert_eq!((l.page_number_of(Extent(2), 1), l.page_number_of(Extent(3), 1)), (1, 7));
    }

    #[test]
    fn an_extent_goes_from_free_to_full_to_folded_to_free() {
        let l = layout();
        let mut whole = Region::new(&l);
        let region = whole.of_mut(Lane(1));
        let rows = |extent| [0, 1].map(|row| Ppa(extent * l.units_per_extent + row * l.units_per_row));
        let taken: Vec<Ppa> = (0..4).map(|_| region.take_row(&l).expect("it has four rows")).collect();
        assert_eq!(taken, [rows(7), rows(8)].concat());
        assert_eq!((region.take_row(&l), region.free_rows(&l)), (None, 0));
        assert!(region.rows_programmed(&l, Extent(7)) && region.rows_programmed(&l, Extent(8)));
        assert_eq!(region.full().collect::<Vec<_>>(), [Extent(7), Extent(8)]);
        region.begin_fold(Extent(8));
        region.erased();
        assert_eq!((region.full().collect::<Vec<_>>(), region.free_rows(&l)), (vec![Extent(7)], 2));
        assert_eq!(region.take_row(&l), Some(rows(8)[0]));
        // It is not full: a row is not yet taken.
        assert!(!region.rows_programmed(&l, Extent(8)));
        let mut written = vec![0; 10];
        whole.add_rows_written(&l, &mut written);
        assert_eq!(written, [0, 0, 0, 0, 0, 0, 0, 2, 1, 0]);
        assert!(whole.fits(&l) && !whole.is_empty(&l) && whole.of(Lane(0)).free_rows(&l) == 4);
    }
}
