//! The extents in SLC mode: which are free, open, full or being folded.
//!
//! Their valid units, pending rows and readers are counted in [`super::extents`], as those of all extents.

use super::layout::Layout;
use crate::address::Ppa;
use crate::containers::NONE;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// The region of one lane.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Lane {
    free: VecDeque<u32>,
    /// The extent that is written, or `NONE`, and its next row.
    open: u32,
    next_row: u32,
    /// Extents that are wholly programmed, the oldest first.
    full: VecDeque<u32>,
    /// The extent that is being folded, or `NONE`.
    folded: u32,
}

/// The SLC region of a drive, lane by lane. It has no lane on a drive without one.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Region {
    lanes: Vec<Lane>,
    /// Number of full extents.
    full: u32,
    /// Extents erased since the drive was made.
    pub erases: u64,
}

impl Region {
    /// The region of a new drive: all free.
    pub fn new(layout: &Layout) -> Region {
        let lane = |lane| Lane {
            free: layout.slc_extents_of(lane).collect(),
            open: NONE,
            next_row: 0,
            full: VecDeque::with_capacity(layout.slc_extents as usize),
            folded: NONE,
        };
        let lanes = if layout.slc_extents > 0 { layout.lanes } else { 0 };
        Region { lanes: (0..lanes).map(lane).collect(), full: 0, erases: 0 }
    }

    /// Take the next row of a lane's region, if it has one.
    pub fn take_row(&mut self, layout: &Layout, lane: u32) -> Option<Ppa> {
        let l = &mut self.lanes[lane as usize];
        if l.open == NONE || l.next_row == layout.slc_rows {
            (l.open, l.next_row) = (l.free.pop_front()?, 0);
        }
        let ppa = Ppa(l.open * layout.units_per_extent + l.next_row * layout.units_per_row);
        l.next_row += 1;
        Some(ppa)
    }

    /// All rows taken of an extent are programmed. Returns whether it is full now.
    pub fn rows_programmed(&mut self, layout: &Layout, extent: u32) -> bool {
        let l = &mut self.lanes[layout.lane_of(extent).0 as usize];
        if l.open == extent && l.next_row < layout.slc_rows {
            return false;
        }
        if l.open == extent {
            l.open = NONE;
        }
        l.full.push_back(extent);
        self.full += 1;
        true
    }

    /// Rows of a lane's region that are free.
    pub fn free_rows(&self, layout: &Layout, lane: u32) -> u32 {
        let l = &self.lanes[lane as usize];
        let open = if l.open == NONE { 0 } else { layout.slc_rows - l.next_row };
        l.free.len() as u32 * layout.slc_rows + open
    }

