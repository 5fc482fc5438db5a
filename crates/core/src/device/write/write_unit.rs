//! Write units of rows: from dirty slots to programmed rows.

use crate::address::{BusyUnit, Extent, Lane, Ppa};
use crate::containers::NONE;
use crate::containers::list::{Link, List};
use crate::device::copies::Copies;
use crate::device::drive::Device;
use crate::device::gc::erase::Program;
use crate::device::shape::Shape;
use crate::device::work::Work;
use crate::device::write::state::Source;
use crate::device::write::state::Writes;
use crate::flash::Flash;
use crate::flash::{DieTimes, FlashCommand, OpId, SLOTS};
use crate::ftl::buffer::DirtyList;
use crate::ftl::extents::Writer;
use crate::ftl::layout::RowPlace;
use crate::medium::Medium;
use crate::nand::OpKind;
use crate::observer::{Observer, RequestStep, WriteStep};
use crate::policy::flush::FlushVerdict;
use crate::policy::placement::LaneView;
use serde::{Deserialize, Serialize};
use std::ops::Range;
use tailcut_units::{Ledger, Occupant, Occupants};

/// One write unit on its way to flash.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(in crate::device) struct WriteUnit {
    pub writer: Writer,
    pub lane: u32,
    /// For rows of the host: the first lane of the pool from whose dirty list it was formed.
    pub from: u32,
    /// The stripe that it is a member of, or `NONE`.
    pub stripe: u32,
    /// Number of mapping units that it carries; the rest of the row is padding.
    pub count: u32,
    /// Number of reads for which it still waits.
    pub reads: u32,
    /// Number of programs for which it still waits.
    pub programs: u32,
    /// Whether one of its programs has failed.
    pub failed: bool,
    /// Whether an earlier program of it has failed.
    pub again: bool,
    /// First physical unit of its row, once it has one.
    pub ppa: Ppa,
    /// When its data were complete.
    pub ready: u64,
    /// The account of its lane's die when it began to wait for a free block.
    pub seen: DieTimes,
    /// The work of that die during the wait, by cause.
    pub stalled: Ledger,
    /// Latency by cause before its program was queued.
    pub ledger: Ledger,
}

impl WriteUnit {
    pub fn blank() -> WriteUnit {
        WriteUnit {
            writer: Writer::Host,
            lane: 0,
            from: 0,
            stripe: NONE,
            count: 0,
            reads: 0,
            programs: 0,
            failed: false,
            again: false,
            ppa: Ppa::NONE,
            ready: 0,
            seen: [0; SLOTS],
            stalled: Ledger::new(),
            ledger: Ledger::new(),
        }
    }
}

/// Write units that wait for room: one list for each pool of lanes.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(in crate::device) struct Stalled {
    pub(in crate::device) lists: Vec<List>,
    pub(super) links: Vec<Link>,
    /// Number of write units that wait.
    pub waiting: u32,
}

impl Stalled {
    pub fn new(lists: u32, write_units: u32) -> Stalled {
        Stalled {
            lists: vec![List::default(); lists as usize],
            links: vec![Link::default(); write_units as usize],
            waiting: 0,
        }
    }

    /// Whether any write unit waits.
    #[inline]
    pub fn any(&self) -> bool {
        self.waiting > 0
    }

    pub fn first(&self, list: u32) -> Option<u32> {
        Some(self.lists[list as usize].head()).filter(|&g| g != NONE)
    }

    pub fn push(&mut self, list: u32, write_unit: u32) {
        self.lists[list as usize].push_back(&mut self.links, write_unit);
        self.waiting += 1;
    }

    pub fn pop(&mut self, list: u32, write_unit: u32) {
        debug_assert_eq!(
            self.first(list),
            Some(write_unit),
            "write unit {write_unit} leaves list {list} before those that have waited longer"
        );
        self.lists[list as usize].remove(&mut self.links, write_unit);
        self.waiting -= 1;
    }
}

impl Writes {
    /// Number of dirty slots of the pools of these lanes, which are whole pools.
    pub(super) fn dirty_of_lanes(&self, shape: &Shape, lanes: std::ops::Range<u32>) -> u32 {
        let firsts = lanes.step_by(shape.pool_lanes as usize);
        let list = |lane| DirtyList::of_pool(shape.pool_of(lane));
        firsts.map(|lane| self.buffer.dirty_in(list(lane))).sum()
    }

