//! Reads that fail: pages whose data cannot be decoded.

use crate::address::{Lpn, Ppa};
use crate::containers::NONE;
use crate::device::drive::{Deferred, Device};
use crate::device::medium::Medium;
use crate::device::parity::rebuild::Rebuild;
use crate::flash::{FlashCommand, OpId, Owner};
use crate::ftl::map::Place;
use crate::observer::{Observer, RequestStep};
use tailcut_units::{Ledger, Occupant, Status};

/// Where a unit is that a host read could not read where it had looked it up.
enum Moved {
    Nowhere,
    Flash(Ppa),
    /// At an address that cannot be read, but the rest of the stripe gives it.
    Computed(Ppa),
    /// In this slot of the write buffer.
    Memory(u32),
}

impl<O: Observer, M: Medium> Device<O, M> {
    /// Begin to handle a read whose data are decoded or given up, on a drive whose reads can fail. The
    /// read has kept its extent from being erased until now. Returns whether the owner of the read is to
    /// be told, as without failures; [`Device::read_settled`] follows.
    #[cold]
    pub(in crate::device) fn read_settles(&mut self, op: OpId) -> bool {
        let extent = self.flash.op(op).cmd.extent;
        self.state.extents.read_ends(extent);
        if !self.flash.has_failed(op) {
            self.note_readable(op);
            return true;
        }
        self.state.counters.read_failures += 1;
        let goes_on = self.read_failed(op);
        if !goes_on {
            self.read_settled(extent);
        }
        goes_on
    }

    /// End the handling of a read of this extent.
    #[cold]
    pub(in crate::device) fn read_settled(&mut self, extent: u32) {
        if !self.state.extents.has_readers(extent) {
            self.last_reader_left(extent);
        }
    }

    /// Handle a read that has failed. Returns whether its owner is to be told of its end.
    fn read_failed(&mut self, op: OpId) -> bool {
        let failed = self.failed_units(op);
        match self.flash.op(op).cmd.owner {
            Owner::Request(id) => {
                self.note_unreadable(&failed);
                return self.host_read_failed(op, id);
            }
            Owner::WriteUnit(write_unit) => {
                self.data_lacking(write_unit, &failed);
                for ppa in failed {
                    self.lacks_for_good(self.map.owner(ppa), op.number());
                }
            }
            Owner::Collection(lane) => self.leave_behind(op, lane, &failed),
            Owner::Stripe(job) => {
                self.note_unreadable(&failed);
                self.state.parity.stripes.jobs[job].failed = true;
            }
            Owner::Scrub(_) | Owner::Rebuild(_) => self.note_unreadable(&failed),
            Owner::Mend(_) => {}
        }
        true
    }

    /// The units of a read that lie, wholly or in part, on planes where it failed.
    pub(in crate::device) fn failed_units(&self, op: OpId) -> Vec<Ppa> {
        let unread = self.flash.op(op).unread;
        self.units_named(op).filter(|&ppa| self.planes_of_unit(ppa) & unread != 0).collect()
    }

    /// The units of which a read addresses all planes.
    pub(in crate::device) fn units_read(&self, op: OpId) -> impl Iterator<Item = Ppa> {
        let planes = self.flash.op(op).cmd.planes;
        self.units_named(op).filter(move |&ppa| self.planes_of_unit(ppa) & !planes == 0)
    }

    /// The units that a read is for: for a host read, all of its row.
    fn units_named(&self, op: OpId) -> impl Iterator<Item = Ppa> {
        let FlashCommand { ppa, units, .. } = self.flash.op(op).cmd;
        let named = move |unit: &Ppa| units == 0 || *unit >= ppa && units >> (*unit - ppa) & 1 == 1;
        let (row, _) = self.shape.layout.row_start(ppa);
        row.run(self.shape.layout.units_per_row).filter(named)
    }

    /// The planes of its die on which a unit lies.
    fn planes_of_unit(&self, ppa: Ppa) -> u32 {
        let (_, slot) = self.shape.layout.row_start(ppa);
        let first = self.shape.layout.place(ppa).plane;
        self.read_cost(first, slot, 0, self.shape.layout.unit_bytes).0
    }

