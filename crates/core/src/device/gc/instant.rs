//! Collections without time or resources (`gc_schedule = "instant"`), as an ideal bound for comparison.

use crate::address::{Lane, Ppa};
use crate::device::drive::Device;
use crate::ftl::open_row::OpenRow;
use crate::medium::Medium;
use crate::observer::Observer;

impl<O: Observer, M: Medium> Device<O, M> {
    /// Collect a lane in zero time, at the end of an event. A lane that needs no space may fold instead.
    pub(in crate::device) fn collect_instantly(&mut self, lane: u32) {
        debug_assert!(
            self.state.gc.collections[lane as usize].instant_pending,
            "no instant collection of lane {lane} is pending"
        );
        self.state.gc.collections[lane as usize].instant_pending = false;
        if self.state.gc.collections[lane as usize].is_active() || self.state.faults.has_given_up(lane) {
            return;
        }
        let wants_space = self.shape.folds.is_none()
            || self.due_extent(lane).is_some()
            || self.state.policies.gc_schedule.start(&self.state.space(&self.shape, &self.flash, lane));
        let for_space = if wants_space { self.pick_victim(lane) } else { None };
        let fold = || self.state.fold_victim(&self.shape, self.flash.host_ops(), Lane(lane)).map(|e| e.0);
        let victim = for_space.or_else(fold);
        if let Some(victim) = victim {
            if self.shape.fixed.may_fail && !self.has_rows_for(lane, victim) {
                return;
            }
            self.begin_collection(lane, victim);
            self.move_instantly(lane, victim);
        }
    }

    /// Move the victim's data in zero time, and erase it as soon as no read of it is outstanding.
    fn move_instantly(&mut self, lane: u32, victim: u32) {
        let units = self.shape.layout.units_per_extent;
        let (mut row, mut rows) = (OpenRow::default(), 0);
        for ppa in Ppa(victim * units).run(units) {
            if !self.map.is_valid(ppa) {
                continue;
            }
            if self.state.faults.is_lost(&self.shape.layout, ppa) && !self.copies().can_compute(ppa) {
                self.leave_unit_behind(ppa);
                continue;
            }
            let (extents, layout) = (&mut self.state.extents, &self.shape.layout);
            if row.is_full() {
                row = OpenRow::new(extents.take_collection_row(layout, lane), layout);
                rows += 1;
            }
            let to = row.fill(extents, layout);
            self.data.copied(ppa, to);
            self.moved(self.map.owner(ppa), ppa, to);
            self.state.gc.count_moved(&self.shape, &mut self.state.counters, lane, 1);
        }
        let rest = row.pad(&mut self.state.extents, &self.shape.layout);
        self.state.counters.programs_pad += u64::from(rest.end - rest.start);
        self.data.padded(rest);
        self.state.write.count_rows(&self.shape, &mut self.state.counters, lane, rows);
        if !self.state.must_drain(Lane(lane)) {
            self.erase_instantly(lane);
        }
    }

    /// Erase the victim of a lane in zero time.
    pub(in crate::device) fn erase_instantly(&mut self, lane: u32) {
        let victim = self.state.gc.collections[lane as usize].victim;
        if !self.state.gc.collections[lane as usize].folds() {
            self.shape.choose_voltage(
                &mut self.flash,
                &self.state.extents,
                &self.state.write.load(&self.shape, &self.state.host),
                victim,
            );
        }
        self.shape.count_erases_of(&mut self.flash, &self.state.extents, victim);
        self.victim_erased(lane);
    }
}
