//! Failed programs. Their units are programmed again in another row: from the buffer, from the controller's copies, or
//! (copyback) from their source. No further row of the extent is used, and the extent is emptied next.

use crate::address::Ppa;
use crate::containers::NONE;
use crate::device::copies::Copies;
use crate::device::drive::Deferred;
use crate::device::drive::Device;
use crate::device::faults::state::FaultState;
use crate::device::write::room::charge_stall;
use crate::flash::Flash;
use crate::flash::OpId;
use crate::ftl::extents::Writer;
use crate::medium::Medium;
use crate::observer::{Observer, WriteStep};
use tailcut_units::{Occupant, ReadOnlyReason};

impl Copies<'_> {
    /// Number of valid units of an extent that its collection moves. It drops units that can neither be read nor
    /// computed.
    fn units_kept(&self, extent: u32) -> u32 {
        if !self.faults.some_lost {
            return self.extents.valid(extent);
        }
        let each = self.shape.layout.units_per_extent;
        let kept = |&ppa: &Ppa| {
            self.map.is_valid(ppa) && (!self.faults.is_lost(&self.shape.layout, ppa) || self.can_compute(ppa))
        };
        Ppa(extent * each).run(each).filter(kept).count() as u32
    }

    /// The kind of work that programs a member of a stripe.
    fn occupant_of_member(&self, write_unit: u32) -> Occupant {
        let (_, source) = self.write.members[write_unit as usize];
        let parity = self.parity.stripes.members[source.member()].slot == NONE;
        if parity { Occupant::ParityProgram } else { Occupant::UserProgram }
    }
}

impl FaultState {
    /// Make the drive read-only, because collections of a lane find no free row or free none.
    pub(in crate::device) fn lane_is_full<O: Observer>(
        &mut self,
        flash: &mut Flash<O>,
        deferred: &mut Vec<Deferred>,
        now: u64,
        lane: u32,
    ) {
        self.full.insert(lane);
        self.become_read_only(flash, deferred, now, ReadOnlyReason::NoFreeRow);
    }
}

impl<O: Observer, M: Medium> Device<O, M> {
    /// Handle a row of a write unit after its last program has ended, if one of its programs has failed. All of its
    /// units are programmed again.
    #[cold]
    pub(in crate::device) fn program_failed(&mut self, op: OpId, write_unit: u32) {
        let o = self.flash.op(op);
        let (extent, occupant) = (o.cmd.extent, o.cmd.occupant);
        let s = &mut self.state;
        let g = &mut s.write.units[write_unit];
        debug_assert_eq!(
            g.programs, 0,
            "write unit {write_unit} has failed, and programs of it are under way"
        );
        let (lane, writer, ppa, stripe) = (g.lane, g.writer, g.ppa, g.stripe);
        if writer == Writer::Host {
            charge_stall(&mut g.ledger, &g.stalled, o.entered - g.ready, o.entered - g.ready);
            g.ledger.merge(&o.ledger.retried());
            g.stalled.clear();
            g.ready = s.now;
            g.again = true;
            s.write.lane_load[lane as usize].end();
        }
        self.free_op(op);
        self.row_failed(lane, extent, ppa);
        match (writer, stripe) {
            (Writer::Collection, _) => self.program_moved_again(write_unit),
            (Writer::Host, NONE) => self.place_write_unit(write_unit),
            (Writer::Host, _) => {
                self.observe_write(write_unit, false, WriteStep::Ready);
                self.program_member_again(write_unit, occupant);
            }
        }
        self.check_collection(lane);
    }

    /// Note that a row has no readable data, because its program has failed.
    pub(in crate::device) fn row_failed(&mut self, lane: u32, extent: u32, ppa: Ppa) {
        let upr = self.shape.layout.units_per_row;
        self.state.write.count_rows(&self.shape, &mut self.state.counters, lane, 1);
        let dead = self.state.faults.is_dead_at(&self.shape.layout, ppa);
        let s = &mut self.state;
        s.counters.programs_failed += u64::from(upr);
        s.counters.program_failures += 1;
        if !dead {
            s.faults.failing.insert(extent);
        }
        s.extents.shut(&self.shape.layout, extent);
        s.extents.row_programmed(&self.shape.layout, extent);
        self.data.padded(ppa..ppa + upr);
    }

    /// Program a write unit of a collection in another row.
    fn program_moved_again(&mut self, write_unit: u32) {
        debug_assert_eq!(
            self.state.write.units[write_unit].writer,
            Writer::Collection,
            "write unit {write_unit} is not moved by a collection"
        );
        let lane = self.state.write.units[write_unit].lane;
        let row = if self.state.faults.is_dead(lane) { None } else { self.take_collection_row(lane) };
        match row {
            Some(ppa) => {
                self.queue_program(write_unit, ppa, Occupant::GcProgram);
            }
            None => {
                self.state.write.units.give(write_unit);
                self.state.gc.collections[lane as usize].programs -= 1;
                self.stop_collecting(lane);
            }
        }
    }