    /// Note units on flash that a read has failed on.
    pub(in crate::device) fn note_unreadable(&mut self, units: &[Ppa]) {
        let in_use: Vec<Ppa> = units.iter().copied().filter(|&ppa| self.is_in_use(ppa)).collect();
        self.state.faults.unreadable.extend(in_use);
        self.note_lost();
        if self.shape.has_parity() {
            self.state.deferred.push(Deferred::Rewrite);
        }
    }

    /// Whether a copy on flash is valid, or is the parity that a flush has written and not committed
    /// yet: reconstructions may need it already.
    pub(in crate::device) fn is_in_use(&self, ppa: Ppa) -> bool {
        let stripes = &self.state.parity.stripes;
        let written = |job| {
            let members = &stripes.members[stripes.members_of(job)];
            members.iter().any(|m| m.done && m.slot == NONE && m.ppa == ppa)
        };
        self.map.is_valid(ppa) || stripes.jobs.in_use().into_iter().any(written)
    }

    /// Note that an extent is erased: what could not be read there is gone.
    #[cold]
    pub(in crate::device) fn readable_again(&mut self, extent: u32) {
        let units = self.shape.layout.units_per_extent;
        let first = Ppa(extent * units);
        let unreadable = &mut self.state.faults.unreadable;
        let mut gone = unreadable.split_off(&first);
        if !gone.is_empty() {
            unreadable.append(&mut gone.split_off(&(first + units)));
            self.note_lost();
        }
    }

    /// Note whether copies on flash may be lost, after what is known has changed.
    pub(in crate::device) fn note_lost(&mut self) {
        let f = &mut self.state.faults;
        f.some_lost = !f.life.is_empty() || !f.unreadable.is_empty() || !f.broken.is_empty();
    }

    /// Note that a read has decoded its units, after all if another had failed on them.
    fn note_readable(&mut self, op: OpId) {
        match self.flash.op(op).cmd.owner {
            Owner::WriteUnit(_) => {
                for ppa in self.units_read(op).collect::<Vec<_>>() {
                    self.lacks_nothing(self.map.owner(ppa), op.number());
                }
            }
            Owner::Stripe(job) => {
                let unit = self.map.owner(self.flash.op(op).cmd.ppa);
                if let Some(at) = self.member_of(job, unit) {
                    self.state.parity.stripes.members[at].short = false;
                    self.lacks_nothing(unit, NONE);
                }
            }
            _ => {}
        }
        if !self.state.faults.unreadable.is_empty() {
            for ppa in self.units_read(op).collect::<Vec<_>>() {
                self.state.faults.unreadable.remove(&ppa);
            }
        }
    }

    /// Handle a failed read of a host command: compute the data from the rest of the stripe, or read them
    /// elsewhere. Returns true if neither is possible: the read ends without data.
    fn host_read_failed(&mut self, op: OpId, id: u32) -> bool {
        let mut ops = std::mem::take(&mut self.state.host.scratch);
        let FlashCommand { rebuild, .. } = self.flash.op(op).cmd;
        let instead = match self.shape.stripes {
            Some(_) => self.rebuild_instead(id, op, 0, &mut ops),
            None => None,
        };
        let mut ends = false;
        match instead {
            Some(rid) => {
                let spent = self.flash.op(op).ledger.retried();
                if rebuild != NONE {
                    self.rebuild_arrived(rebuild, op);
                }
                self.free_op(op);
                if ops.is_empty() {
                    self.state.parity.rebuilds[rid].ledger.merge(&spent);
                }
                for op in ops.drain(..) {
                    self.submit_op(op);
                    self.flash.add_to_ledger(op, &spent);
                }
            }
            None if self.shape.has_parity() && self.reads_elsewhere(op, id) => {}
            None if !self.shape.has_parity() && self.parts_elsewhere(op, id) => {}
            None => {
                self.observe_request(id, RequestStep::Unreadable(op.number()));
                self.state.host.requests[id].status = Status::MediaError;
                // Nothing is sent to the host.
                self.flash.order_mut(op).bytes = 0;
                ends = true;
            }
        }
        self.state.host.scratch = ops;
        ends
    }