    /// Whether the data of a die fill a group: one write unit for each of its lanes.
    pub(super) fn fills_group(&self, shape: &Shape, die: u32) -> bool {
        let lanes = shape.lanes_of_die();
        self.dirty_of_lanes(shape, die * lanes..(die + 1) * lanes) >= lanes * shape.layout.units_per_row
    }

    /// Mark a die as ready if its data fill a group.
    pub(super) fn note_ready(&mut self, shape: &Shape, die: u32) {
        if self.fills_group(shape, die) {
            self.ready.push(die);
        }
    }

    /// Whether a die is ready. Removes dies whose data have been trimmed since.
    pub(super) fn has_ready_die(&mut self, shape: &Shape) -> bool {
        while let Some(die) = self.ready.first() {
            if self.fills_group(shape, die) {
                return true;
            }
            self.ready.pop();
        }
        false
    }

    /// End the wait of a write unit that has got a row, and record the work of the die during the wait. If the lanes of
    /// its pool are on several dies, the wait cannot be charged to one of them.
    pub(in crate::device) fn end_stall<O: Observer>(
        &mut self,
        shape: &Shape,
        flash: &mut Flash<O>,
        now: u64,
        write_unit: u32,
    ) {
        let g = &mut self.units[write_unit];
        let units = shape.units_of_pool(shape.pool_of(g.lane));
        if units.end - units.start > 1 || now == g.ready {
            return;
        }
        flash.charge_since(units.start, &g.seen, &mut g.stalled);
    }
}

impl Copies<'_> {
    /// Prefetch what changes in the map when the row of a write unit is programmed. Since its data came into the buffer,
    /// or were read by the collection, so much has happened that little of it is left in the caches.
    #[inline]
    fn prefetch_row(&self, members: Range<u32>, ppa: Ppa) {
        self.map.prefetch_owner(ppa);
        for &(lpn, source) in &self.write.members[members.start as usize..members.end as usize] {
            self.map.prefetch(lpn);
            if let Source::Slot(slot) = source {
                self.prefetch_copy(self.write.buffer.slot(slot).old_ppa);
            }
        }
    }
}

impl<O: Observer, M: Medium> Device<O, M> {
    /// Flush the write units that the flush policy has chosen; `same` is the pool of the last write.
    #[inline]
    pub(in crate::device) fn flush_rows(&mut self, verdict: FlushVerdict, same: u32) {
        let oldest = || {
            let list = self.state.write.buffer.oldest_list();
            list.expect("a policy flushes only what is dirty").pool()
        };
        match verdict {
            FlushVerdict::Hold => {}
            FlushVerdict::SameLane => self.flush_one(same),
            FlushVerdict::Oldest | FlushVerdict::LeastHindered => self.flush_one(oldest()),
            FlushVerdict::ReadyDie => self.flush_ready_die(),
        }
    }

    /// Flush a group of the first ready die: one write unit of each of its lanes that has dirty slots.
    fn flush_ready_die(&mut self) {
        let die = self.state.write.ready.pop().expect("a policy names a ready die only if there is one");
        let lanes = self.shape.lanes_of_die();
        for lane in die * lanes..(die + 1) * lanes {
            let pool = self.shape.pool_of(lane);
            if self.state.write.buffer.dirty_in(DirtyList::of_pool(pool)) > 0 {
                self.flush_one(pool);
            }
        }
        self.state.write.note_ready(&self.shape, die);
    }

