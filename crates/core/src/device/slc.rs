//! The SLC region: host writes go there first while it has room, and folds empty it.
//!
//! A fold is a collection that moves the valid units of a full extent of the region into the lane's other extents. A
//! lane collects for space before it folds. It folds if the host has been idle for long enough, or if few pages of its
//! region are free.

use super::drive::{Deferred, Device, State};
use super::shape::Shape;
use crate::address::{Extent, Lane, Ppa};
use crate::containers::timers::UNSET;
use crate::ftl::layout::Layout;
use crate::ftl::slc::Region;
use crate::medium::Medium;
use crate::nand::blocks::Blocks;
use crate::observer::Observer;
use serde::{Deserialize, Serialize};

/// The region, and the timer of its folds.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Slc {
    pub region: Region,
    /// When to fold the region if the host is idle, ns.
    pub due_at: u64,
}

/// When a region is folded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FoldRule {
    /// Idle time of the host before a fold, ns.
    pub idle: u64,
    /// A lane folds at once if its region has fewer free rows than this.
    pub rows: u32,
}

impl Slc {
    pub fn new(shape: &Shape) -> Slc {
        Slc { region: Region::new(&shape.layout), due_at: UNSET }
    }

    /// Least and largest number of erases of a block of each extent.
    fn cycles<'a>(
        &'a self,
        layout: &'a Layout,
        blocks: &'a Blocks,
    ) -> impl Iterator<Item = (Extent, u32, u32)> + 'a {
        let extents = self.region.lanes().flat_map(|(lane, _)| layout.slc_extents_of(lane));
        extents.map(move |extent| {
            let (lane, index) = layout.lane_of(extent.0);
            let of_block = |plane| blocks.cycles_at(blocks.place(plane, index)) - blocks.past().cycles;
            let counts = layout.planes_of(lane).map(of_block);
            let (least, most) = counts.fold((u32::MAX, 0), |(least, most), n| (n.min(least), n.max(most)));
            (extent, least, most)
        })
    }

    /// Check that the blocks of an extent have been erased as often as each other, and the extents of each lane as often
    /// as is counted. `erasing`: whether an extent is being erased.
    pub fn audit_cycles(
        &self,
        layout: &Layout,
        blocks: &Blocks,
        erasing: impl Fn(Extent) -> bool,
    ) -> Result<(), String> {
        let (mut cycles, mut under_way) = (0, 0);
        for (extent, least, most) in self.cycles(layout, blocks) {
            let erased = u32::from(erasing(extent));
            law!(
                most - least <= erased,
                "blocks of extent {extent} of the SLC region have {least} to {most} P/E cycles"
            );
            (cycles, under_way) = (cycles + u64::from(least), under_way + u64::from(erased));
        }
        let erases: u64 = self.region.lanes().map(|(_, region)| region.erases()).sum();
        law!(
            (erases..=erases + under_way).contains(&cycles),
            "P/E counts of the SLC region add up to {cycles}, erases to {erases}"
        );
        Ok(())
    }
}

impl State {
    /// Take a row of a lane's region for the host, if it has one.
    #[cold]
    pub fn take_slc_row(&mut self, layout: &Layout, lane: Lane) -> Option<Ppa> {
        let ppa = self.slc.region.of_mut(lane).take_row(layout)?;
        self.extents.slc_row_taken(Extent(layout.extent_of(ppa).0));
        Some(ppa)
    }

    /// Count a row of an extent as programmed. `host`: mapping units of it for the host.
    #[inline]
    pub fn row_programmed(&mut self, shape: &Shape, extent: Extent, host: u32) {
        match shape.folds {
            Some(rule) if shape.layout.is_slc(extent) => {
                self.slc_row_programmed(&shape.layout, rule, extent, host);
            }
            _ => self.extents.row_programmed(&shape.layout, extent.0),
        }
    }

    /// The same for an extent of the region.
    #[cold]
    fn slc_row_programmed(&mut self, layout: &Layout, rule: FoldRule, extent: Extent, host: u32) {
        let Some(lane) = layout.slc_lane_of(extent) else { return };
        self.counters.slc_programs += u64::from(host);
        self.counters.slc_pads += u64::from(layout.units_per_row - host);
        if self.extents.slc_row_programmed(extent)
            && self.slc.region.of_mut(lane).rows_programmed(layout, extent)
        {
            self.await_idle(rule);
        }
    }

