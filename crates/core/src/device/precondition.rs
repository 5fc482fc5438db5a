//! The drive's past, made without replaying it.

use super::drive::Device;
use super::observer::Observer;

impl<O: Observer> Device<O> {
    /// Write the first `bytes` of the host's addresses once, in order, at time 0.
    pub fn fill(&mut self, bytes: u64) {
        let units = (bytes / self.shape.layout.unit_bytes) as u32;
        for (lane, units) in self.shape.fill.units_by_lane(units).into_iter().enumerate() {
            let lane = lane as u32;
            self.state.extents.fill_lane(&self.shape.layout, lane, units);
            let start = lane * self.shape.layout.stride * self.shape.layout.units_per_extent;
            self.map.set_valid_range(start, units);
        }
        self.map.state.filled = units;
    }
}
