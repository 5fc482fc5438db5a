//! The sequential fill of a new drive, without the timing model.

use crate::address::Ppa;
use crate::device::drive::Device;
use crate::device::shape::Shape;
use crate::ftl::extents::Writer;
use crate::medium::Medium;
use crate::observer::Observer;

impl Shape {
    /// Number of rows that a fill takes in a lane, from the units of each lane. If the placement `levels` the lanes of a
    /// pool, each gets as many rows as the lane with the most units.
    fn rows_to_fill(&self, levels: bool, lane: u32, by_lane: &[u32]) -> u32 {
        let own = by_lane[lane as usize];
        let pool = self.lanes_of_pool(self.pool_of(lane));
        let most = if levels { by_lane[pool].iter().copied().max().unwrap_or(own) } else { own };
        most.div_ceil(self.layout.units_per_row)
    }
}

impl<O: Observer, M: Medium> Device<O, M> {
    /// Write the first `bytes` of the host's addresses once, in order, at time 0. The
    /// drive must be new.
    pub fn fill(&mut self, bytes: u64) {
        assert_eq!(self.map.state.filled, 0, "a drive is filled once, when new");
        let units = (bytes / self.shape.layout.unit_bytes).min(u64::from(self.shape.layout.host_units));
        let units = self.shape.fill.end(units as u32);
        let by_lane = self.shape.fill.units_by_lane(units);
        if self.shape.holes.is_some() {
            return self.fill_around_holes(&by_lane);
        }
        let levels = self.state.policies.placement.levels();
        for (lane, &units) in (0..).zip(&by_lane) {
            let rows = self.shape.rows_to_fill(levels, lane, &by_lane);
            self.state.extents.fill_lane(&self.shape.layout, lane, units, rows);
            let start = Ppa(lane * self.shape.layout.stride * self.shape.layout.units_per_extent);
            self.map.set_valid_range(start, units);
        }
        self.map.filled(units);
        self.data.filled(&self.map, units);
    }

    /// Fill a drive whose extents have holes. The units of a lane have the same order as in [`Device::fill`], but other
    /// addresses. So each needs an entry in the map, and `filled`, the number of units for which the closed form of the
    /// addresses holds, stays 0.
    fn fill_around_holes(&mut self, by_lane: &[u32]) {
        let upr = self.shape.layout.units_per_row;
        let levels = self.state.policies.placement.levels();
        for (lane, &units) in (0..).zip(by_lane) {
            let rows = self.shape.rows_to_fill(levels, lane, by_lane);
            let (extents, layout) = (&mut self.state.extents, &self.shape.layout);
            let first = Ppa(lane * layout.stride * layout.units_per_extent);
            for row in 0..rows {
                let start = extents
                    .take_row(layout, lane, Writer::Host, 0)
                    .expect("construction proved that the host's data have room");
                let (extent, _) = layout.extent_of(start);
                for at in row * upr..units.min((row + 1) * upr) {
                    let (lpn, ppa) = (self.map.fill.lpn(first + at), start + (at - row * upr));
                    self.map.set_flash(lpn, ppa);
                    self.map.set_owner(ppa, lpn);
                    self.map.set_valid(ppa);
                    extents.gain(extent);
                }
                extents.row_programmed(layout, extent);
            }
        }
        self.data.adopted(&self.shape, &self.map, &self.state);
    }
}
