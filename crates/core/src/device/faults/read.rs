//! Failed reads: pages whose data cannot be decoded.

use crate::address::{Extent, Ppa};
use crate::containers::NONE;
use crate::device::copies::Copies;
use crate::device::drive::{Deferred, Device};
use crate::device::faults::state::FaultState;
use crate::device::shape::Shape;
use crate::device::work::Work;
use crate::flash::Flash;
use crate::flash::{OpId, Target};
use crate::ftl::layout::Layout;
use crate::medium::Medium;
use crate::observer::Observer;

impl FaultState {
    /// Update the flag for lost copies on flash, after the known failures have changed.
    pub(in crate::device) fn note_lost(&mut self) {
        self.some_lost = !self.life.is_empty() || !self.unreadable.is_empty() || !self.broken.is_empty();
    }

    /// Note the erase of an extent: its unreadable units no longer exist.
    #[cold]
    pub(in crate::device) fn readable_again(&mut self, layout: &Layout, extent: u32) {
        let each = layout.units_per_extent;
        let first = Ppa(extent * each);
        let gone: Vec<Ppa> = self.unreadable.range(first..first + each).collect();
        if !gone.is_empty() {
            gone.into_iter().for_each(|ppa| self.unreadable.remove(ppa));
            self.note_lost();
        }
    }

    #[cold]
    fn readable_after_all<O: Observer>(&mut self, shape: &Shape, flash: &Flash<O>, op: OpId) {
        for ppa in shape.units_read(flash, op).collect::<Vec<_>>() {
            self.unreadable.remove(ppa);
        }
    }
}

impl Shape {
    /// The planes of its die on which a unit lies.
    fn planes_of_unit(&self, ppa: Ppa) -> u32 {
        let (_, slot) = self.layout.row_start(ppa);
        let first = self.layout.place(ppa).plane;
        self.read_cost(first, slot, 0, self.layout.unit_bytes).0
    }

    /// The units that a read is for; for a host read, all units of its row.
    pub(in crate::device) fn units_named<O: Observer>(
        &self,
        flash: &Flash<O>,
        op: OpId,
    ) -> impl Iterator<Item = Ppa> + use<O> {
        let cmd = flash.op(op).cmd;
        let (row, _) = self.layout.row_start(cmd.ppa);
        row.run(self.layout.units_per_row).filter(move |&unit| cmd.is_for(unit))
    }

    /// The units of a read that lie, wholly or in part, on planes where it failed.
    pub(in crate::device) fn failed_units<O: Observer>(&self, flash: &Flash<O>, op: OpId) -> Vec<Ppa> {
        let unread = flash.op(op).unread;
        self.units_named(flash, op)
            .filter(|&ppa| unread != 0 && self.planes_of_unit(ppa) & unread != 0)
            .collect()
    }

    /// The units of which a read addresses all planes.
    fn units_read<O: Observer>(&self, flash: &Flash<O>, op: OpId) -> impl Iterator<Item = Ppa> {
        let planes = flash.op(op).cmd.planes;
        self.units_named(flash, op).filter(move |&ppa| self.planes_of_unit(ppa) & !planes == 0)
    }
}

impl Copies<'_> {
    /// Whether a copy on flash is in use: it is valid, or it is the parity of a flush that has not committed yet and
    /// that reconstructions may already need.
    pub(in crate::device) fn is_in_use(&self, ppa: Ppa) -> bool {
        let stripes = &self.parity.stripes;
        let written = |job| {
            let members = &stripes.members[stripes.members_of(job)];
            members.iter().any(|m| m.done && m.slot == NONE && m.ppa == ppa)
        };
        self.map.is_valid(ppa) || stripes.jobs.in_use().into_iter().any(written)
    }
}

impl<O: Observer, M: Medium> Device<O, M> {
    /// Begin to handle a read whose data have been decoded or given up, on a drive whose reads can fail. The read has
    /// kept its extent from being erased until now. Returns whether the owner of the read gets its end as without
    /// failures. [`Device::read_settled`] must follow.
    #[inline]
    pub(in crate::device) fn read_settles(&mut self, op: OpId) -> bool {
        let extent = self.state.read_leaves(&self.shape.layout, op);
        if self.flash.has_failed(op) {
            return self.failed_read_settles(op, extent);
        }
        self.note_readable(op);
        true
    }

    #[cold]
    fn failed_read_settles(&mut self, op: OpId, extent: Extent) -> bool {
        self.state.counters.read_failures += 1;
        let goes_on = self.read_failed(op);
        if !goes_on {
            self.read_settled(extent);
        }
        goes_on
    }

