//! Host reads that have failed. Their data are computed from the rest of the stripe, read from the address to which
//! they have been moved, or taken from the controller's memory.

use crate::address::{Lpn, Ppa};
use crate::containers::NONE;
use crate::containers::few_timers::FewTimers;
use crate::device::copies::Copies;
use crate::device::drive::Device;
use crate::device::host::commands::Host;
use crate::device::parity::rebuild::Rebuild;
use crate::device::parity::stripes::Member;
use crate::device::shape::Shape;
use crate::device::work::Work;
use crate::device::write::state::Source;
use crate::flash::Flash;
use crate::flash::{FlashCommand, OpId};
use crate::ftl::extents::Writer;
use crate::ftl::map::Mapping;
use crate::medium::Medium;
use crate::observer::{Observer, RequestStep};
use tailcut_units::{Ledger, Occupant, Status};

/// The source of a unit that a host read could not get from the address in its look-up.
#[derive(Clone, Copy)]
enum Found {
    Nowhere,
    Flash(Ppa),
    /// It is at an address that cannot be read, but can be computed from the rest of its stripe.
    Computed(Ppa),
    /// It is in this slot of the write buffer.
    Slot(u32),
    /// It is at an address that cannot be read, but a collection has read it and has not programmed it yet.
    Moving(Ppa),
}

impl Copies<'_> {
    /// Whether a collection has read the unit at this address and not yet programmed its new copy.
    #[cold]
    pub(in crate::device) fn is_moving(&self, ppa: Ppa) -> bool {
        let lane = self.shape.layout.lane_at(ppa);
        let w = self.write;
        let upr = self.shape.layout.units_per_row;
        let programs = |&write_unit: &u32| {
            let g = &w.units[write_unit];
            let first = (write_unit * upr) as usize;
            let members = &w.members[first..first + g.count as usize];
            (g.writer, g.lane) == (Writer::Collection, lane)
                && members.iter().any(|&(_, from)| from == Source::Flash(ppa))
        };
        self.gc.collections[lane as usize].staged.iter().any(|&(_, from)| from == ppa)
            || w.units.in_use().iter().any(programs)
    }

    /// Whether the unit at this address cannot be read there, but a collection has read it before.
    #[inline]
    pub(in crate::device) fn is_lost_but_moving(&self, ppa: Ppa) -> bool {
        self.faults.is_lost(&self.shape.layout, ppa) && self.is_moving(ppa)
    }

    /// Whether the slot of a unit holds these granules.
    fn holds(&self, unit: Lpn, slot: u32, asked: u64) -> bool {
        if asked & !self.write.buffer.slot(slot).mask == 0 {
            return true;
        }
        let Some(stripes) = &self.shape.stripes else { return false };
        let filled = |member: &Member| member.slot == slot && !member.done && !member.short;
        let member = self.parity.stripes.member_of(self.job_of(stripes.stripe_of(unit)), unit);
        member.is_some_and(|at| filled(&self.parity.stripes.members[at]))
    }

    /// Find the present source of the granules `asked` of a unit that a host read had looked up at address `at`.
    /// `unread`: the read at `at` has failed.
    fn find(&self, at: Ppa, asked: u64, unread: bool) -> Found {
        let unit = self.map.owner(at);
        if self.faults.lost.of(unit) & asked != 0 {
            return Found::Nowhere;
        }
        let now = match self.map.lookup(unit) {
            Mapping::Unmapped => Ppa::NONE,
            Mapping::Flash(now) => now,
            Mapping::Buffer(held) if self.holds(unit, held.slot(), asked) => return Found::Slot(held.slot()),
            Mapping::Buffer(held) => self.copy_below(unit, held.slot()),
        };
        let readable = |now| {
            if now == at {
                !unread && !self.faults.is_dead_at(&self.shape.layout, at)
            } else {
                !self.faults.is_lost(&self.shape.layout, now)
            }
        };
        match now {
            Ppa::NONE => Found::Nowhere,
            now if readable(now) => Found::Flash(now),
            now if self.is_moving(now) => Found::Moving(now),
            now if now != at && self.can_compute(now) => Found::Computed(now),
            _ => Found::Nowhere,
        }
    }
}

impl Host {
    /// Complete a host read whose data are all lost, without reading anything.
    #[cold]
    pub(in crate::device) fn return_nothing<O: Observer>(
        &mut self,
        shape: &Shape,
        flash: &mut Flash<O>,
        timers: &mut FewTimers,
        now: u64,
        id: u32,
    ) {
        self.observe(flash, now, id, RequestStep::Unreadable(NONE));
        let there = self.send_up(shape, now, id, 0, true);
        self.complete_read(shape, timers, id, there);
    }