    /// Form one write unit from the oldest dirty slots of a pool.
    pub(in crate::device) fn flush_one(&mut self, pool: u32) {
        let upr = self.shape.layout.units_per_row;
        let s = &mut self.state;
        let write_unit = s.write.units.take();
        let g = &mut s.write.units[write_unit];
        g.writer = Writer::Host;
        g.lane = self.shape.first_lane(pool);
        g.from = g.lane;
        g.again = false;
        g.stripe = NONE;
        g.reads = 0;
        g.ready = s.now;
        g.ledger.clear();
        g.stalled.clear();
        let mut count = 0;
        while count < upr {
            let Some(slot) = s.write.buffer.depart(DirtyList::of_pool(pool)) else { break };
            let lpn = s.write.buffer.slot(slot).lpn;
            s.write.members[(write_unit * upr + count) as usize] = (lpn, Source::Slot(slot));
            count += 1;
        }
        s.write.units[write_unit].count = count;
        debug_assert!(count > 0, "a write unit is formed from pool {pool}, which has no dirty slot");
        for i in 0..count {
            self.fill_short_slot(write_unit, i);
        }
        if self.state.write.units[write_unit].reads == 0 {
            self.place_write_unit(write_unit);
        }
    }

    /// Read the missing part of a slot that does not hold its whole unit.
    #[inline]
    fn fill_short_slot(&mut self, write_unit: u32, i: u32) {
        let upr = self.shape.layout.units_per_row;
        let s = &mut self.state;
        let (_, source) = s.write.members[(write_unit * upr + i) as usize];
        let slot = source.slot();
        let (mask, old_ppa) = (s.write.buffer.slot(slot).mask, s.write.buffer.slot(slot).old_ppa);
        if mask == s.write.buffer.full() || old_ppa == Ppa::NONE {
            return;
        }
        if self.state.faults.is_lost(&self.shape.layout, old_ppa) && self.copies().is_moving(old_ppa) {
            return self.data.settled(slot, old_ppa);
        }
        if self.state.faults.some_lost && self.state.faults.is_dead_at(&self.shape.layout, old_ppa) {
            let lpn = self.state.write.buffer.slot(slot).lpn;
            let lacks = self.state.write.buffer.full() & !mask;
            self.state.faults.lost.add(lpn, lacks);
            return self.data.given_up(slot);
        }
        let s = &mut self.state;
        s.write.units[write_unit].reads += 1;
        s.counters.rmw_reads += 1;
        let op = self.new_unit_read(Occupant::RmwRead, Work::WriteUnit(write_unit), old_ppa);
        self.flash.order_mut(op).write_unit = write_unit;
        self.data.wanted(slot, old_ppa);
        if self.shape.fixed.may_fail {
            let slot = self.state.write.buffer.slot(slot);
            self.state.faults.lacks(slot.lpn, self.state.write.buffer.full() & !slot.mask, op.number());
        }
        self.submit_op(op);
    }

    /// Handle the arrival of data that a write unit lacked.
    #[inline(never)]
    pub(in crate::device) fn filler_arrived(&mut self, op: OpId, write_unit: u32) {
        let s = &mut self.state;
        let g = &mut s.write.units[write_unit];
        debug_assert!(
            g.reads > 0 && g.programs == 0,
            "data arrive for write unit {write_unit}, with {} reads and {} programs under way",
            g.reads,
            g.programs
        );
        g.reads -= 1;
        let last = g.reads == 0;
        if last {
            g.ledger.merge(&self.flash.op(op).ledger);
            g.ready = s.now;
        }
        self.free_op(op);
        if last {
            self.place_write_unit(write_unit);
        }
    }

    /// Find a lane and a row for a write unit whose data are complete, or let it wait.
    #[inline]
    pub(in crate::device) fn place_write_unit(&mut self, write_unit: u32) {
        self.observe_write(write_unit, false, WriteStep::Ready);
        self.find_row(write_unit);
    }

    /// Find a lane and a row for a write unit that was ready before, or let it wait.
    #[inline]
    pub(in crate::device) fn find_row(&mut self, write_unit: u32) {
        let g = &self.state.write.units[write_unit];
        debug_assert!(
            g.writer == Writer::Host && g.stripe == NONE && g.reads + g.programs == 0,
            "write unit {write_unit} looks for a row: {g:?}"
        );
        let lane = self.state.write.units[write_unit].lane;
        if !self.state.faults.life.is_empty()
            && !self.state.faults.pool_lives(&self.shape, self.shape.pool_of(lane))
        {
            self.state.write.units[write_unit].lane =
                self.state.faults.lane_instead(&self.shape.layout, &self.state.extents, lane);
        }
        let list = self.shape.pool_of(self.state.write.units[write_unit].lane);
        if self.state.write.stalled.first(list).is_some() || !self.program_somewhere(write_unit) {
            if !self.state.faults.life.is_empty() && self.go_elsewhere(write_unit) {
                return;
            }
            self.state.write.stalled.push(list, write_unit);
            self.begin_stall(write_unit);
            self.wake_for_victim();
        }
    }

