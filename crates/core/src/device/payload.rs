//! The calls of the device to its medium: one helper for each point where data move. With a medium
//! without data none of them does anything.

use super::drive::{Device, State};
use super::shape::Shape;
use crate::address::{Lpn, Ppa};
use crate::containers::NONE;
use crate::device::copies::Copies;
use crate::device::host::commands::Host;
use crate::device::host::commands::Request;
use crate::device::parity::state::Parity;
use crate::device::parity::stripes::{Basis, Member};
use crate::device::work::Work;
use crate::device::write::state::Source;
use crate::device::write::state::Writes;
use crate::flash::Flash;
use crate::flash::OpId;
use crate::ftl::buffer::Buffer;
use crate::ftl::layout::Layout;
use crate::ftl::map::Map;
use crate::ftl::map::Mapping;
use crate::medium::{Below, Medium, Oob, Size, UnitKind};
use crate::nand::OpKind;
use crate::observer::Observer;
use std::ops::Range;
use tailcut_units::{HostOp, Occupants, Status};

/// The medium of a drive, and the points at which data move: a method for each. With a medium without data none of them
/// does anything.
pub(super) struct Payload<M: Medium> {
    pub medium: M,
}

/// Attach a medium to a drive, with its accumulators.
pub(super) fn attached<M: Medium>(mut medium: M, shape: &Shape, state: &State) -> Payload<M> {
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
    Payload { medium }
}

/// The same drive over another medium, which is attached to it.
pub(crate) fn over<O: Observer, M: Medium, N: Medium>(device: Device<O, M>, medium: N) -> Device<O, N> {
    let Device { shape, data: _, map, flash, state } = device;
    let mut data = attached(medium, &shape, &state);
    data.medium.fills_in(&map.fill);
    Device { shape, data, map, flash, state }
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

impl Copies<'_> {
    /// The data units that a parity covers, one bit each: those on flash and those that the job
    /// (`NONE`: no job) writes.
    fn members_of_parity(&self, parity: Lpn, job: u32) -> u64 {
        let stripes = self.shape.striped();
        let units = stripes.members(stripes.stripe_of(parity)).filter(|&u| u != parity);
        let is_covered = |unit: Lpn| {
            self.flash_copy(unit).is_some()
                || job != NONE && self.parity.stripes.slot_in_job(job, unit) != NONE
        };
        units.enumerate().map(|(i, unit)| u64::from(is_covered(unit)) << i).sum()
    }
}

impl Parity {
    fn acc_of_rebuild(&self, rid: u32) -> u32 {
        2 * self.stripes.jobs.capacity() + rid
    }

    fn acc_of_mend(&self, mend: u32) -> u32 {
        self.acc_of_rebuild(self.rebuilds.capacity()) + mend
    }
}

impl<M: Medium> Payload<M> {
    /// Whether the medium must gather data for a read. After a part has failed, the read returns nothing, and the
    /// addresses of that part may be rewritten before the other parts end.
    #[inline]
    fn returns_data(host: &Host, id: u32) -> bool {
        M::HOLDS_DATA && host.requests[id].host.status == Status::Ok
    }

    /// Add a member that a job holds in the controller to an accumulator.
    fn add_from_job(&mut self, parity: &Parity, acc: u32, job: u32, unit: Lpn) {
        match parity.stripes.slot_in_job(job, unit) {
            NONE => self.medium.xor_with(acc, accs_of(job).0),
            slot => self.medium.xor_slot(acc, slot),
        }
    }

    /// Tell the medium the data of a submitted write.
    #[inline]
    pub(super) fn submitted(&mut self, shape: &Shape, host: &Host, id: u32, data: &[u8]) {
        let c = host.requests[id].host.command;
        if M::HOLDS_DATA && c.op == HostOp::Write && shape.in_range(c.offset, c.bytes) {
            self.medium.begin_write(id, c.bytes, data);
        }
    }

    /// Tell the medium that a slot was taken for a unit that was at `place`. `old_ppa` is the
    /// unit's copy on flash.
    #[inline]
    pub(super) fn below(&mut self, buffer: &Buffer, slot: u32, place: Mapping, old_ppa: Ppa) {
        if M::HOLDS_DATA {
            let below = match place {
                Mapping::Unmapped => Below::Zeros,
                Mapping::Flash(_) => Below::Flash,
                Mapping::Buffer(older) => Below::Slot { older: older.slot(), old_ppa },
            };
            self.medium.hold(slot, buffer.slot(slot).lpn, below);
        }
    }

