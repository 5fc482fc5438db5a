//! The invariants of extents, checked on demand.

use super::{CLOSED_TO_COLLECTION, Extents};
use crate::address::Extent;
use crate::containers::NONE;
use crate::ftl::layout::Layout;

/// The state of other parts, with which the extents must agree.
pub struct AuditView<'a> {
    /// By extent: valid units according to the map.
    pub valid: &'a [u32],
    /// By extent: allocated rows whose programs have not ended.
    pub pending_rows: &'a [u32],
    /// By extent: flash reads not yet sensed.
    pub readers: &'a [u32],
    /// By lane: the extent that is being collected.
    pub collected: &'a [Option<u32>],
}

impl Extents {
    /// Check that the counts by extent agree with `seen`, and that every usable extent is in
    /// exactly one state.
    pub fn audit(&self, layout: &Layout, seen: &AuditView<'_>) -> Result<(), String> {
        let extents = layout.extents() as usize;
        law!(self.valid.len() == extents, "{} extents of {extents}", self.valid.len());
        let mut free = vec![false; extents];
        for (lane, l) in (0..).zip(&self.lanes) {
            let mut rows = 0;
            for extent in l.free.walk(&self.links, "a free list")? {
                let (of, index) = layout.lane_of(extent);
                law!(of == lane, "extent {extent} is free in lane {lane} and lies in lane {of}");
                law!(index < layout.usable[lane as usize], "extent {extent} is free and not usable");
                law!(!free[extent as usize], "extent {extent} is free twice");
                free[extent as usize] = true;
                rows += self.rows_of(layout, extent);
            }
            law!(rows == l.free_rows, "lane {lane} has {rows} free rows and counts {}", l.free_rows);
            for f in l.frontiers.iter().filter(|f| f.extent != NONE) {
                let of = layout.lane_of(f.extent).0;
                law!(of == lane, "lane {lane} writes to extent {} of lane {of}", f.extent);
            }
        }
        for extent in 0..layout.extents() {
            self.audit_extent(layout, extent, free[extent as usize], seen)?;
        }
        Ok(())
    }

    fn audit_extent(
        &self,
        layout: &Layout,
        extent: u32,
        free: bool,
        seen: &AuditView<'_>,
    ) -> Result<(), String> {
        let x = extent as usize;
        let (count, bits) = (self.valid(extent), seen.valid[x]);
        law!(bits == count, "extent {extent} counts {count} valid units and has {bits}");
        let pending = self.pending_rows[x];
        let (rows, reads) = (seen.pending_rows[x], seen.readers[x]);
        law!(rows == pending, "extent {extent}: {rows} rows under way, {pending} pending");
        let (lane, index) = layout.lane_of(extent);
        if layout.is_slc(Extent(extent)) {
            law!(!self.is_closed(extent), "extent {extent} is in SLC mode and open to collection");
            return Ok(());
        }
        if index >= layout.usable[lane as usize] {
            let collectable = self.is_closed(extent);
            law!(count == 0 && pending == 0 && !collectable, "extent {extent} is not usable and in use");
            return Ok(());
        }
        let frontiers = &self.lanes[lane as usize].frontiers;
        let full = layout.rows_per_extent;
        let open = frontiers.iter().filter(|f| f.extent == extent && f.next_row < full).count();
        let collected = seen.collected[lane as usize] == Some(extent);
        let filling = open == 0 && pending > 0;
        let closed = self.valid[x] & CLOSED_TO_COLLECTION == 0;
        let retired = self.retired.contains(&extent);
        let states = [free, open > 0, collected, filling, closed, retired];
        law!(
            states.into_iter().filter(|&state| state).count() == 1 && open <= 1,
            "extent {extent}: free {free}, open {open}, collected {collected}, filling {filling}, closed {closed}, retired {retired}"
        );
        law!(!free || self.rows_of(layout, extent) > 0, "free extent {extent} has no row");
        law!(!retired || count == 0, "retired extent {extent} has {count} valid units");
        law!(!free || count == 0, "free extent {extent} has {count} valid units");
        law!(!free || reads == 0, "free extent {extent} is being read");
        law!(self.closed[x] <= self.serial, "extent {extent} was closed with a serial number not yet given");
        Ok(())
    }

    /// Check that no row is pending, in an idle drive.
    pub fn audit_rest(&self) -> Result<(), String> {
        law!(self.pending_rows.iter().all(|&n| n == 0), "rows pending in an idle drive");
        Ok(())
    }
}