    /// Note that a write unit waits for a free block from now on, so that its wait is charged to the work of its lane's
    /// die.
    fn begin_stall(&mut self, write_unit: u32) {
        let s = &mut self.state;
        let unit = self.shape.units_of_lane(s.write.units[write_unit].lane).start;
        s.write.units[write_unit].seen = self.flash.account(unit);
        let units = self.shape.units_of_pool(self.shape.pool_of(s.write.units[write_unit].lane));
        let unit = if units.end - units.start == 1 { units.start } else { BusyUnit::NONE };
        self.observe_write(write_unit, false, WriteStep::Stalls(unit));
    }

    /// Try the write unit's lane, or the lanes of its pool in the policy's order, until one has
    /// room. Returns whether one has.
    fn program_somewhere(&mut self, write_unit: u32) -> bool {
        let lane = self.state.write.units[write_unit].lane;
        if self.shape.is_fixed() {
            return self.program_write_unit(write_unit, lane);
        }
        let pool = self.shape.pool_of(lane);
        for _ in 0..self.shape.pool_lanes {
            let s = &mut self.state;
            let view = LaneView { load: &s.write.lane_load, written: &s.write.lane_written };
            let lane = s.policies.placement.lane(pool, &view);
            if !s.write.lane_load[lane as usize].has_room() {
                return false;
            }
            if self.program_write_unit(write_unit, lane) {
                return true;
            }
            self.state.write.lane_load[lane as usize].lacks_room();
        }
        false
    }

    /// Take a row of the lane for a host write unit and queue its program. Returns false if there
    /// is no row.
    pub(in crate::device) fn program_write_unit(&mut self, write_unit: u32, lane: u32) -> bool {
        if self.state.faults.is_dead(lane) {
            return false;
        }
        let s = &mut self.state;
        let layout = &self.shape.layout;
        let free = s.extents.free(layout, lane);
        let first = if layout.slc_extents == 0 { None } else { s.take_slc_row(layout, Lane(lane)) };
        let row = first.or_else(|| s.extents.take_row(layout, lane, Writer::Host, self.shape.reserve));
        let Some(ppa) = row else {
            self.check_collection(lane);
            return false;
        };
        s.write.units[write_unit].lane = lane;
        s.write.lane_load[lane as usize].begin();
        s.write.lane_written[lane as usize] += 1;
        let opened = s.extents.free(&self.shape.layout, lane) != free;
        self.queue_host_program(write_unit, ppa, Occupant::UserProgram);
        if opened {
            self.check_collection(lane);
        }
        true
    }

    /// Queue the program of a host write unit at its row.
    pub(in crate::device) fn queue_host_program(&mut self, write_unit: u32, ppa: Ppa, occupant: Occupant) {
        if self.queue_program(write_unit, ppa, occupant) {
            // A waiting program may allow a collection to continue.
            let place = self.shape.layout.place(ppa);
            self.wake_unit(self.shape.unit_of(place.die, place.plane));
        }
    }

    /// Queue the programs of a write unit at its row: one, or for collection as many as cover the
    /// row. Returns whether it is a host program whose busy unit is closed to host programs.
    pub(in crate::device) fn queue_program(&mut self, write_unit: u32, ppa: Ppa, occupant: Occupant) -> bool {
        if self.state.gc.lacks_last_loop(&self.shape, ppa) {
            self.state.write.units[write_unit].ppa = ppa;
            self.hold_program(ppa, Program::Unit { write_unit, occupant });
            return false;
        }
        self.queue_parts(write_unit, ppa, occupant, false)
    }

    /// Queue the programs of a write unit that has waited for the last loop of its extent's erase.
    pub(in crate::device) fn release_program(&mut self, write_unit: u32, occupant: Occupant) {
        let ppa = self.state.write.units[write_unit].ppa;
        if self.queue_parts(write_unit, ppa, occupant, true) {
            let place = self.shape.layout.place(ppa);
            self.wake_unit(self.shape.unit_of(place.die, place.plane));
        }
    }