    /// End a part of a read with `bytes` bytes for the host. `spent` is the time charged so far.
    fn part_arrived(
        &mut self,
        shape: &Shape,
        timers: &mut FewTimers,
        now: u64,
        id: u32,
        bytes: u64,
        spent: &Ledger,
    ) {
        let r = &mut self.requests[id];
        r.remaining -= 1;
        let last = r.remaining == 0;
        if last {
            r.host.ledger.complete(spent);
        }
        let there = self.send_up(shape, now, id, bytes, last);
        if last {
            self.complete_read(shape, timers, id, there);
        }
    }
}

impl<O: Observer, M: Medium> Device<O, M> {
    /// Handle a failed flash read of a host command: compute the data from the rest of the stripe, or get them from
    /// another source. Returns true if neither is possible; the read then ends without data.
    pub(super) fn host_read_failed(&mut self, op: OpId, id: u32) -> bool {
        let mut ops = std::mem::take(&mut self.state.host.scratch);
        let FlashCommand { rebuild, .. } = self.flash.op(op).cmd;
        let instead = match self.shape.stripes {
            Some(_) => self.rebuild_instead(id, op, 0, &mut ops),
            None => None,
        };
        let mut ends = false;
        if let Some(rid) = instead {
            let spent = self.flash.op(op).ledger.retried();
            if rebuild != NONE {
                self.rebuild_arrived(rebuild, op);
            }
            self.free_op(op);
            self.submit_instead(rid, &mut ops, &spent);
        } else if !self.reads_elsewhere(op, id) {
            self.state.host.observe(
                &mut self.flash,
                self.state.now,
                id,
                RequestStep::Unreadable(op.number()),
            );
            self.state.host.requests[id].host.status = Status::MediaError;
            // Nothing is sent to the host.
            self.flash.order_mut(op).bytes = 0;
            ends = true;
        }
        self.state.host.scratch = ops;
        ends
    }

    /// Get each unit of a failed host read from its present source. Returns false if a unit has none.
    fn reads_elsewhere(&mut self, op: OpId, id: u32) -> bool {
        let o = self.flash.op(op);
        let (FlashCommand { ppa: row, planes, bytes, rebuild, .. }, unread) = (o.cmd, o.unread);
        let spent = o.ledger.retried();
        let mut parts = Vec::new();
        for at in row.run(self.shape.layout.units_per_row) {
            let unit = self.map.owner(at);
            let (from, to) = self.state.host.bytes_asked(&self.shape.layout, id, unit);
            if from == to {
                continue;
            }
            let (needed, _) = self.shape.read_cost(self.shape.layout.place(row).plane, at - row, from, to);
            if needed & !planes == 0 {
                parts.push((
                    at,
                    (to - from) as u32,
                    self.copies().find(
                        at,
                        self.state.write.buffer.mask(from, to, false),
                        needed & unread != 0,
                    ),
                ));
            }
        }
        // The sum may differ, because a stale unit beside the requested ones may look like one of them.
        let all = parts.iter().map(|&(_, bytes, _)| bytes).sum::<u32>() == bytes;
        if !all || parts.iter().any(|(_, _, found)| matches!(found, Found::Nowhere)) {
            return false;
        }
        self.state.host.requests[id].remaining += parts.len() as u32 - 1;
        let mut reads = Vec::new();
        for (at, bytes, found) in parts {
            let read = match found {
                Found::Flash(to) | Found::Computed(to) => Some(self.read_again(id, at, to)),
                _ => None,
            };
            let number = read.map_or(NONE, OpId::number);
            let step = RequestStep::ReadsElsewhere { instead: op.number(), read: number, bytes };
            self.state.host.observe(&mut self.flash, self.state.now, id, step);
            match read {
                Some(read) => reads.push((read, found)),
                None => self.part_in_memory(id, at, found, &spent),
            }
        }
        if rebuild != NONE {
            self.rebuild_arrived(rebuild, op);
        }
        self.free_op(op);
        for (read, found) in reads {
            if let Found::Computed(_) = found {
                self.compute_instead(id, read, &spent);
            } else {
                self.submit_op(read);
                self.flash.add_to_ledger(read, &spent);
            }
        }
        true
    }

    /// Send a part of a read that is in memory to the host. `spent` is the time charged so far; `at` is the address of
    /// the look-up.
    fn part_in_memory(&mut self, id: u32, at: Ppa, found: Found, spent: &Ledger) {
        match found {
            Found::Slot(slot) => self.data.in_slot(&self.state.host, id, at, slot),
            Found::Moving(now) => self.data.moving(&self.state.host, &self.map, id, at, now),
            _ => unreachable!("memory has the part"),
        }
        let (from, to) = self.state.host.bytes_asked(&self.shape.layout, id, self.map.owner(at));
        self.state.host.part_arrived(
            &self.shape,
            &mut self.state.timers,
            self.state.now,
            id,
            to - from,
            spent,
        );
    }