    /// Take a row for data that a collection moves. Without a free row the lane can never free space again, so the
    /// drive becomes read-only.
    pub(in crate::device) fn take_collection_row(&mut self, lane: u32) -> Option<Ppa> {
        let row = self.state.extents.take_row(&self.shape.layout, lane, Writer::Collection, 0);
        debug_assert!(
            row.is_some() || self.shape.fixed.may_fail,
            "host data always leave an extent to collect into"
        );
        match row {
            Some(_) => self.state.gc.collections[lane as usize].gain.takes_row(),
            None => self.state.faults.lane_is_full(
                &mut self.flash,
                &mut self.state.deferred,
                self.state.now,
                lane,
            ),
        }
        self.note_space(lane);
        row
    }

    /// Handle a copyback that has failed. A unit that could be read is copied to another row. A unit
    /// that could not be read stays behind.
    #[cold]
    pub(in crate::device) fn copyback_failed(&mut self, op: OpId, lane: u32) {
        let o = self.flash.op(op);
        let (source, target, unread) = (o.cmd.ppa, o.cmd.copy_to().ppa, o.unread != 0);
        self.free_op(op);
        let (extent, _) = self.shape.layout.extent_of(target);
        if unread {
            self.state.counters.read_failures += 1;
            // The row contains data that could not be read.
            self.state.write.count_rows(&self.shape, &mut self.state.counters, lane, 1);
            self.state.counters.programs_failed += 1;
            self.state.extents.row_programmed(&self.shape.layout, extent);
            self.data.padded(target..target + 1);
            if self.map.is_valid(source) && !self.state.faults.is_dead(lane) {
                self.leave_unit_behind(source);
            }
        } else {
            self.row_failed(lane, extent, target);
            if self.map.is_valid(source) && !self.state.faults.is_dead(lane) {
                self.state.counters.gc_reads += 1;
                return self.copy_back(lane, source);
            }
        }
        self.state.gc.collections[lane as usize].reads -= 1;
        self.pump_collection(lane);
    }

    /// Whether a collection has free rows for all valid units of an extent. If not, the lane is full.
    pub(in crate::device) fn has_rows_for(&mut self, lane: u32, extent: u32) -> bool {
        let wanted = self.copies().units_kept(extent).div_ceil(self.shape.layout.units_per_row);
        let s = &mut self.state;
        let fits = s.extents.rows_left(&self.shape.layout, lane, Writer::Collection) >= wanted;
        if !fits {
            self.state.faults.lane_is_full(&mut self.flash, &mut self.state.deferred, self.state.now, lane);
        }
        fits
    }

    /// Program a member of a stripe in another row of its lane, or let it wait for one.
    fn program_member_again(&mut self, write_unit: u32, occupant: Occupant) {
        let job = self.state.write.units[write_unit].stripe;
        let (_, source) = self.state.write.members[write_unit as usize];
        let lane = self.copies().target_lane(self.state.parity.stripes.members[source.member()].unit);
        self.state.write.units[write_unit].lane = lane;
        let waits = self.state.faults.again.first(lane).is_some();
        let Some(ppa) = (if waits { None } else { self.take_member_row(lane) }) else {
            self.state.faults.again.push(lane, write_unit);
            self.check_collection(lane);
            return self.wake_for_victim();
        };
        self.program_member_at(write_unit, job, ppa, occupant);
        self.check_collection(lane);
    }

    /// Take a row for a member of a stripe that is programmed again. If nothing in its lane can be collected, it may
    /// take one of the extents kept for failures, because the stripe must commit before its old copies become stale.
    fn take_member_row(&mut self, lane: u32) -> Option<Ppa> {
        let (reserve, kept) = (self.shape.reserve, self.shape.kept_for_failures);
        let row = self.state.extents.take_row(&self.shape.layout, lane, Writer::Host, reserve);
        let collects = || self.state.gc.collections[lane as usize].is_active();
        if row.is_some() || collects() || self.best_victim(lane).is_some() {
            return row;
        }
        self.state.extents.take_row(&self.shape.layout, lane, Writer::Host, reserve - kept)
    }

    fn program_member_at(&mut self, write_unit: u32, job: u32, ppa: Ppa, occupant: Occupant) {
        let s = &mut self.state;
        debug_assert_eq!(s.write.units[write_unit].stripe, job);
        let (_, source) = s.write.members[write_unit as usize];
        s.parity.stripes.members[source.member()].ppa = ppa;
        s.write.lane_load[s.write.units[write_unit].lane as usize].begin();
        self.queue_host_program(write_unit, ppa, occupant);
    }

    /// Send members of stripes that wait for a row of a dead lane to its substitutes.
    pub(in crate::device) fn replace_waiting_members(&mut self, lane: u32) {
        let mut waiting = Vec::new();
        while let Some(write_unit) = self.state.faults.again.first(lane) {
            self.state.faults.again.pop(lane, write_unit);
            waiting.push(write_unit);
        }
        for write_unit in waiting {
            let occupant = self.copies().occupant_of_member(write_unit);
            self.program_member_again(write_unit, occupant);
        }
    }

    /// Program the members of stripes that wait for a row of this lane, after rows have appeared.
    pub(in crate::device) fn resume_members(&mut self, lane: u32) {
        while let Some(write_unit) = self.state.faults.again.first(lane) {
            let Some(ppa) = self.take_member_row(lane) else { return };
            let s = &mut self.state;
            s.faults.again.pop(lane, write_unit);
            let job = s.write.units[write_unit].stripe;
            let occupant = self.copies().occupant_of_member(write_unit);
            self.program_member_at(write_unit, job, ppa, occupant);
            self.check_collection(lane);
        }
    }
}