    /// Queue the programs of a write unit at its row. `waited`: they have waited for the last loop of the extent's
    /// erase.
    fn queue_parts(&mut self, write_unit: u32, ppa: Ppa, occupant: Occupant, waited: bool) -> bool {
        let place = self.shape.layout.place(ppa);
        let unit = self.shape.unit_of(place.die, place.plane);
        let planes = self.shape.layout.write_planes;
        let width = if Occupants::COLLECTION.has(occupant) { self.shape.gc_program_planes } else { planes };
        let first = write_unit * self.shape.layout.units_per_row;
        self.copies().prefetch_row(first..first + self.state.write.units[write_unit].count, ppa);
        let g = &mut self.state.write.units[write_unit];
        debug_assert_eq!(g.programs, 0, "write unit {write_unit} is being programmed already, at {}", g.ppa);
        g.ppa = ppa;
        g.failed = false;
        g.programs = planes / width;
        let mut closed = false;
        for first in (0..planes).step_by(width as usize) {
            let mask = (((1u64 << width) - 1) << (place.plane + first)) as u32;
            closed = self.queue_part(write_unit, ppa, (occupant, waited), (place, unit, mask));
        }
        closed
    }

    /// Queue the program of some planes of a write unit's row.
    #[inline]
    fn queue_part(
        &mut self,
        write_unit: u32,
        ppa: Ppa,
        what: (Occupant, bool),
        at: (RowPlace, BusyUnit, u32),
    ) -> bool {
        let ((occupant, waited), (place, unit, planes)) = (what, at);
        let id = self.flash.order(FlashCommand {
            kind: OpKind::Program,
            occupant,
            owner: Work::WriteUnit(write_unit).into(),
            write_unit,
            unit,
            page: self.shape.layout.page_number(&place),
            planes,
            codewords: planes.count_ones() * self.shape.codewords_per_page,
            block: self.shape.block_of(place.extent),
            extent: place.extent,
            ppa,
            ..FlashCommand::BLANK
        });
        if self.state.write.units[write_unit].writer == Writer::Host {
            let stripe = self.state.write.units[write_unit].stripe;
            // A member that is programmed again, or has waited for a last loop, is reported alone and not as part of
            // its stripe.
            let alone = waited || stripe == NONE || self.state.write.units[write_unit].again;
            let number = if alone { write_unit } else { stripe };
            self.observe_write(number, !alone, WriteStep::Placed(id.number()));
        }
        self.submit_program(id)
    }

    /// Handle the end of a program of a row, or of a part of a row.
    #[inline]
    pub(in crate::device) fn programmed(&mut self, op: OpId, write_unit: u32) {
        let g = &mut self.state.write.units[write_unit];
        debug_assert_eq!(g.ppa, self.flash.op(op).cmd.ppa, "write unit {write_unit} has another row");
        g.programs -= 1;
        if self.shape.fixed.may_fail {
            g.failed |= self.flash.has_failed(op);
        }
        if g.programs > 0 {
            return self.free_op(op);
        }
        if self.shape.fixed.most_tokens > 0 && g.writer == Writer::Host {
            let lane = g.lane;
            self.pay_token(lane);
        }
        if self.state.write.units[write_unit].failed {
            return self.program_failed(op, write_unit);
        }
        self.data.programmed(&self.state.copies(&self.shape, &self.map), write_unit);
        let upr = self.shape.layout.units_per_row;
        let lane = self.state.write.units[write_unit].lane;
        self.state.write.count_rows(&self.shape, &mut self.state.counters, lane, 1);
        let s = &mut self.state;
        if s.write.units[write_unit].stripe != NONE {
            return self.stripe_programmed(op, write_unit);
        }
        let g = &s.write.units[write_unit];
        let (writer, count, ppa) = (g.writer, g.count, g.ppa);
        let extent = self.flash.op(op).cmd.extent;
        s.counters.programs_pad += u64::from(upr - count);
        if writer == Writer::Host {
            s.counters.programs_user += u64::from(count);
            self.host_row_programmed(op, write_unit, count, ppa);
        } else {
            self.state.gc.count_moved(&self.shape, &mut self.state.counters, lane, count);
            for i in 0..count {
                let (lpn, source) = self.state.write.members[(write_unit * upr + i) as usize];
                self.moved(lpn, source.flash(), ppa + i);
            }
        }
        self.state.row_programmed(&self.shape, Extent(extent), count);
        if writer == Writer::Collection {
            self.state.scrub_if_filled(&self.shape.layout, extent);
        }
        if writer == Writer::Host {
            self.state.write.lane_load[lane as usize].end();
            if self.shape.fixed.flushes_by_die {
                let from = self.state.write.units[write_unit].from;
                self.flush_as_policy_says(DirtyList::of_pool(self.shape.pool_of(from)));
            }
            self.admit_waiting(Some((op, write_unit)));
            self.admit_queued(Some((op, write_unit)));
            self.state.flushes_done(&self.shape, &mut self.flash);
        }
        self.state.write.units.give(write_unit);
        self.free_op(op);
        if self.shape.fixed.may_fail {
            self.check_failing(extent);
        }
        if writer == Writer::Collection {
            self.write_unit_collected(lane);
        } else if self.state.gc.waiting > 0 || self.shape.folds.is_some() {
            // An extent that has just been closed may be the victim for which a lane waits, or may have to be folded.
            self.check_collection(lane);
        }
        self.wake_for_victim();
    }

