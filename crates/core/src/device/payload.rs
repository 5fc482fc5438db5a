//! The calls of the device to its medium: one helper for each point where data move. With a medium
//! without data none of them does anything.

use super::drive::{Device, State};
use super::shape::Shape;
use crate::address::{Lpn, Ppa};
use crate::containers::NONE;
use crate::device::host::commands::Request;
use crate::device::work::Work;
use crate::device::write::state::Source;
use crate::device::write::stripe::{Basis, Member};
use crate::flash::OpId;
use crate::ftl::map::Place;
use crate::medium::{Below, Kind, Medium, Oob, Size};
use crate::nand::OpKind;
use crate::observer::Observer;
use std::ops::Range;
use tailcut_units::{HostOp, Occupants, Status};

/// Attach a medium to a drive, with its accumulators.
pub(super) fn attached<M: Medium>(mut medium: M, shape: &Shape, state: &State) -> M {
    let l = &shape.layout;
    let (jobs, rebuilds) = (state.parity.stripes.jobs.capacity(), state.parity.rebuilds.capacity());
    medium.attach(&Size {
        extents: l.extents(),
        units_per_extent: l.units_per_extent,
        units_per_row: l.units_per_row,
        units_per_lane: l.stride * l.units_per_extent,
        unit_bytes: l.unit_bytes as u32,
        slots: state.write.buffer.slots(),
        requests: shape.host.queue_depth,
        transfer: shape.host.max_transfer,
    });
    medium.set_accumulators(2 * jobs + rebuilds + state.parity.mends.capacity());
    medium
}

/// The same drive over another medium, which is attached to it.
pub(crate) fn over<O: Observer, M: Medium, N: Medium>(device: Device<O, M>, medium: N) -> Device<O, N> {
    let Device { shape, medium: _, map, flash, state } = device;
    let mut medium = attached(medium, &shape, &state);
    medium.fills_in(&map.fill);
    Device { shape, medium, map, flash, state }
}

/// The accumulators of a job: for the new parity, and for an old copy that a collection blocks.
fn accs_of(job: u32) -> (u32, u32) {
    (2 * job, 2 * job + 1)
}

/// The bytes that a command returns to the host when it ends.
#[inline]
pub(super) fn delivered<'a, M: Medium>(medium: &'a mut M, id: u32, r: &Request) -> &'a [u8] {
    if M::HOLDS_DATA && r.host.command.op == HostOp::Read && r.host.status == Status::Ok {
        return medium.read_data(id);
    }
    &[]
}

impl<O: Observer, M: Medium> Device<O, M> {
    /// The medium.
    pub fn medium(&self) -> &M {
        &self.medium
    }

    /// The medium, for changes that the device itself does not make.
    pub fn medium_mut(&mut self) -> &mut M {
        &mut self.medium
    }

    /// Return the medium and drop the drive.
    pub fn into_medium(self) -> M {
        self.medium
    }

    /// Tell the medium the data of a submitted write.
    #[inline]
    pub(super) fn data_submitted(&mut self, id: u32, data: &[u8]) {
        let c = self.state.host.requests[id].host.command;
        if M::HOLDS_DATA && c.op == HostOp::Write && self.in_range(c.offset, c.bytes) {
            self.medium.begin_write(id, c.bytes, data);
        }
    }

    /// Tell the medium that a slot was taken for a unit that was at `place`. `old_ppa` is the
    /// unit's copy on flash.
    #[inline]
    pub(super) fn data_below(&mut self, slot: u32, place: Place, old_ppa: Ppa) {
        if M::HOLDS_DATA {
            let below = match place {
                Place::Unmapped => Below::Zeros,
                Place::Flash(_) => Below::Flash,
                Place::Buffer(older) => Below::Slot { older: older.slot(), old_ppa },
            };
            self.medium.hold(slot, self.state.write.buffer.slot(slot).lpn, below);
        }
    }

    /// Tell the medium that bytes `from..to` of a slot's unit come from the request.
    #[inline]
    pub(super) fn data_held(&mut self, id: u32, slot: u32, from: u64, to: u64) {
        if M::HOLDS_DATA {
            let lpn = self.state.write.buffer.slot(slot).lpn;
            self.medium.write_slot(slot, from as u32..to as u32, id, self.data_at(id, lpn, from));
        }
    }