    /// Tell the medium that these bytes of a slot's unit come from the request.
    #[inline]
    pub(super) fn held(&mut self, layout: &Layout, state: &State, id: u32, slot: u32, bytes: Range<u64>) {
        if M::HOLDS_DATA {
            let lpn = state.write.buffer.slot(slot).lpn;
            self.medium.write_slot(
                slot,
                bytes.start as u32..bytes.end as u32,
                id,
                state.host.data_at(layout, id, lpn, bytes.start),
            );
        }
    }

    /// Tell the medium that a slot in flight lacks bytes, which are being read at `old_ppa`.
    #[inline]
    pub(super) fn wanted(&mut self, slot: u32, old_ppa: Ppa) {
        if M::HOLDS_DATA {
            self.medium.want(slot, old_ppa);
        }
    }

    /// Tell the medium that one member of a job is programmed.
    fn member_programmed(&mut self, copies: &Copies<'_>, write_unit: u32) {
        let (job, ppa) = (copies.write.units[write_unit].stripe, copies.write.units[write_unit].ppa);
        let (_, source) = copies.write.members[(write_unit * copies.shape.layout.units_per_row) as usize];
        let Member { unit, slot, .. } = copies.parity.stripes.members[source.member()];
        if slot != NONE {
            return self.medium.program_slot(ppa, slot, unit, UnitKind::Wear);
        }
        let oob = Oob::parity(unit, copies.members_of_parity(unit, job));
        self.medium.program_xor(accs_of(job).0, ppa, oob);
    }

    /// Tell the medium that the row of a write unit is programmed.
    #[inline]
    pub(super) fn programmed(&mut self, copies: &Copies<'_>, write_unit: u32) {
        if !M::HOLDS_DATA {
            return;
        }
        let upr = copies.shape.layout.units_per_row;
        let g = &copies.write.units[write_unit];
        if g.stripe != NONE {
            return self.member_programmed(copies, write_unit);
        }
        for i in 0..g.count {
            let (lpn, source) = copies.write.members[(write_unit * upr + i) as usize];
            match source {
                Source::Slot(slot) => self.medium.program_slot(g.ppa + i, slot, lpn, UnitKind::Wear),
                Source::Flash(from) => self.medium.program_staged(g.ppa + i, from, lpn, UnitKind::Gc),
                Source::Member(_) => unreachable!("members of stripes are above"),
            }
        }
        for i in g.count..upr {
            self.medium.program_pad(g.ppa + i);
        }
    }

