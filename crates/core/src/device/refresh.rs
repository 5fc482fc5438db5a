//! Refreshing: extents with a high retention age are collected, regardless of their stale units.

use super::drive::Device;
use crate::containers::NONE;
use crate::containers::timers::UNSET;
use crate::device::drive::State;
use crate::device::faults::state::FaultState;
use crate::device::shape::Shape;
use crate::ftl::extents::Extents;
use crate::ftl::layout::Layout;
use crate::medium::Medium;
use crate::nand::blocks::Blocks;
use crate::observer::Observer;
use crate::policy::background::Refreshing;
use serde::{Deserialize, Serialize};

/// The extents to refresh, and when the next are chosen.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Refresh {
    after: u64,
    pause: u64,
    /// By lane: the extent to collect next, or `NONE`. Empty without refreshing.
    chosen: Vec<u32>,
    /// By lane: the index at which the search for an old extent continues.
    cursor: Vec<u32>,
    /// When extents are chosen again, ns.
    pub due_at: u64,
}

impl Refresh {
    /// Create the state of refreshing. Without refreshing it takes no memory.
    pub fn new(refreshing: Option<Refreshing>, lanes: u32) -> Refresh {
        let Some(Refreshing { after, pause }) = refreshing else {
            return Refresh { after: 0, pause: 0, chosen: Vec::new(), cursor: Vec::new(), due_at: UNSET };
        };
        let lanes = lanes as usize;
        Refresh {
            after: after.0,
            pause: pause.0,
            chosen: vec![NONE; lanes],
            cursor: vec![0; lanes],
            due_at: pause.0,
        }
    }

    /// The extent of a lane to refresh, if there is room for its data.
    #[cold]
    pub(super) fn old_in(&self, shape: &Shape, extents: &Extents, lane: u32) -> Option<u32> {
        let extent = self.chosen[lane as usize];
        let fits = extents.free(&shape.layout, lane) > shape.reserve;
        (extent != NONE && fits && extents.is_closed(extent)).then_some(extent)
    }

    /// Whether the data of a block of an extent are old. Holes and dead planes are skipped, because their data cannot
    /// be rewritten.
    fn is_old(
        &self,
        layout: &Layout,
        extents: &Extents,
        faults: &FaultState,
        blocks: &Blocks,
        now: u64,
        extent: u32,
    ) -> bool {
        let (lane, index) = layout.lane_of(extent);
        let holds = |&part: &u32| !faults.is_gap(layout, extents, extent, lane, part);
        let old = |plane| blocks.has(plane, index) && blocks.age(plane, index, now) >= self.after;
        (0..layout.parts).filter(holds).flat_map(|part| layout.planes_of_part(lane, part)).any(old)
    }

    /// The next full extent of a lane whose data are old, or `NONE`.
    fn next_old(
        &mut self,
        layout: &Layout,
        extents: &Extents,
        faults: &FaultState,
        blocks: &Blocks,
        now: u64,
        lane: u32,
    ) -> u32 {
        let start = self.cursor[lane as usize];
        for step in 0..layout.stride {
            let index = (start + step) % layout.stride;
            let extent = lane * layout.stride + index;
            if extents.is_closed(extent) && self.is_old(layout, extents, faults, blocks, now, extent) {
                self.cursor[lane as usize] = (index + 1) % layout.stride;
                return extent;
            }
        }
        NONE
    }
}

impl State {
    /// Note that an extent is being collected. Returns whether it had been chosen for refreshing; another one is then
    /// chosen after the pause.
    #[cold]
    pub(super) fn leaves_refresh(&mut self, lane: u32, extent: u32) -> bool {
        let r = &mut self.refresh;
        if r.chosen[lane as usize] != extent {
            return false;
        }
        r.chosen[lane as usize] = NONE;
        if r.due_at == UNSET {
            r.due_at = self.now + r.pause;
            self.set_rare_timer();
        }
        true
    }
}

impl<O: Observer, M: Medium> Device<O, M> {
    /// Handle the timer of refreshing: choose an old extent in each lane without one. It is collected as soon as there
    /// is room for its data.
    pub(super) fn refresh_timer(&mut self) {
        for lane in 0..self.shape.layout.lanes {
            if self.state.refresh.chosen[lane as usize] == NONE {
                let extent = self.state.refresh.next_old(
                    &self.shape.layout,
                    &self.state.extents,
                    &self.state.faults,
                    self.flash.blocks(),
                    self.state.now,
                    lane,
                );
                self.state.refresh.chosen[lane as usize] = extent;
                if extent != NONE {
                    self.check_collection(lane);
                }
            }
        }
    }
}