    /// The offset of byte `from` of a logical unit in the request's data.
    fn data_at(&self, id: u32, lpn: Lpn, from: u64) -> u32 {
        let unit = u64::from(lpn.0) * self.shape.layout.unit_bytes;
        (unit + from - self.state.host.requests[id].host.command.offset) as u32
    }

    /// Tell the medium that a slot in flight lacks bytes, which are being read at `old_ppa`.
    #[inline]
    pub(super) fn data_wanted(&mut self, slot: u32, old_ppa: Ppa) {
        if M::HOLDS_DATA {
            self.medium.want(slot, old_ppa);
        }
    }

    /// Tell the medium that the row of a write unit is programmed.
    #[inline]
    pub(super) fn data_programmed(&mut self, write_unit: u32) {
        if !M::HOLDS_DATA {
            return;
        }
        let upr = self.shape.layout.units_per_row;
        let s = &self.state;
        let g = &s.write.units[write_unit];
        if g.stripe != NONE {
            return self.data_member_programmed(write_unit);
        }
        for i in 0..g.count {
            let (lpn, source) = s.write.members[(write_unit * upr + i) as usize];
            match source {
                Source::Slot(slot) => self.medium.program_slot(g.ppa + i, slot, lpn, Kind::Wear),
                Source::Flash(from) => self.medium.program_staged(g.ppa + i, from, lpn, Kind::Gc),
                Source::Member(_) => unreachable!("members of stripes are above"),
            }
        }
        for i in g.count..upr {
            self.medium.program_pad(g.ppa + i);
        }
    }

    /// Tell the medium that a read is sensed: its data are in the page register.
    #[inline]
    pub(super) fn data_sensed(&mut self, op: OpId) {
        if !M::HOLDS_DATA {
            return;
        }
        if self.shape.fixed.may_fail && self.flash.senses_again(op) {
            return;
        }
        if let Work::Collection(_) = Work::from(self.flash.op(op).cmd.owner) {
            return self.data_to_be_moved(op);
        }
        if self.shape.fixed.may_fail && self.flash.has_failed(op) {
            return;
        }
        let s = &self.state;
        let o = &self.flash.op(op).cmd;
        debug_assert_eq!(o.kind, OpKind::Read);
        let upr = self.shape.layout.units_per_row;
        let row = || o.ppa..o.ppa + upr;
        match Work::from(o.owner) {
            Work::Request(id) => {
                if self.returns_data(id) {
                    self.medium.sense(id, row());
                }
                if o.rebuild != NONE {
                    self.medium.xor_flash(self.acc_of_rebuild(o.rebuild), o.ppa);
                }
            }
            Work::WriteUnit(write_unit) => {
                for i in 0..s.write.units[write_unit].count {
                    let (_, source) = s.write.members[(write_unit * upr + i) as usize];
                    self.medium.fill_slot(source.slot(), row());
                }
            }
            Work::Stripe(job) => self.data_of_stripe_sensed(job, o.ppa),
            Work::Rebuild(rid) => self.medium.xor_flash(self.acc_of_rebuild(rid), o.ppa),
            Work::Mend(mend) => self.medium.xor_flash(self.acc_of_mend(mend), o.ppa),
            // Collections are above.
            Work::Scrub(_) | Work::Collection(_) => {}
        }
    }

    /// Tell the medium which units the read of a collection has sensed: all its units except those on planes where it
    /// failed.
    fn data_to_be_moved(&mut self, op: OpId) {
        debug_assert!(Occupants::COLLECTION.has(self.flash.op(op).cmd.occupant));
        let failed = self.failed_units(op);
        for ppa in self.units_named(op).filter(|ppa| !failed.contains(ppa)) {
            let lpn = if self.map.is_valid(ppa) { self.map.owner(ppa) } else { Lpn::NONE };
            self.medium.stage(ppa, lpn);
        }
    }

    /// Tell the medium that slots of a write unit will never get the bytes that they lack from these addresses.
    pub(super) fn data_lacking(&mut self, write_unit: u32, failed: &[Ppa]) {
        if !M::HOLDS_DATA {
            return;
        }
        let upr = self.shape.layout.units_per_row;
        for i in 0..self.state.write.units[write_unit].count {
            let (_, source) = self.state.write.members[(write_unit * upr + i) as usize];
            for &ppa in failed {
                self.medium.fill_slot_with_zeros(source.slot(), ppa);
            }
        }
    }

