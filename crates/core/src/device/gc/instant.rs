//! Collections that take no time and no resource: the bound that others are compared with.

use crate::containers::NONE;
use crate::device::drive::Device;
use crate::device::medium::Medium;
use crate::ftl::extents::Writer;
use crate::observer::Observer;

impl<O: Observer, M: Medium> Device<O, M> {
    /// Collect in no time, now that the event is over.
    pub(in crate::device) fn collect_instantly(&mut self, lane: u32) {
        self.state.gc.collections[lane as usize].due = false;
        if !self.state.gc.collections[lane as usize].is_active() && !self.has_failed(lane) {
            self.collect_a_victim(lane);
        }
    }

    /// Move the victim's data at once, and erase it as soon as nobody reads it.
    pub(in crate::device) fn move_instantly(&mut self, lane: u32, victim: u32) {
        let (units, upr) = (self.shape.layout.units_per_extent, self.shape.layout.units_per_row);
        let (mut row, mut used, mut rows) = (NONE, upr, 0);
        for pua in victim * units..(victim + 1) * units {
            if !self.map.is_valid(pua) {
                continue;
            }
            if used == upr {
                self.end_instant_row(row);
                let taken = self.state.extents.take_row(&self.shape.layout, lane, Writer::Collection, 0);
                row = taken.expect("host data always leave an extent to collect into");
                (used, rows) = (0, rows + 1);
            }
            self.data_copied(pua, row + used);
            self.moved(self.map.owner(pua), pua, row + used);
            self.state.counters.programs_gc += 1;
            used += 1;
        }
        self.end_instant_row(row);
        if row != NONE {
            self.data_padded(row + used..row + upr);
        }
        self.count_rows(lane, rows);
        self.state.counters.programs_pad += u64::from(upr - used);
        self.all_moved(lane);
    }

    fn end_instant_row(&mut self, row: u32) {
        if row != NONE {
            let (extent, _) = self.shape.layout.extent_of(row);
            self.state.extents.row_programmed(&self.shape.layout, extent);
        }
    }
}