    /// Map host data to their row on flash, free their slots, and complete write-through requests.
    #[inline]
    fn host_row_programmed(&mut self, op: OpId, write_unit: u32, count: u32, ppa: Ppa) {
        let upr = self.shape.layout.units_per_row;
        for i in 0..count {
            let s = &self.state;
            let (lpn, source) = s.write.members[(write_unit * upr + i) as usize];
            let slot = source.slot();
            let held = s.write.buffer.slot(slot);
            let (old_ppa, waiter) = (held.old_ppa, held.waiter);
            debug_assert!(
                held.in_flight && held.lpn == lpn,
                "slot {slot} of unit {} was programmed for unit {lpn}, in flight: {}",
                held.lpn,
                held.in_flight
            );
            if self.map.is_buffered_in(lpn, slot) {
                self.map.set_flash(lpn, ppa + i);
                self.state.validate(&mut self.map, &self.shape.layout, lpn, ppa + i);
                if old_ppa != Ppa::NONE {
                    self.state.invalidate(&mut self.map, &self.shape.layout, old_ppa);
                }
            }
            let s = &mut self.state;
            s.write.buffer.release(slot);
            if waiter != NONE {
                self.write_through_part_done(waiter, op, write_unit);
            }
        }
    }

    /// Count a unit of a write-through that is on flash, and complete the request after the last
    /// one.
    #[inline(never)]
    fn write_through_part_done(&mut self, id: u32, op: OpId, write_unit: u32) {
        let s = &mut self.state;
        let r = &mut s.host.requests[id];
        r.remaining -= 1;
        if r.remaining > 0 {
            return;
        }
        let (g, o) = (&s.write.units[write_unit], self.flash.op(op));
        r.host.ledger.merge(&g.ledger);
        super::room::charge_stall(&mut r.host.ledger, &g.stalled, o.entered - g.ready, o.entered - g.ready);
        r.host.ledger.merge(&o.ledger);
        self.state.host.observe(&mut self.flash, self.state.now, id, RequestStep::Programmed(op.number()));
        self.state.complete_message(&self.shape, &mut self.flash, id);
    }

    /// Resume write units that waited for free extents of a lane.
    pub(in crate::device) fn resume_stalled_write_units(&mut self, lane: u32) {
        self.state.write.lane_load[lane as usize].may_have_room();
        let list = self.shape.pool_of(lane);
        while let Some(write_unit) = self.state.write.stalled.first(list) {
            if !self.program_somewhere(write_unit) {
                return;
            }
            self.state.write.end_stall(&self.shape, &mut self.flash, self.state.now, write_unit);
            self.state.write.stalled.pop(list, write_unit);
        }
        if !self.state.faults.life.is_empty() {
            self.resume_stalled_elsewhere(lane);
        }
    }
}