    /// Note the erase of an extent of a lane after its fold.
    #[cold]
    pub fn folded(&mut self, rule: FoldRule, lane: Lane) {
        self.counters.slc_erases += 1;
        self.slc.region.of_mut(lane).erased();
        self.await_idle(rule);
    }

    /// Set the timer to the time at which the host may have been idle for long enough.
    fn await_idle(&mut self, rule: FoldRule) {
        if self.slc.due_at == UNSET && self.has_full() {
            self.slc.due_at = self.now + rule.idle;
            self.set_rare_timer();
        }
    }

    fn has_full(&self) -> bool {
        self.slc.region.lanes().any(|(_, region)| region.full().next().is_some())
    }

    /// When the host will have been idle for long enough; `None` while it is not. `host_ops`: operations of the host at
    /// the flash.
    fn idle_from(&self, rule: FoldRule, host_ops: u32) -> Option<u64> {
        let busy = host_ops > 0 || self.host.requests.used() > 0;
        (!busy).then_some(self.scrub.host_ended + rule.idle)
    }

    /// Handle the timer of folding. Returns whether all lanes may fold now. The end of each fold then begins the next.
    pub fn may_fold(&mut self, rule: FoldRule, host_ops: u32) -> bool {
        let from = self.idle_from(rule, host_ops).unwrap_or(self.now + rule.idle);
        if from > self.now && self.has_full() {
            self.slc.due_at = from;
        }
        from <= self.now
    }

    /// Whether full extents of a lane's region are to be folded now.
    pub fn wants_fold(&self, layout: &Layout, rule: FoldRule, host_ops: u32, lane: Lane) -> bool {
        let region = self.slc.region.of(lane);
        region.full().next().is_some()
            && (region.free_rows(layout) < rule.rows
                || self.idle_from(rule, host_ops).is_some_and(|from| from <= self.now))
    }

    /// The full extent of a lane's region to fold now: the one with the fewest valid units. `None` if no fold is due,
    /// or if the lane's other extents lack room, because a fold may open one and frees none.
    pub fn fold_victim(&self, shape: &Shape, host_ops: u32, lane: Lane) -> Option<Extent> {
        let layout = &shape.layout;
        let fits = self.extents.free(layout, lane.0) >= shape.reserve;
        if !fits || !self.wants_fold(layout, shape.folds?, host_ops, lane) {
            return None;
        }
        self.slc.region.of(lane).full().min_by_key(|extent| self.extents.valid(extent.0))
    }

    /// Make an instant collection of a lane at the end of this event.
    pub fn collect_soon(&mut self, lane: Lane) {
        if !std::mem::replace(&mut self.gc.collections[lane.index()].instant_pending, true) {
            self.deferred.push(Deferred::Collect { lane: lane.0 });
        }
    }

    /// By extent, the row up to which it is written.
    pub fn rows_written(&self, layout: &Layout) -> Vec<u32> {
        let mut rows = self.extents.rows_written(layout);
        self.slc.region.add_rows_written(layout, &mut rows);
        rows
    }
}

impl<O: Observer, M: Medium> Device<O, M> {
    /// Begin a fold in a lane without a collection, if one is due. Returns whether the lane folds now or at the end of
    /// the event.
    #[cold]
    pub(super) fn fold(&mut self, lane: Lane) -> bool {
        let Some(victim) = self.state.fold_victim(&self.shape, self.flash.host_ops(), lane) else {
            return false;
        };
        if self.state.gc.scope_is_taken(&self.shape, lane.0) {
            self.state.gc.set_waiting(&self.shape, &mut self.flash, lane.0, true);
        } else if self.shape.fixed.collects_instantly {
            self.state.collect_soon(lane);
        } else {
            self.begin_collection(lane.0, victim.0);
            self.state.gc.close_scope(&self.shape, &mut self.flash, &mut self.state.deferred, lane.0, true);
            self.pump_collection(lane.0);
        }
        true
    }

    /// Mean and largest number of erases of a block of the region; `None` without one.
    pub fn slc_wear(&self) -> Option<(f64, u32)> {
        self.shape.folds?;
        let cycles = self.state.slc.cycles(&self.shape.layout, self.flash.blocks());
        let (sum, count, most) = cycles.fold((0, 0, 0), |(sum, count, max), (_, least, most)| {
            (sum + u64::from(least), count + 1, most.max(max))
        });
        Some((sum as f64 / f64::from(count), most))
    }
}