    /// Read a unit of a stripe where it is now, if it has moved since a host read of it began, which has
    /// failed. Returns false if it has not.
    fn reads_elsewhere(&mut self, op: OpId, id: u32) -> bool {
        let FlashCommand { ppa, bytes, codewords, rebuild, .. } = self.flash.op(op).cmd;
        let spent = self.flash.op(op).ledger.retried();
        let moved = self.moved_to(id, ppa);
        let read = match moved {
            Moved::Nowhere => return false,
            Moved::Flash(to) | Moved::Computed(to) => Some(self.read_again(id, ppa, to, bytes, codewords)),
            Moved::Memory(slot) => {
                self.data_in_slot(id, ppa, slot);
                None
            }
        };
        let number = read.map_or(NONE, OpId::number);
        self.observe_request(id, RequestStep::ReadsElsewhere { instead: op.number(), read: number });
        if read.is_none() {
            self.part_arrived(id, u64::from(bytes), &spent);
        }
        if rebuild != NONE {
            self.rebuild_arrived(rebuild, op);
        }
        self.free_op(op);
        match (read, moved) {
            (Some(read), Moved::Computed(_)) => self.compute_instead(id, read, &spent),
            (Some(read), _) => {
                self.submit_op(read);
                self.flash.add_to_ledger(read, &spent);
            }
            (None, _) => {}
        }
        true
    }

    /// Where a unit of a stripe is now that a host read looked up at this address.
    fn moved_to(&self, id: u32, ppa: Ppa) -> Moved {
        let unit = self.map.owner(ppa);
        let (from, to) = self.bytes_asked(id, unit);
        let asked = self.state.write.buffer.mask(from, to, false);
        if self.state.faults.lost.get(&unit).is_some_and(|lost| lost & asked != 0) {
            return Moved::Nowhere;
        }
        let now = match self.map.lookup(unit) {
            Place::Unmapped => Ppa::NONE,
            Place::Flash(now) => now,
            Place::Buffer(slot) if self.holds(unit, slot, asked) => return Moved::Memory(slot),
            Place::Buffer(slot) => self.copy_below(unit, slot),
        };
        match now {
            _ if now == Ppa::NONE || now == ppa => Moved::Nowhere,
            _ if !self.is_lost(now) => Moved::Flash(now),
            _ if self.can_compute(now) => Moved::Computed(now),
            _ => Moved::Nowhere,
        }
    }

    /// The bytes of a unit that a host command asks for.
    fn bytes_asked(&self, id: u32, unit: Lpn) -> (u64, u64) {
        let (command, bytes) = (self.state.host.requests[id].command, self.shape.layout.unit_bytes);
        let base = u64::from(unit.0) * bytes;
        let end = command.offset + u64::from(command.bytes);
        (command.offset.saturating_sub(base).min(bytes), end.saturating_sub(base).min(bytes))
    }