    /// Reserve a read at address `to` of a unit that a host command had looked up at `at`.
    fn read_again(&mut self, id: u32, at: Ppa, to: Ppa) -> OpId {
        let serial = self.state.host.requests[id].host.index;
        let (from, end) = self.state.host.bytes_asked(&self.shape.layout, id, self.map.owner(at));
        let (_, slot) = self.shape.layout.row_start(to);
        let (planes, codewords) = self.shape.read_cost(self.shape.layout.place(to).plane, slot, from, end);
        let read = self.shape.read_of(Occupant::UserRead, Work::Request(id), to);
        let bytes = (end - from) as u32;
        self.state.counters.flash_reads += 1;
        self.data.elsewhere(&self.state.host, &self.map, id, at, to);
        self.order_read(FlashCommand { planes, codewords, bytes, tag: id, serial, ..read })
    }

    /// Handle a reconstruction that has failed because a member of the stripe could not be read: read the unit itself,
    /// or end the host command with an error if that is impossible too.
    pub(in crate::device) fn rebuild_failed(&mut self, rid: u32) {
        let Rebuild { request: id, ppa, ledger, .. } = self.state.parity.rebuilds[rid];
        let spent = ledger.retried();
        let unit = self.map.owner(ppa);
        // The unit may have been lost since the read began, and its slot has nothing in its place.
        let asked = self.state.host.granules_asked(&self.shape.layout, &self.state.write.buffer, id, unit);
        let lost = self.state.faults.lost.of(unit) & asked != 0;
        let found = match self.state.faults.is_lost(&self.shape.layout, ppa) {
            _ if lost => Found::Nowhere,
            true => self.copies().find(ppa, asked, true),
            false => Found::Flash(ppa),
        };
        match found {
            Found::Flash(to) => {
                let op = self.read_again(id, ppa, to);
                self.state.host.observe(
                    &mut self.flash,
                    self.state.now,
                    id,
                    RequestStep::RebuildFails { rebuild: rid, instead: op.number() },
                );
                self.submit_op(op);
                self.flash.add_to_ledger(op, &spent);
            }
            found @ (Found::Slot(_) | Found::Moving(_)) => {
                self.state.host.observe(&mut self.flash, self.state.now, id, RequestStep::Rebuilt(rid));
                self.part_in_memory(id, ppa, found, &ledger);
            }
            Found::Computed(to) => return self.compute_again(rid, to, &spent),
            // A flush has changed the members of the stripe meanwhile.
            Found::Nowhere if !lost && self.copies().can_compute(ppa) => {
                return self.compute_again(rid, ppa, &spent);
            }
            Found::Nowhere => {
                self.state.host.observe(
                    &mut self.flash,
                    self.state.now,
                    id,
                    RequestStep::RebuildFails { rebuild: rid, instead: NONE },
                );
                self.state.host.requests[id].host.status = Status::MediaError;
                self.state.host.part_arrived(
                    &self.shape,
                    &mut self.state.timers,
                    self.state.now,
                    id,
                    0,
                    &spent,
                );
            }
        }
        self.release_target(rid);
        self.state.parity.rebuilds.give(rid);
    }

    /// Replace a failed reconstruction by one from the present members of the stripe. The unit is at address `to` now.
    fn compute_again(&mut self, rid: u32, to: Ppa, spent: &Ledger) {
        let Rebuild { request: id, ppa, .. } = self.state.parity.rebuilds[rid];
        let op = self.read_again(id, ppa, to);
        self.state.host.observe(
            &mut self.flash,
            self.state.now,
            id,
            RequestStep::RebuildFails { rebuild: rid, instead: op.number() },
        );
        self.release_target(rid);
        self.state.parity.rebuilds.give(rid);
        self.compute_instead(id, op, spent);
    }

    /// Compute the unit of a reserved read from the rest of its stripe. The read itself is not submitted. `spent` is
    /// the time charged so far.
    fn compute_instead(&mut self, id: u32, read: OpId, spent: &Ledger) {
        self.state.counters.flash_reads -= 1;
        let mut ops = Vec::new();
        let rid = self.rebuild_instead(id, read, 0, &mut ops).expect("the unit can be computed");
        self.abandon_read(read);
        self.submit_instead(rid, &mut ops, spent);
    }

    /// Allow the extent of a unit to be erased: its reconstruction has ended.
    #[inline]
    pub(in crate::device) fn release_target(&mut self, rid: u32) {
        if self.shape.fixed.may_fail {
            let extent = self.state.parity.targets.ends(rid);
            self.state.gc.reader_leaves(&self.shape.layout, extent);
            self.erase_if_drained(extent);
        }
    }
}