    /// End the handling of a read of this extent.
    #[inline]
    pub(in crate::device) fn read_settled(&mut self, extent: Extent) {
        self.erase_if_drained(extent);
    }

    /// Handle a read that has failed. Returns whether its owner must still get its end.
    fn read_failed(&mut self, op: OpId) -> bool {
        let failed = self.shape.failed_units(&self.flash, op);
        match Work::from(self.flash.op(op).cmd.owner) {
            Work::Request(id) => {
                self.note_unreadable(&failed);
                return self.host_read_failed(op, id);
            }
            Work::WriteUnit(write_unit) => {
                self.data.lacking(&self.shape.layout, &self.state.write, write_unit, &failed);
                for ppa in failed {
                    self.state.faults.lacks_for_good(self.map.owner(ppa), op.number());
                }
            }
            Work::Collection(lane) => self.leave_behind(op, lane, &failed),
            Work::Stripe(job) => {
                self.note_unreadable(&failed);
                self.state.parity.stripes.jobs[job].failed = true;
            }
            Work::Scrub(_) | Work::Rebuild(_) => self.note_unreadable(&failed),
            Work::Mend(_) => {}
        }
        true
    }

    /// Note units on flash on which a read has failed.
    pub(in crate::device) fn note_unreadable(&mut self, units: &[Ppa]) {
        for &ppa in units {
            if self.copies().is_in_use(ppa) {
                self.state.faults.unreadable.insert(ppa);
            }
        }
        self.state.faults.note_lost();
        if self.shape.has_parity() {
            self.state.deferred.push(Deferred::Rewrite);
        }
    }

    /// Note that a read has decoded its units. If an earlier read had failed on them, they are readable again.
    #[inline]
    fn note_readable(&mut self, op: OpId) {
        match Work::from(self.flash.op(op).cmd.owner) {
            Work::Request(_) => {}
            Work::WriteUnit(write_unit) => {
                let first = (write_unit * self.shape.layout.units_per_row) as usize;
                for i in 0..self.state.write.units[write_unit].count as usize {
                    let (unit, _) = self.state.write.members[first + i];
                    self.state.faults.lacks_nothing(unit, op.number());
                }
            }
            Work::Stripe(job) => {
                let unit = self.map.owner(self.flash.op(op).cmd.ppa);
                if let Some(at) = self.state.parity.stripes.member_of(job, unit) {
                    self.state.parity.stripes.members[at].short = false;
                    self.state.faults.lacks_nothing(unit, NONE);
                }
            }
            _ => {}
        }
        if self.state.faults.unreadable.is_empty() {
            return;
        }
        let (row, _) = self.shape.layout.row_start(self.flash.op(op).cmd.ppa);
        if self.state.faults.unreadable.may_touch(row..row + self.shape.layout.units_per_row) {
            self.state.faults.readable_after_all(&self.shape, &self.flash, op);
        }
    }

    /// Handle the units that a collection could not read: mend them, or lose them.
    fn leave_behind(&mut self, op: OpId, lane: u32, failed: &[Ppa]) {
        if self.state.faults.is_dead(lane) {
            self.flash.order_mut(op).target = Target::Units(0);
            return;
        }
        for &ppa in failed {
            let cmd = self.flash.order_mut(op);
            if cmd.is_for(ppa) {
                *cmd.units_mut() &= !(1 << (ppa - cmd.ppa));
                if self.map.is_valid(ppa) {
                    self.leave_unit_behind(ppa);
                }
            }
        }
    }

    /// The units of a segment that a collection can read, as a mask. Units on dead planes of the lane are mended or
    /// lost.
    #[cold]
    pub(in crate::device) fn avoid_dead_planes(&mut self, lane: u32, start: Ppa, mask: u64) -> u64 {
        let dead = |bit: &u32| {
            mask >> bit & 1 == 1 && self.state.faults.is_dead_at(&self.shape.layout, start + *bit)
        };
        let dead: Vec<u32> = (0..64).filter(dead).collect();
        // A unit that is being mended keeps the collection from ending.
        self.state.gc.collections[lane as usize].reads += 1;
        for &bit in &dead {
            if self.map.is_valid(start + bit) {
                self.leave_unit_behind(start + bit);
            }
        }
        self.state.gc.collections[lane as usize].reads -= 1;
        dead.into_iter().fold(mask, |mask, bit| mask & !(1 << bit))
    }

    /// Handle a valid unit that a collection could not read: mend it, or lose it.
    pub(in crate::device) fn leave_unit_behind(&mut self, ppa: Ppa) {
        if self.shape.has_parity() {
            self.begin_mend(ppa);
        } else {
            self.lose_unit(self.map.owner(ppa), ppa);
        }
    }
}