    /// Tell the medium that a slot must take the bytes that it lacks from this address now, because the address is
    /// about to be erased.
    pub(super) fn data_settled(&mut self, slot: u32, ppa: Ppa) {
        if M::HOLDS_DATA {
            self.medium.want(slot, ppa);
            self.medium.fill_slot(slot, ppa..ppa + 1);
        }
    }

    /// Tell the medium that a dirty slot will never get the bytes that it lacks.
    pub(super) fn data_given_up(&mut self, slot: u32) {
        if M::HOLDS_DATA {
            self.medium.give_up(slot);
        }
    }

    /// Tell the medium that a unit is copied: in its plane by a copyback, or anywhere in zero time.
    #[inline]
    pub(super) fn data_copied(&mut self, from: Ppa, to: Ppa) {
        if M::HOLDS_DATA {
            self.medium.copy_back(from, to);
        }
    }

    /// Tell the medium that an extent is erased on all its dies.
    #[inline]
    pub(super) fn data_erased(&mut self, extent: u32) {
        if M::HOLDS_DATA {
            self.medium.erase(extent);
        }
    }

    /// Tell the medium that a logical unit is trimmed.
    #[inline]
    pub(super) fn data_trimmed(&mut self, lpn: Lpn) {
        if M::HOLDS_DATA {
            self.medium.trim(lpn);
        }
    }

    /// Tell the medium that the look-up of a read begins.
    #[inline]
    pub(super) fn data_asked(&mut self, id: u32) {
        if M::HOLDS_DATA {
            self.medium.begin_read(id, self.state.host.requests[id].host.command.bytes);
        }
    }

    /// Tell the medium where the bytes `from..to` of a logical unit are for a read.
    #[inline]
    pub(super) fn data_read(&mut self, id: u32, lpn: Lpn, from: u64, to: u64) {
        if !M::HOLDS_DATA {
            return;
        }
        let (at, range) = (self.data_at(id, lpn, from), from as u32..to as u32);
        match self.map.lookup(lpn) {
            Place::Unmapped => {}
            Place::Flash(ppa) => self.medium.read_flash(id, at, range, ppa, lpn),
            Place::Buffer(held) => {
                let slot = held.slot();
                let old_ppa = self.copy_below(lpn, slot);
                self.medium.read_slot(id, at, range, slot, old_ppa);
            }
        }
    }

    /// Tell the medium that the first `units` units were filled.
    pub(super) fn data_filled(&mut self, units: u32) {
        if M::HOLDS_DATA {
            self.medium.fill(&self.map.fill, units);
        }
    }

    /// Tell the medium that ageing has written a logical unit.
    #[inline]
    pub(super) fn data_aged(&mut self, ppa: Ppa, lpn: Lpn) {
        if !M::HOLDS_DATA {
            return;
        }
        match self.shape.stripes.as_ref().filter(|x| x.is_parity(lpn)) {
            Some(stripes) => {
                let first = stripes.first_of(stripes.stripe_of(lpn));
                self.medium.age_parity(ppa, Oob::parity(lpn, self.members_of_parity(lpn, NONE)), first);
            }
            None => self.medium.age(ppa, lpn),
        }
    }

    /// Tell the medium that units are programmed without data.
    #[inline]
    pub(super) fn data_padded(&mut self, ppas: Range<Ppa>) {
        if M::HOLDS_DATA {
            ppas.start.run(ppas.end - ppas.start).for_each(|ppa| self.medium.program_pad(ppa));
        }
    }

    /// Make the medium agree with the map and the extents, which are those of an aged drive. Stale
    /// units become padding in the medium.
    pub(super) fn data_adopted(&mut self) {
        if !M::HOLDS_DATA {
            return;
        }
        let filled = self.map.state.filled;
        self.medium.fill(&self.map.fill, filled);
        let rows = self.state.rows_written(&self.shape.layout);
        let (upr, upe) = (self.shape.layout.units_per_row, self.shape.layout.units_per_extent);
        for (extent, rows) in (0..).zip(rows) {
            let units = Ppa(extent * upe).run(rows * upr);
            let as_filled = |ppa| {
                let (lpn, parity) = (self.map.fill.lpn(ppa), self.map.state.parity);
                let filled = lpn.0 < filled || (parity.0..parity.1).contains(&lpn);
                self.map.is_valid(ppa) && filled && self.map.owner(ppa) == lpn
            };
            if rows * upr == upe && units.clone().all(as_filled) {
                continue;
            }
            self.medium.erase(extent);
            let layout = &self.shape.layout;
            let holds = |ppa: &Ppa| !self.state.extents.is_hole(layout, extent, layout.part_at(*ppa));
            for ppa in units.filter(holds).collect::<Vec<_>>() {
                match self.map.is_valid(ppa) {
                    true => self.data_aged(ppa, self.map.owner(ppa)),
                    false => self.medium.program_pad(ppa),
                }
            }
        }
    }