    /// Read the units of a row where they are now, without parity, if collections have moved those that
    /// a host read could not read there. Returns false if one cannot be read anywhere.
    fn parts_elsewhere(&mut self, op: OpId, id: u32) -> bool {
        let o = self.flash.op(op);
        let (FlashCommand { ppa: row, planes, bytes, .. }, unread) = (o.cmd, o.unread);
        let spent = o.ledger.retried();
        let mut parts = Vec::new();
        for at in row.run(self.shape.layout.units_per_row) {
            let unit = self.map.owner(at);
            let (from, to) = self.bytes_asked(id, unit);
            if from == to {
                continue;
            }
            let (needed, _) = self.read_cost(self.shape.layout.place(row).plane, at - row, from, to);
            if needed & !planes == 0 {
                let Place::Flash(now) = self.map.lookup(unit) else { return false };
                let fails = now == at && needed & unread != 0 || self.is_lost(now) && now != at;
                if fails || self.is_out_of_reach(unit, from, to) {
                    return false;
                }
                parts.push((at, now, from, to));
            }
        }
        // A stale unit beside those that were asked for may look like one of them.
        if parts.iter().map(|&(_, _, from, to)| to - from).sum::<u64>() != u64::from(bytes) {
            return false;
        }
        let serial = self.state.host.requests[id].index;
        self.state.host.requests[id].remaining += parts.len() as u32 - 1;
        self.state.counters.flash_reads += parts.len() as u64;
        let mut reads = Vec::new();
        for (at, now, from, to) in parts {
            let (_, slot) = self.shape.layout.row_start(now);
            let (planes, codewords) = self.read_cost(self.shape.layout.place(now).plane, slot, from, to);
            let read = self.read_of(Occupant::UserRead, Owner::Request(id), now);
            let bytes = (to - from) as u32;
            let read = self.order_read(FlashCommand { planes, codewords, bytes, tag: id, serial, ..read });
            self.data_elsewhere(id, at, now);
            self.observe_request(
                id,
                RequestStep::ReadsElsewhere { instead: op.number(), read: read.number() },
            );
            reads.push(read);
        }
        self.free_op(op);
        for read in reads {
            self.submit_op(read);
            self.flash.add_to_ledger(read, &spent);
        }
        true
    }

    /// Whether the slot of a unit of a stripe has these granules in memory.
    fn holds(&self, unit: Lpn, slot: u32, asked: u64) -> bool {
        let stripes = &self.state.parity.stripes;
        let filled = || {
            let at = self.member_of(self.job_of(self.shape.striped().stripe_of(unit)), unit);
            at.is_some_and(|at| stripes.members[at].slot == slot && !stripes.members[at].short)
        };
        asked & !self.state.write.buffer.slot(slot).mask == 0 || filled()
    }

    /// Send to the host what memory has of a part of a read, after `spent`.
    fn part_arrived(&mut self, id: u32, bytes: u64, spent: &Ledger) {
        let r = &mut self.state.host.requests[id];
        r.remaining -= 1;
        let last = r.remaining == 0;
        if last {
            r.ledger.merge(spent);
        }
        let there = self.send_up(id, bytes, last);
        if last {
            self.complete_read(id, there);
        }
    }

    /// Reserve a read of a unit for a host command that has looked for it at `from`.
    fn read_again(&mut self, id: u32, from: Ppa, to: Ppa, bytes: u32, codewords: u32) -> OpId {
        let serial = self.state.host.requests[id].index;
        let read = self.unit_read_of(Occupant::UserRead, Owner::Request(id), to);
        let read = FlashCommand { codewords, units: 0, bytes, tag: id, serial, ..read };
        self.state.counters.flash_reads += 1;
        self.data_elsewhere(id, from, to);
        self.order_read(read)
    }

    /// Handle a reconstruction for which a member of the stripe could not be read: read the unit
    /// itself, or end the host command without it if that cannot be read either.
    pub(in crate::device) fn rebuild_failed(&mut self, rid: u32) {
        let Rebuild { request: id, ppa, bytes, codewords, ledger, .. } = self.state.parity.rebuilds[rid];
        let spent = ledger.retried();
        let there = if self.is_lost(ppa) { self.moved_to(id, ppa) } else { Moved::Flash(ppa) };
        if let Moved::Flash(to) = there {
            let op = self.read_again(id, ppa, to, bytes, codewords);
            self.observe_request(id, RequestStep::RebuildFails { rebuild: rid, instead: op.number() });
            self.submit_op(op);
            self.flash.add_to_ledger(op, &spent);
        } else if let Moved::Memory(slot) = there {
            self.data_in_slot(id, ppa, slot);
            self.observe_request(id, RequestStep::Rebuilt(rid));
            self.part_arrived(id, u64::from(bytes), &ledger);
        } else if let Moved::Computed(to) = there {
            return self.compute_again(rid, to, &spent);
        } else if self.can_compute(ppa) {
            // A flush has given the stripe other members meanwhile.
            return self.compute_again(rid, ppa, &spent);
        } else {
            self.observe_request(id, RequestStep::RebuildFails { rebuild: rid, instead: NONE });
            self.state.host.requests[id].status = Status::MediaError;
            self.part_arrived(id, 0, &spent);
        }
        self.release_target(rid);
        self.state.parity.rebuilds.give(rid);
    }

