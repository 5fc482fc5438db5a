//! Checks of restored tables, which may contain any bytes.

use super::{CLOSED_TO_COLLECTION, Extents};
use crate::containers::NONE;
use crate::ftl::holes::Holes;
use crate::ftl::layout::Layout;

/// Largest plausible serial number and count of erases.
const MOST_COUNTED: u64 = 1 << 48;

impl Extents {
    /// Whether restored tables can belong to this layout: all sizes agree and no index points
    /// outside.
    pub fn fits(&self, layout: &Layout) -> bool {
        let n = layout.extents() as usize;
        let inside = |e: u32| e == NONE || (e as usize) < n;
        self.valid.len() == n
            && self.closed.len() == n
            && [self.pending_rows.len(), self.links.len()].iter().all(|&len| len == n)
            && self.lanes.len() == layout.lanes as usize
            && self.short.iter().all(|(&e, &rows)| (e as usize) < n && rows <= layout.rows_per_extent)
            && self.retired.iter().all(|&e| (e as usize) < n)
            && self.links.iter().all(|l| l.is_inside(n))
            && self.holes.as_ref().is_none_or(|holes| holes.fits(layout))
            && (0..).zip(&self.valid).all(|(e, v)| {
                let not_freed = v & !CLOSED_TO_COLLECTION;
                (self.units_in_holes(e)..=layout.units_per_extent).contains(&not_freed)
            })
            && self.lanes.iter().all(|l| {
                l.free.is_inside(n)
                    && l.frontiers.iter().all(|f| inside(f.extent) && f.next_row <= layout.rows_per_extent)
            })
            && self.serial <= MOST_COUNTED
            && self.erases <= MOST_COUNTED
    }

    /// Check that restored tables, which fit their layout, have usable free lists and frontiers, and the required
    /// holes. `factory` are the holes of a new drive. `grown`: holes may have been added since.
    ///
    /// # Errors
    /// Says what is wrong.
    pub fn check(&self, layout: &Layout, factory: Option<&Holes>, grown: bool) -> Result<(), String> {
        match (&self.holes, factory) {
            (None, None) => {}
            (Some(_), None) => return Err("its extents have holes, and those of this drive have none".into()),
            (None, Some(_)) => return Err("its extents have no holes, and those of this drive can".into()),
            (Some(own), Some(new)) => {
                let same = if grown { own.has_all(new) } else { own == new };
                law!(same, "its holes are not those of the bad blocks of this drive");
            }
        }
        let mut free = vec![false; layout.extents() as usize];
        for (lane, l) in (0..).zip(&self.lanes) {
            self.check_free(layout, lane, &mut free)?;
            for f in l.frontiers.iter().filter(|f| f.extent != NONE) {
                let (of, index) = layout.lane_of(f.extent);
                let own = of == lane && index < layout.usable[lane as usize];
                law!(own, "lane {lane} writes to extent {}, which it does not have", f.extent);
                let at = self.holes.as_ref().map(|holes| holes.next_row(layout, f.extent, f.next_row));
                law!(at.is_none_or(|at| at == f.next_row), "lane {lane} writes into a hole");
                let open = f.next_row < layout.rows_per_extent;
                law!(!(open && free[f.extent as usize]), "lane {lane} writes to an extent that is free");
            }
        }
        Ok(())
    }

    /// Check the free list of a lane, and mark its extents.
    fn check_free(&self, layout: &Layout, lane: u32, free: &mut [bool]) -> Result<(), String> {
        let l = &self.lanes[lane as usize];
        let (mut rows, mut before) = (0, NONE);
        for extent in l.free.walk(&self.links, "a free list")? {
            let (of, index) = layout.lane_of(extent);
            let own = of == lane && index < layout.usable[lane as usize];
            law!(own, "extent {extent} is free in lane {lane}, which does not have it");
            law!(self.links[extent as usize].previous() == before, "a free list has other links back");
            let more = self.rows_of(layout, extent);
            law!(more > 0, "extent {extent} is free and has no row");
            free[extent as usize] = true;
            (rows, before) = (rows + more, extent);
        }
        law!(rows == l.free_rows, "lane {lane} has {rows} free rows and counts {}", l.free_rows);
        Ok(())
    }

    /// Check that every lane can collect: that it has rows for the data of any victim.
    ///
    /// # Errors
    /// Names the lane that cannot.
    pub fn check_room(&self, layout: &Layout) -> Result<(), String> {
        let most = layout.rows_per_extent - 1;
        for lane in (0..layout.lanes).filter(|&lane| layout.usable[lane as usize] > 0) {
            let left = self.rows_left(layout, lane, super::Writer::Collection);
            law!(left >= most, "lane {lane} has {left} rows for a collection, which may need {most}");
        }
        Ok(())
    }
}