    fn acc_of_rebuild(&self, rid: u32) -> u32 {
        2 * self.state.parity.stripes.jobs.capacity() + rid
    }

    fn acc_of_mend(&self, mend: u32) -> u32 {
        self.acc_of_rebuild(self.state.parity.rebuilds.capacity()) + mend
    }

    /// Begin to compute the unit at this address for a collection.
    pub(super) fn data_mending(&mut self, mend: u32, ppa: Ppa) {
        if M::HOLDS_DATA {
            self.medium.xor_aim(self.acc_of_mend(mend), ppa);
        }
    }

    /// Add a member of the stripe that a job holds in the controller to a unit that is mended.
    pub(super) fn data_mends_with(&mut self, mend: u32, job: u32, unit: Lpn) {
        if M::HOLDS_DATA {
            self.add_from_job(self.acc_of_mend(mend), job, unit);
        }
    }

    /// Add a member of the stripe to a unit that is mended. A collection has read it.
    pub(super) fn data_mends_with_moving(&mut self, mend: u32, ppa: Ppa) {
        if M::HOLDS_DATA {
            self.medium.xor_flash(self.acc_of_mend(mend), ppa);
        }
    }

    /// Stage a mended unit to be moved.
    pub(super) fn data_mended(&mut self, mend: u32, ppa: Ppa, lpn: Lpn) {
        if M::HOLDS_DATA {
            self.medium.stage_xor(self.acc_of_mend(mend), ppa, lpn);
        }
    }

    /// Add a member that a job holds in the controller to an accumulator.
    fn add_from_job(&mut self, acc: u32, job: u32, unit: Lpn) {
        match self.slot_in_job(job, unit) {
            NONE => self.medium.xor_with(acc, accs_of(job).0),
            slot => self.medium.xor_slot(acc, slot),
        }
    }

    /// Clear the accumulators of a job, which begins to gather the data for its parity.
    #[inline]
    pub(super) fn data_gathering(&mut self, job: u32) {
        if M::HOLDS_DATA {
            let (parity, copy) = accs_of(job);
            self.medium.xor_clear(parity);
            self.medium.xor_clear(copy);
        }
    }

    /// The slot in which a job holds a unit; `NONE` if the job does not write the unit.
    fn slot_in_job(&self, job: u32, unit: Lpn) -> u32 {
        self.member_of(job, unit).map_or(NONE, |i| self.state.parity.stripes.members[i].slot)
    }

    /// Add a sensed unit to what a job computes, and fill the unit's slot from it.
    pub(super) fn data_of_stripe_sensed(&mut self, job: u32, ppa: Ppa) {
        let unit = self.map.owner(ppa);
        let slot = self.slot_in_job(job, unit);
        let clean = slot == NONE && self.shape.stripes.as_ref().is_some_and(|x| !x.is_parity(unit));
        let (parity, copy) = accs_of(job);
        let (for_parity, for_copy) = match self.state.parity.stripes.jobs[job].basis {
            Basis::ReadModifyWrite => (true, false),
            Basis::ReconstructWrite => (clean, false),
            Basis::ReconstructAround(_) => (clean, true),
        };
        if for_parity {
            self.medium.xor_flash(parity, ppa);
        }
        if for_copy {
            self.medium.xor_flash(copy, ppa);
        }
        if slot != NONE {
            self.medium.want(slot, ppa);
            self.medium.fill_slot(slot, ppa..ppa + 1);
        }
    }

    /// Complete the slots and the parity of a job. All data that the job has read are in the controller.
    #[inline]
    pub(super) fn data_gathered(&mut self, job: u32) {
        if !M::HOLDS_DATA {
            return;
        }
        let (parity, copy) = accs_of(job);
        if let Basis::ReconstructAround(unit) = self.state.parity.stripes.jobs[job].basis {
            // A copy that cannot be read may be gone.
            if let Some(ppa) = self.flash_copy(unit) {
                self.medium.complete_xor(copy, self.slot_in_job(job, unit), ppa);
            }
        }
        for i in self.state.parity.stripes.members_of(job) {
            let slot = self.state.parity.stripes.members[i].slot;
            if slot != NONE {
                self.medium.xor_slot(parity, slot);
            }
        }
    }

