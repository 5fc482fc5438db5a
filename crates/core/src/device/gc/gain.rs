//! Collections that gain nothing: the valid units of a victim take as many rows as it gives back. Victims have stale
//! units, so this happens only where copybacks or programs fail: such a move takes more than one row. A lane
//! whose collections go on like this would collect for ever.

use crate::device::drive::Device;
use crate::device::medium::Medium;
use crate::observer::Observer;
use crate::policy::gc_schedule::SpaceView;
use serde::{Deserialize, Serialize};

/// What the collections of a lane have gained lately.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::device) struct Gain {
    /// Rows that the collection under way has taken.
    pub taken: u32,
    /// Collections for space, one after another, that gained nothing.
    vain: u32,
    /// What the lane held when the last of these ended.
    held: Held,
}

/// What a lane holds. If nothing of it changes, nothing is gained next time either.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Held {
    /// Rows programmed so far.
    rows: u64,
    /// Valid units.
    valid: u64,
}

impl<O: Observer, M: Medium> Device<O, M> {
    /// Note what the collection for space has gained that ends with the erase of this victim.
    #[inline(never)]
    pub(super) fn note_gain(&mut self, lane: u32, victim: u32) {
        let layout = &self.shape.layout;
        let held = self.held(lane);
        let s = &mut self.state;
        let rows = (layout.units_per_extent - s.extents.units_in_holes(victim)) / layout.units_per_row;
        let gain = &mut s.gc.collections[lane as usize].gain;
        if gain.taken < rows {
            gain.vain = 0;
        } else {
            (gain.vain, gain.held) = (gain.vain + 1, held);
        }
    }

    /// Whether the collections of a lane that is short of space would gain nothing: as many as the lane has extents
    /// have not, one after another, and it holds what it held after the last one. If host data have no room in it
    /// either, the lane is full.
    #[inline]
    pub(super) fn gains_nothing(&mut self, lane: u32, view: &SpaceView) -> bool {
        let gain = self.state.gc.collections[lane as usize].gain;
        let vain = gain.vain >= view.extents && gain.held == self.held(lane);
        if vain && self.state.extents.free(&self.shape.layout, lane) <= self.shape.reserve {
            self.lane_is_full(lane);
        }
        vain
    }

    fn held(&self, lane: u32) -> Held {
        let (s, layout) = (&self.state, &self.shape.layout);
        let extents = lane * layout.stride..(lane + 1) * layout.stride;
        Held {
            rows: s.parity.programs.lanes()[lane as usize],
            valid: extents.map(|extent| u64::from(s.extents.valid(extent))).sum(),
        }
    }
}