    /// Add a sensed unit to what a job computes, and fill the unit's slot from it.
    pub(super) fn of_stripe_sensed(&mut self, copies: &Copies<'_>, job: u32, ppa: Ppa) {
        let unit = copies.map.owner(ppa);
        let slot = copies.parity.stripes.slot_in_job(job, unit);
        let clean = slot == NONE && copies.shape.stripes.as_ref().is_some_and(|x| !x.is_parity(unit));
        let (parity, copy) = accs_of(job);
        let (for_parity, for_copy) = match copies.parity.stripes.jobs[job].basis {
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

    /// Tell the medium which units the read of a collection has sensed: all its units except those on planes where it
    /// failed.
    fn stage_moving<O: Observer>(&mut self, flash: &Flash<O>, copies: &Copies<'_>, op: OpId) {
        debug_assert!(Occupants::COLLECTION.has(flash.op(op).cmd.occupant));
        let failed = copies.shape.failed_units(flash, op);
        for ppa in copies.shape.units_named(flash, op).filter(|ppa| !failed.contains(ppa)) {
            let lpn = if copies.map.is_valid(ppa) { copies.map.owner(ppa) } else { Lpn::NONE };
            self.medium.stage(ppa, lpn);
        }
    }

    /// Tell the medium that a read is sensed: its data are in the page register.
    #[inline]
    pub(super) fn sensed<O: Observer>(
        &mut self,
        flash: &Flash<O>,
        host: &Host,
        copies: &Copies<'_>,
        op: OpId,
    ) {
        if !M::HOLDS_DATA {
            return;
        }
        if copies.shape.fixed.may_fail && flash.senses_again(op) {
            return;
        }
        if let Work::Collection(_) = Work::from(flash.op(op).cmd.owner) {
            return self.stage_moving(flash, copies, op);
        }
        if copies.shape.fixed.may_fail && flash.has_failed(op) {
            return;
        }
        let o = &flash.op(op).cmd;
        debug_assert_eq!(o.kind, OpKind::Read);
        let upr = copies.shape.layout.units_per_row;
        let row = || o.ppa..o.ppa + upr;
        match Work::from(o.owner) {
            Work::Request(id) => {
                if Self::returns_data(host, id) {
                    self.medium.sense(id, row());
                }
                if o.rebuild != NONE {
                    self.medium.xor_flash(copies.parity.acc_of_rebuild(o.rebuild), o.ppa);
                }
            }
            Work::WriteUnit(write_unit) => {
                for i in 0..copies.write.units[write_unit].count {
                    let (_, source) = copies.write.members[(write_unit * upr + i) as usize];
                    self.medium.fill_slot(source.slot(), row());
                }
            }
            Work::Stripe(job) => self.of_stripe_sensed(copies, job, o.ppa),
            Work::Rebuild(rid) => self.medium.xor_flash(copies.parity.acc_of_rebuild(rid), o.ppa),
            Work::Mend(mend) => self.medium.xor_flash(copies.parity.acc_of_mend(mend), o.ppa),
            // Collections are above.
            Work::Scrub(_) | Work::Collection(_) => {}
        }
    }

    /// Tell the medium that slots of a write unit will never get the bytes that they lack from these addresses.
    pub(super) fn lacking(&mut self, layout: &Layout, write: &Writes, write_unit: u32, failed: &[Ppa]) {
        if !M::HOLDS_DATA {
            return;
        }
        let upr = layout.units_per_row;
        for i in 0..write.units[write_unit].count {
            let (_, source) = write.members[(write_unit * upr + i) as usize];
            for &ppa in failed {
                self.medium.fill_slot_with_zeros(source.slot(), ppa);
            }
        }
    }

    /// Tell the medium that a slot must take the bytes that it lacks from this address now, because the address is
    /// about to be erased.
    pub(super) fn settled(&mut self, slot: u32, ppa: Ppa) {
        if M::HOLDS_DATA {
            self.medium.want(slot, ppa);
            self.medium.fill_slot(slot, ppa..ppa + 1);
        }
    }

    /// Tell the medium that a dirty slot will never get the bytes that it lacks.
    pub(super) fn given_up(&mut self, slot: u32) {
        if M::HOLDS_DATA {
            self.medium.give_up(slot);
        }
    }

    /// Tell the medium that a unit is copied: in its plane by a copyback, or anywhere in zero time.
    #[inline]
    pub(super) fn copied(&mut self, from: Ppa, to: Ppa) {
        if M::HOLDS_DATA {
            self.medium.copy_back(from, to);
        }
    }

    /// Tell the medium that an extent is erased on all its dies.
    #[inline]
    pub(super) fn erased(&mut self, extent: u32) {
        if M::HOLDS_DATA {
            self.medium.erase(extent);
        }
    }

    /// Tell the medium that a logical unit is trimmed.
    #[inline]
    pub(super) fn trimmed(&mut self, lpn: Lpn) {
        if M::HOLDS_DATA {
            self.medium.trim(lpn);
        }
    }

    /// Tell the medium that units are programmed without data.
    #[inline]
    pub(super) fn padded(&mut self, ppas: Range<Ppa>) {
        if M::HOLDS_DATA {
            ppas.start.run(ppas.end - ppas.start).for_each(|ppa| self.medium.program_pad(ppa));
        }
    }

    /// Clear the accumulators of a job, which begins to gather the data for its parity.
    #[inline]
    pub(super) fn gathering(&mut self, job: u32) {
        if M::HOLDS_DATA {
            let (parity, copy) = accs_of(job);
            self.medium.xor_clear(parity);
            self.medium.xor_clear(copy);
        }
    }

    /// Tell the medium that the look-up of a read begins.
    #[inline]
    pub(super) fn asked(&mut self, host: &Host, id: u32) {
        if M::HOLDS_DATA {
            self.medium.begin_read(id, host.requests[id].host.command.bytes);
        }
    }

    /// Tell the medium where the bytes `from..to` of a logical unit are for a read.
    #[inline]
    pub(super) fn read(&mut self, host: &Host, copies: &Copies<'_>, id: u32, lpn: Lpn, from: u64, to: u64) {
        if !M::HOLDS_DATA {
            return;
        }
        let (at, range) = (host.data_at(&copies.shape.layout, id, lpn, from), from as u32..to as u32);
        match copies.map.lookup(lpn) {
            Mapping::Unmapped => {}
            Mapping::Flash(ppa) => self.medium.read_flash(id, at, range, ppa, lpn),
            Mapping::Buffer(held) => {
                let slot = held.slot();
                let old_ppa = copies.copy_below(lpn, slot);
                self.medium.read_slot(id, at, range, slot, old_ppa);
            }
        }
    }

    /// Tell the medium that the first `units` units were filled.
    pub(super) fn filled(&mut self, map: &Map, units: u32) {
        if M::HOLDS_DATA {
            self.medium.fill(&map.fill, units);
        }
    }

    /// Tell the medium that ageing has written a logical unit.
    #[inline]
    pub(super) fn aged(&mut self, copies: &Copies<'_>, ppa: Ppa, lpn: Lpn) {
        if !M::HOLDS_DATA {
            return;
        }
        match copies.shape.stripes.as_ref().filter(|x| x.is_parity(lpn)) {
            Some(stripes) => {
                let first = stripes.first_of(stripes.stripe_of(lpn));
                self.medium.age_parity(ppa, Oob::parity(lpn, copies.members_of_parity(lpn, NONE)), first);
            }
            None => self.medium.age(ppa, lpn),
        }
    }

    /// Make the medium agree with the map and the extents, which are those of an aged drive. Stale
    /// units become padding in the medium.
    pub(in crate::device) fn adopted(&mut self, shape: &Shape, map: &Map, state: &State) {
        if !M::HOLDS_DATA {
            return;
        }
        let (layout, filled) = (&shape.layout, map.state.filled);
        self.medium.fill(&map.fill, filled);
        let rows = state.rows_written(layout);
        let (upr, upe) = (layout.units_per_row, layout.units_per_extent);
        for (extent, rows) in (0..).zip(rows) {
            let units = Ppa(extent * upe).run(rows * upr);
            let as_filled = |ppa| {
                let (lpn, parity) = (map.fill.lpn(ppa), map.state.parity);
                let filled = lpn.0 < filled || (parity.0..parity.1).contains(&lpn);
                map.is_valid(ppa) && filled && map.owner(ppa) == lpn
            };
            if rows * upr == upe && units.clone().all(as_filled) {
                continue;
            }
            self.medium.erase(extent);
            let holds = |ppa: &Ppa| !state.extents.is_hole(layout, extent, layout.part_at(*ppa));
            for ppa in units.filter(holds) {
                match map.is_valid(ppa) {
                    true => self.aged(&state.copies(shape, map), ppa, map.owner(ppa)),
                    false => self.medium.program_pad(ppa),
                }
            }
        }
    }

    /// Begin to compute the unit at this address for a collection.
    pub(super) fn mending(&mut self, parity: &Parity, mend: u32, ppa: Ppa) {
        if M::HOLDS_DATA {
            self.medium.xor_aim(parity.acc_of_mend(mend), ppa);
        }
    }

    /// Add a member of the stripe that a job holds in the controller to a unit that is mended.
    pub(super) fn mends_with(&mut self, parity: &Parity, mend: u32, job: u32, unit: Lpn) {
        if M::HOLDS_DATA {
            self.add_from_job(parity, parity.acc_of_mend(mend), job, unit);
        }
    }

    /// Add a member of the stripe to a unit that is mended. A collection has read it.
    pub(super) fn mends_with_moving(&mut self, parity: &Parity, mend: u32, ppa: Ppa) {
        if M::HOLDS_DATA {
            self.medium.xor_flash(parity.acc_of_mend(mend), ppa);
        }
    }

    /// Stage a mended unit to be moved.
    pub(super) fn mended(&mut self, parity: &Parity, mend: u32, ppa: Ppa, lpn: Lpn) {
        if M::HOLDS_DATA {
            self.medium.stage_xor(parity.acc_of_mend(mend), ppa, lpn);
        }
    }

    /// Begin the reconstruction of the unit at this address from the rest of its stripe.
    #[inline]
    pub(super) fn rebuilding(&mut self, parity: &Parity, rid: u32, ppa: Ppa) {
        if M::HOLDS_DATA {
            self.medium.xor_aim(parity.acc_of_rebuild(rid), ppa);
        }
    }

    /// Add a member of the stripe to a reconstruction. The member is in the controller, because a
    /// job writes it.
    #[inline]
    pub(super) fn rebuilds_with(&mut self, parity: &Parity, rid: u32, job: u32, unit: Lpn) {
        if M::HOLDS_DATA {
            self.add_from_job(parity, parity.acc_of_rebuild(rid), job, unit);
        }
    }

    /// Add a member of the stripe to a reconstruction. A collection has read it.
    pub(super) fn rebuilds_with_moving(&mut self, parity: &Parity, rid: u32, ppa: Ppa) {
        if M::HOLDS_DATA {
            self.medium.xor_flash(parity.acc_of_rebuild(rid), ppa);
        }
    }

    /// Complete the slots and the parity of a job. All data that the job has read are in the controller.
    #[inline]
    pub(super) fn gathered(&mut self, copies: &Copies<'_>, job: u32) {
        if !M::HOLDS_DATA {
            return;
        }
        let (parity, copy) = accs_of(job);
        if let Basis::ReconstructAround(unit) = copies.parity.stripes.jobs[job].basis {
            // A copy that cannot be read may be gone.
            if let Some(ppa) = copies.flash_copy(unit) {
                self.medium.complete_xor(copy, copies.parity.stripes.slot_in_job(job, unit), ppa);
            }
        }
        for i in copies.parity.stripes.members_of(job) {
            let slot = copies.parity.stripes.members[i].slot;
            if slot != NONE {
                self.medium.xor_slot(parity, slot);
            }
        }
    }

    /// Tell the medium that a read gets a unit from another address, because the unit has moved. Bytes that a slot
    /// holds for the unit come from the slot, as for a read that begins now: if the write in the slot has ended a loss,
    /// the address never had these data.
    pub(super) fn elsewhere(&mut self, host: &Host, map: &Map, id: u32, from: Ppa, to: Ppa) {
        if Self::returns_data(host, id) {
            if let Mapping::Buffer(held) = map.lookup(map.owner(from)) {
                self.medium.redirect_to_slot(id, from, held.slot());
            }
            self.medium.redirect(id, from, to);
        }
    }

    /// Tell the medium that a read gets a unit from the controller, where a collection has read it.
    pub(super) fn moving(&mut self, host: &Host, map: &Map, id: u32, from: Ppa, now: Ppa) {
        self.elsewhere(host, map, id, from, now);
        if Self::returns_data(host, id) {
            self.medium.sense(id, now..now + 1);
        }
    }

    /// Tell the medium that a read gets the unit that it had looked up at an address from a slot.
    pub(super) fn in_slot(&mut self, host: &Host, id: u32, from: Ppa, slot: u32) {
        if Self::returns_data(host, id) {
            self.medium.redirect_to_slot(id, from, slot);
        }
    }

    /// Deliver a reconstructed unit to its request.
    #[inline]
    pub(super) fn rebuilt(&mut self, layout: &Layout, parity: &Parity, rid: u32) {
        if M::HOLDS_DATA {
            let (request, ppa) = (parity.rebuilds[rid].request, parity.rebuilds[rid].ppa);
            let all = 0..layout.unit_bytes as u32;
            self.medium.deliver_xor(parity.acc_of_rebuild(rid), request, all, ppa);
        }
    }
}

impl<O: Observer, M: Medium> Device<O, M> {
    /// The medium.
    pub fn medium(&self) -> &M {
        &self.data.medium
    }

    /// The medium, for changes that the device itself does not make.
    pub fn medium_mut(&mut self) -> &mut M {
        &mut self.data.medium
    }
}