    /// Tell the medium that one member of a job is programmed.
    fn data_member_programmed(&mut self, write_unit: u32) {
        let s = &self.state;
        let (job, ppa) = (s.write.units[write_unit].stripe, s.write.units[write_unit].ppa);
        let (_, source) = s.write.members[(write_unit * self.shape.layout.units_per_row) as usize];
        let Member { unit, slot, .. } = s.parity.stripes.members[source.member()];
        if slot != NONE {
            return self.medium.program_slot(ppa, slot, unit, Kind::Wear);
        }
        let oob = Oob::parity(unit, self.members_of_parity(unit, job));
        self.medium.program_xor(accs_of(job).0, ppa, oob);
    }

    /// The data units that a parity covers, one bit each: those on flash and those that the job
    /// (`NONE`: no job) writes.
    fn members_of_parity(&self, parity: Lpn, job: u32) -> u64 {
        let stripes = self.shape.striped();
        let units = stripes.members(stripes.stripe_of(parity)).filter(|&u| u != parity);
        let is_covered =
            |unit: Lpn| self.flash_copy(unit).is_some() || job != NONE && self.slot_in_job(job, unit) != NONE;
        units.enumerate().map(|(i, unit)| u64::from(is_covered(unit)) << i).sum()
    }

    /// Whether the medium must gather data for a read. After a part has failed, the read returns nothing, and the
    /// addresses of that part may be rewritten before the other parts end.
    #[inline]
    fn returns_data(&self, id: u32) -> bool {
        M::HOLDS_DATA && self.state.host.requests[id].host.status == Status::Ok
    }

    /// Tell the medium that a read gets a unit from another address, because the unit has moved. Bytes that a slot
    /// holds for the unit come from the slot, as for a read that begins now: if the write in the slot has ended a loss,
    /// the address never had these data.
    pub(super) fn data_elsewhere(&mut self, id: u32, from: Ppa, to: Ppa) {
        if self.returns_data(id) {
            if let Place::Buffer(held) = self.map.lookup(self.map.owner(from)) {
                self.medium.redirect_to_slot(id, from, held.slot());
            }
            self.medium.redirect(id, from, to);
        }
    }

    /// Tell the medium that a read gets a unit from the controller, where a collection has read it.
    pub(super) fn data_moving(&mut self, id: u32, from: Ppa, now: Ppa) {
        self.data_elsewhere(id, from, now);
        if self.returns_data(id) {
            self.medium.sense(id, now..now + 1);
        }
    }

    /// Tell the medium that a read gets the unit that it had looked up at an address from a slot.
    pub(super) fn data_in_slot(&mut self, id: u32, from: Ppa, slot: u32) {
        if self.returns_data(id) {
            self.medium.redirect_to_slot(id, from, slot);
        }
    }

    /// Begin the reconstruction of the unit at this address from the rest of its stripe.
    #[inline]
    pub(super) fn data_rebuilding(&mut self, rid: u32, ppa: Ppa) {
        if M::HOLDS_DATA {
            self.medium.xor_aim(self.acc_of_rebuild(rid), ppa);
        }
    }

    /// Add a member of the stripe to a reconstruction. The member is in the controller, because a
    /// job writes it.
    #[inline]
    pub(super) fn data_rebuilds_with(&mut self, rid: u32, job: u32, unit: Lpn) {
        if M::HOLDS_DATA {
            self.add_from_job(self.acc_of_rebuild(rid), job, unit);
        }
    }

    /// Add a member of the stripe to a reconstruction. A collection has read it.
    pub(super) fn data_rebuilds_with_moving(&mut self, rid: u32, ppa: Ppa) {
        if M::HOLDS_DATA {
            self.medium.xor_flash(self.acc_of_rebuild(rid), ppa);
        }
    }

    /// Deliver a reconstructed unit to its request.
    #[inline]
    pub(super) fn data_rebuilt(&mut self, rid: u32) {
        if M::HOLDS_DATA {
            let (request, ppa) =
                (self.state.parity.rebuilds[rid].request, self.state.parity.rebuilds[rid].ppa);
            let all = 0..self.shape.layout.unit_bytes as u32;
            self.medium.deliver_xor(self.acc_of_rebuild(rid), request, all, ppa);
        }
    }
}