    /// Replace a reconstruction that has failed by one from the present members of the stripe, of which
    /// the unit is at `to` now.
    fn compute_again(&mut self, rid: u32, to: Ppa, spent: &Ledger) {
        let Rebuild { request: id, ppa, bytes, codewords, .. } = self.state.parity.rebuilds[rid];
        let op = self.read_again(id, ppa, to, bytes, codewords);
        self.observe_request(id, RequestStep::RebuildFails { rebuild: rid, instead: op.number() });
        self.release_target(rid);
        self.state.parity.rebuilds.give(rid);
        self.compute_instead(id, op, spent);
    }

    /// Compute the unit that a reserved read names from the rest of its stripe, after `spent`. The read
    /// is never submitted.
    fn compute_instead(&mut self, id: u32, read: OpId, spent: &Ledger) {
        self.state.counters.flash_reads -= 1;
        let mut ops = Vec::new();
        let rid = self.rebuild_instead(id, read, 0, &mut ops).expect("the unit can be computed");
        self.abandon_read(read);
        if ops.is_empty() {
            self.state.parity.rebuilds[rid].ledger.merge(spent);
        }
        for op in ops {
            self.submit_op(op);
            self.flash.add_to_ledger(op, spent);
        }
    }

    /// Let the extent of a unit be erased that was to be rebuilt.
    #[inline]
    pub(in crate::device) fn release_target(&mut self, rid: u32) {
        if self.fixed.may_fail {
            let (extent, _) = self.shape.layout.extent_of(self.state.parity.rebuilds[rid].ppa);
            if self.state.extents.read_ends(extent) {
                self.last_reader_left(extent);
            }
        }
    }

    /// Complete a read of which nothing can be returned, and for which nothing is read.
    #[cold]
    pub(in crate::device) fn return_nothing(&mut self, id: u32) {
        self.observe_request(id, RequestStep::Unreadable(NONE));
        let there = self.send_up(id, 0, true);
        self.complete_read(id, there);
    }

    /// Handle the units that a collection could not read: they are mended, or lost.
    fn leave_behind(&mut self, op: OpId, lane: u32, failed: &[Ppa]) {
        if self.is_dead(lane) {
            self.flash.order_mut(op).units = 0;
            return;
        }
        for &ppa in failed {
            let cmd = self.flash.order_mut(op);
            let bit = ppa.0.wrapping_sub(cmd.ppa.0);
            if bit < 64 && cmd.units >> bit & 1 == 1 {
                cmd.units &= !(1 << bit);
                if self.map.is_valid(ppa) {
                    self.leave_unit_behind(ppa);
                }
            }
        }
    }

    /// The units of a segment that a collection can read, as a mask. Those on dead planes of its lane are
    /// mended, or lost.
    #[cold]
    pub(in crate::device) fn avoid_dead_planes(&mut self, lane: u32, start: Ppa, mask: u64) -> u64 {
        let dead = |bit: &u32| mask >> bit & 1 == 1 && self.is_dead_at(start + *bit);
        let dead: Vec<u32> = (0..64).filter(dead).collect();
        // What is left behind keeps the collection from ending.
        self.state.gc.collections[lane as usize].reads += 1;
        for &bit in &dead {
            if self.map.is_valid(start + bit) {
                self.leave_unit_behind(start + bit);
            }
        }
        self.state.gc.collections[lane as usize].reads -= 1;
        dead.into_iter().fold(mask, |mask, bit| mask & !(1 << bit))
    }

    /// Handle a valid unit that a collection could not read: it is mended, or lost.
    pub(in crate::device) fn leave_unit_behind(&mut self, ppa: Ppa) {
        if self.shape.has_parity() {
            self.begin_mend(ppa);
        } else {
            self.lose_unit(self.map.owner(ppa), ppa);
        }
    }
}
