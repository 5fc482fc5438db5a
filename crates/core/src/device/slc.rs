//! The SLC region: writes of the host go there first, as long as it has room, and folds empty it.
//!
//! A fold is a collection whose victim is a full extent of the region and whose rows are those of the lane's other
//! extents. Only what is still valid moves. A lane collects for space before it folds. It folds if the host has been
//! idle for long enough, or if few of its region's pages are free.

use super::drive::Device;
use super::shape::Shape;
use crate::containers::timers::UNSET;
use crate::ftl::slc::Region;
use crate::medium::Medium;
use crate::observer::Observer;
use serde::{Deserialize, Serialize};
use tailcut_units::Occupant;

/// The region, and when its folds are looked for.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Slc {
    pub region: Region,
    /// When the region is to be folded if the host is idle, ns.
    pub due_at: u64,
}

impl Slc {
    pub fn new(shape: &Shape) -> Slc {
        Slc { region: Region::new(&shape.layout), due_at: UNSET }
    }
}

/// When a region is folded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FoldRule {
    /// How long there must have been no host command, ns.
    pub idle: u64,
    /// Fold at once if a lane's region has fewer free rows.
    pub rows: u32,
}

impl<O: Observer, M: Medium> Device<O, M> {
    /// Take a row of a lane's region for a host write unit and queue its program. Returns false if the region is full.
    #[cold]
    pub(super) fn program_in_region(&mut self, write_unit: u32, lane: u32) -> bool {
        let s = &mut self.state;
        let Some(ppa) = s.slc.region.take_row(&self.shape.layout, lane) else { return false };
        s.extents.slc_row_taken(self.shape.layout.extent_of(ppa).0);
        s.write.units[write_unit].lane = lane;
        s.write.lane_load[lane as usize].begin();
        s.write.lane_written[lane as usize] += 1;
        self.queue_host_program(write_unit, ppa, Occupant::UserProgram);
        true
    }

    /// Count a row of an extent as programmed. `host`: mapping units of it for the host.
    #[inline]
    pub(super) fn row_programmed(&mut self, extent: u32, host: u32) {
        if self.fixed.folds.is_some() && self.shape.layout.is_slc(extent) {
            return self.slc_row_programmed(extent, host);
        }
        self.state.extents.row_programmed(&self.shape.layout, extent);
    }

    #[cold]
    fn slc_row_programmed(&mut self, extent: u32, host: u32) {
        let s = &mut self.state;
        s.counters.slc_programs += u64::from(host);
        if s.extents.slc_row_programmed(extent) && s.slc.region.rows_programmed(&self.shape.layout, extent) {
            self.await_idle();
        }
    }

    /// Look for folds when the host may have been idle for long enough.
    fn await_idle(&mut self) {
        let Some(rule) = self.fixed.folds else { return };
        let s = &mut self.state;
        if s.slc.due_at == UNSET && s.slc.region.has_full() {
            s.slc.due_at = s.now + rule.idle;
            self.set_rare_timer();
        }
    }

    /// When the host will have been idle for long enough; `None` while it is not.
    fn idle_from(&self, rule: FoldRule) -> Option<u64> {
        let busy = self.flash.host_ops() > 0 || self.state.host.requests.used() > 0;
        (!busy).then_some(self.state.scrub.host_ended + rule.idle)
    }

    /// Handle the timer: if the host has been idle for long enough, fold in each lane.
    pub(super) fn fold_timer(&mut self) {
        let Some(rule) = self.fixed.folds else { return };
        if !self.state.slc.region.has_full() {
            return;
        }
        let now = self.state.now;
        match self.idle_from(rule) {
            // Each fold that ends begins the next.
            Some(from) if from <= now => (0..self.shape.layout.lanes).for_each(|l| self.check_collection(l)),
            Some(from) => self.state.slc.due_at = from,
            None => self.state.slc.due_at = now + rule.idle,
        }
    }

    /// Whether full extents of a lane's region are to be folded now.
    pub(super) fn wants_fold(&self, lane: u32) -> bool {
        let Some(rule) = self.fixed.folds else { return false };
        let region = &self.state.slc.region;
        region.full_extents(lane).next().is_some()
            && (region.free_rows(&self.shape.layout, lane) < rule.rows
                || self.idle_from(rule).is_some_and(|from| from <= self.state.now))
    }

    /// The full extent of a lane's region to fold now: that with the fewest valid units. `None` if none is to be, or if
    /// other extents lack room: a fold may open one, and wins none.
    pub(super) fn fold_victim(&self, lane: u32) -> Option<u32> {
        let s = &self.state;
        if !self.wants_fold(lane) || s.extents.free(&self.shape.layout, lane) < self.shape.reserve {
            return None;
        }
        s.slc.region.full_extents(lane).min_by_key(|&extent| s.extents.valid(extent))
    }

    /// Begin a fold in a lane that does not collect, if one is to begin. Returns whether the lane folds or is going to.
    #[cold]
    pub(super) fn fold(&mut self, lane: u32) -> bool {
        let Some(victim) = self.fold_victim(lane) else { return false };
        if self.scope_is_taken(lane) {
            self.set_waiting(lane, true);
            return true;
        }
        if self.fixed.collects_instantly {
            self.collect_soon(lane);
            return true;
        }
        self.begin_collection(lane, victim);
        self.close_scope(lane, true);
        self.pump_collection(lane);
        true
    }

    /// An extent that was folded is erased.
    #[cold]
    pub(super) fn folded(&mut self, lane: u32, extent: u32) {
        let s = &mut self.state;
        s.counters.slc_erases += 1;
        s.slc.region.erased(lane);
        if self.fixed.may_fail {
            self.readable_again(extent);
        }
        self.data_erased(extent);
        self.await_idle();
    }

    /// By extent, the row up to which it is written.
    pub(super) fn rows_written(&self) -> Vec<u32> {
        let layout = &self.shape.layout;
        let mut rows = self.state.extents.rows_written(layout);
        self.state.slc.region.add_rows_written(layout, &mut rows);
        rows
    }

    /// Mean and largest number of erases of a block of the region; `None` without one.
    pub fn slc_wear(&self) -> Option<(f64, u32)> {
        self.fixed.folds?;
        let (layout, blocks) = (&self.shape.layout, self.flash.blocks());
        let (mut sum, mut count, mut most) = (0u64, 0u64, 0);
        for extent in (0..layout.lanes).flat_map(|lane| layout.slc_extents_of(lane)) {
            let (lane, index) = layout.lane_of(extent);
            for plane in layout.planes_of(lane) {
                let cycles = blocks.cycles_at(blocks.place(plane, index)) - blocks.past().cycles;
                (sum, count, most) = (sum + u64::from(cycles), count + 1, most.max(cycles));
            }
        }
        Some((sum as f64 / count.max(1) as f64, most))
    }
}