    /// The full extents of a lane, the oldest first.
    pub fn full_extents(&self, lane: u32) -> impl Iterator<Item = u32> + '_ {
        self.lanes[lane as usize].full.iter().copied()
    }

    /// Whether an extent is full.
    pub fn has_full(&self) -> bool {
        self.full > 0
    }

    /// Free extents of all lanes.
    pub fn free_extents(&self) -> u64 {
        self.lanes.iter().map(|l| l.free.len() as u64).sum()
    }

    /// Begin to fold a full extent of a lane.
    pub fn begin_fold(&mut self, lane: u32, extent: u32) {
        let l = &mut self.lanes[lane as usize];
        debug_assert!(l.folded == NONE && l.full.contains(&extent));
        l.full.retain(|&other| other != extent);
        l.folded = extent;
        self.full -= 1;
    }

    /// The extent of a lane that was folded is erased.
    pub fn erased(&mut self, lane: u32) {
        let l = &mut self.lanes[lane as usize];
        let extent = std::mem::replace(&mut l.folded, NONE);
        debug_assert_ne!(extent, NONE);
        l.free.push_back(extent);
        self.erases += 1;
    }

    /// Whether nothing was written since all was erased.
    pub fn is_empty(&self, layout: &Layout) -> bool {
        self.lanes.iter().all(|l| l.free.len() == layout.slc_extents as usize)
    }

    /// Add, by extent, the row up to which it is written.
    pub fn add_rows_written(&self, layout: &Layout, rows: &mut [u32]) {
        for (lane, l) in (0..).zip(&self.lanes) {
            for extent in layout.slc_extents_of(lane) {
                let is_free = l.free.contains(&extent);
                rows[extent as usize] = match extent == l.open {
                    true => l.next_row,
                    false if is_free => 0,
                    false => layout.slc_rows,
                };
            }
        }
    }

    /// Whether restored tables can belong to this layout: each extent of each lane is at one place.
    pub fn fits(&self, layout: &Layout) -> bool {
        let lanes = if layout.slc_extents > 0 { layout.lanes as usize } else { 0 };
        let full: usize = self.lanes.iter().map(|l| l.full.len()).sum();
        self.lanes.len() == lanes
            && full as u64 == u64::from(self.full)
            && self.erases <= 1 << 48
            && (0..).zip(&self.lanes).all(|(lane, l)| {
                let own = layout.slc_extents_of(lane);
                let single = [l.open, l.folded].into_iter().filter(|&extent| extent != NONE);
                let listed: Vec<u32> = l.free.iter().chain(&l.full).copied().chain(single).collect();
                let distinct: std::collections::BTreeSet<u32> = listed.iter().copied().collect();
                listed.iter().all(|extent| own.contains(extent))
                    && distinct.len() == listed.len()
                    && l.next_row <= layout.slc_rows
            })
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
        for (lane, l) in (0..).zip(&self.lanes) {
            let folded = collected[lane as usize].filter(|&extent| layout.is_slc(extent)).unwrap_or(NONE);
            law!(l.folded == folded, "lane {lane} folds extent {folded}, and its region {}", l.folded);
            for extent in layout.slc_extents_of(lane) {
                let (x, free, full) = (extent as usize, l.free.contains(&extent), l.full.contains(&extent));
                law!(!free || valid[x] == 0, "free extent {extent} has {} valid units", valid[x]);
                law!(
                    pending[x] == 0 || !(free || full || extent == l.folded),
                    "extent {extent} of the SLC region has {} rows under way",
                    pending[x]
                );
                let filling = !free && !full && extent != l.folded && extent != l.open;
                law!(!filling || pending[x] > 0, "extent {extent} of the SLC region is in no state");
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
        assert_eq!((l.slc_extents_of(0), l.slc_extents_of(1)), (3..5, 7..9));
        let slc: Vec<u32> = (0..10).filter(|&extent| l.is_slc(extent)).collect();
        assert_eq!(slc, [3, 4, 7, 8]);
        assert_eq!((l.page_number_of(2, 1), l.page_number_of(3, 1)), (1, 7));
    }

    #[test]
    fn an_extent_goes_from_free_to_full_to_folded_to_free() {
        let l = layout();
        let mut region = Region::new(&l);
        let rows = |extent| [0, 1].map(|row| Ppa(extent * l.units_per_extent + row * l.units_per_row));
        let taken: Vec<Ppa> = (0..4).map(|_| region.take_row(&l, 1).expect("it has four rows")).collect();
        assert_eq!(taken, [rows(7), rows(8)].concat());
        assert_eq!((region.take_row(&l, 1), region.free_rows(&l, 1), region.free_rows(&l, 0)), (None, 0, 4));
        assert!(region.rows_programmed(&l, 7) && region.rows_programmed(&l, 8));
        assert_eq!(region.full_extents(1).collect::<Vec<_>>(), [7, 8]);
        region.begin_fold(1, 8);
        region.erased(1);
        assert_eq!((region.full_extents(1).collect::<Vec<_>>(), region.free_rows(&l, 1)), (vec![7], 2));
        assert_eq!(region.take_row(&l, 1), Some(rows(8)[0]));
        // It is not full: a row is not yet taken.
        assert!(!region.rows_programmed(&l, 8));
        let mut written = vec![0; 10];
        region.add_rows_written(&l, &mut written);
        assert_eq!(written, [0, 0, 0, 0, 0, 0, 0, 2, 1, 0]);
        assert!(region.fits(&l) && !region.is_empty(&l) && region.has_full());
    }
}
