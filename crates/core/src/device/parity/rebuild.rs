//! Reconstruction: instead of a read that would wait for a collection, the unit is computed from the rest of its
//! stripe.

use crate::address::{BusyUnit, Extent, Lpn, Ppa};
use crate::containers::NONE;
use crate::containers::few_timers::FewTimers;
use crate::device::copies::Copies;
use crate::device::drive::Device;
use crate::device::parity::state::Parity;
use crate::device::shape::Shape;
use crate::device::work::Work;
use crate::flash::{Flash, FlashCommand, OpId};
use crate::medium::Medium;
use crate::observer::{Observer, RequestStep};
use crate::policy::read_path::BlockedView;
use serde::{Deserialize, Serialize};
use tailcut_units::{Cause, Ledger, Occupant, Span, Status};

/// A unit of a host read that is being computed.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(in crate::device) struct Rebuild {
    /// The host read.
    pub request: u32,
    /// Number of members of the stripe whose reads have not ended.
    pub left: u32,
    /// Number of bytes for the host.
    pub bytes: u32,
    /// The address at which the request looked the unit up.
    pub ppa: Ppa,
    /// Whether a member of the stripe could not be read.
    pub failed: bool,
    /// The ledger of the member that arrived last, counted from the request's look-up.
    pub ledger: Ledger,
}

/// The source of a member of a stripe, for the reconstruction of another member.
#[derive(Clone, Copy)]
pub(in crate::device) enum Source {
    /// The member has no data: never written, or trimmed.
    Nowhere,
    /// On flash, at this address.
    Flash(Ppa),
    /// In the controller, where a collection has read it. The address, at which it cannot be read any more, identifies
    /// it.
    Moving(Ppa),
    /// In the controller's memory, on its way to flash.
    Memory,
}

impl Rebuild {
    pub fn blank() -> Rebuild {
        Rebuild { request: NONE, left: 0, bytes: 0, ppa: Ppa::NONE, failed: false, ledger: Ledger::new() }
    }
}

impl Shape {
    /// Time of command, sense and transfer of one unit on an idle drive, ns.
    fn unit_read_ns(&self) -> u64 {
        let t = &self.timing;
        t.command_ns + t.read_ns(0) + t.transfer_codewords_ns(self.codewords_per_unit)
    }
}

impl Copies<'_> {
    /// Which state of the stripe covers the unit at this address: the one before its flush (false), or the one that its
    /// job writes (true). `None` if the unit has been trimmed or overwritten since.
    pub(in crate::device) fn covering(&self, job: u32, unit: Lpn, ppa: Ppa) -> Option<bool> {
        if self.copy_beside(job, unit) == Some(ppa) {
            return Some(false);
        }
        let member = &self.parity.stripes.members[self.parity.stripes.member_of(job, unit)?];
        (member.done && member.ppa == ppa).then_some(true)
    }

    /// The source of a member of a stripe, in the state before its flush or (`rewritten`) in the state that its job
    /// writes.
    pub(in crate::device) fn source(&self, job: u32, rewritten: bool, unit: Lpn) -> Source {
        if rewritten && let Some(i) = self.parity.stripes.member_of(job, unit) {
            let member = &self.parity.stripes.members[i];
            return if member.done { Source::Flash(member.ppa) } else { Source::Memory };
        }
        match self.copy_beside(job, unit) {
            None => Source::Nowhere,
            Some(ppa) if self.is_lost_but_moving(ppa) => Source::Moving(ppa),
            Some(ppa) => Source::Flash(ppa),
        }
    }
}

impl Parity {
    /// Compute a unit: all other members of its stripe are in the controller.
    fn compute(&mut self, shape: &Shape, timers: &mut FewTimers, now: u64, rid: u32) {
        self.rebuilds[rid].ledger.charge(Cause::RECONSTRUCTION, shape.xor_ns);
        self.rebuilt.push(timers, now + shape.xor_ns, rid);
    }
}

impl<O: Observer, M: Medium> Device<O, M> {
    /// Replace operations of a host read that a collection blocks by reconstructions, at most one for each stripe, if
    /// the policy decides so. The operations in `ops` are not queued yet. Returns the number of parts of the request:
    /// its own operations and its reconstructions. The reads for reconstructions are at the end of `ops`, after the
    /// request's own.
    pub(in crate::device) fn rebuild_blocked(&mut self, id: u32, ops: &mut Vec<OpId>) -> u32 {
        let mut own = ops.len();
        let mut rebuilt = 0;
        let mut i = 0;
        while i < own {
            let op = ops[i];
            let blocked = self.state.left_for(&self.shape, &self.flash, op).left > 0;
            let alone = self.flash.op(op).cmd.rebuild == NONE;
            let instead = blocked && alone && self.is_longest(op, &ops[..own]);
            if instead && self.rebuild_instead(id, op, own, ops).is_some() {
                ops.remove(i);
                own -= 1;
                rebuilt += 1;
                self.abandon_read(op);
            } else if self.state.faults.is_dead_at(&self.shape.layout, self.flash.op(op).cmd.ppa) {
                ops.remove(i);
                own -= 1;
                self.state.host.requests[id].host.status = Status::MediaError;
                self.abandon_read(op);
            } else {
                i += 1;
            }
        }
        own as u32 + rebuilt
    }

    /// Whether this is the operation that is blocked longest, among the request's operations on the same stripe.
    fn is_longest(&self, op: OpId, own: &[OpId]) -> bool {
        let Some(stripes) = &self.shape.stripes else { return false };
        let stripe = |op: OpId| stripes.stripe_of(self.map.owner(self.flash.op(op).cmd.ppa));
        let left = |op: OpId| self.state.left_for(&self.shape, &self.flash, op).left;
        let (its, longest) = (stripe(op), left(op));
        own.iter().all(|&o| o == op || stripe(o) != its || left(o) <= longest)
    }

    /// Ask the policy about one blocked operation of a host read. If the policy rebuilds, return
    /// the reconstruction: the caller must give the operation up, and the reads of the other
    /// members are added to `ops`. The first `own` of `ops` are operations of the request itself,
    /// whose data the reconstruction uses too.
    pub(in crate::device) fn rebuild_instead(
        &mut self,
        id: u32,
        op: OpId,
        own: usize,
        ops: &mut Vec<OpId>,
    ) -> Option<u32> {
        let stripes = self.shape.striped();
        let row = self.flash.op(op).cmd.ppa;
        let target = self.map.owner(row);
        let stripe = stripes.stripe_of(target);
        let job = self.copies().job_of(stripe);
        let rewritten = self.copies().computing(job, target, row)?;
        let blocked = self.state.left_for(&self.shape, &self.flash, op);
        let mut view = BlockedView {
            left: Span(blocked.left),
            left_as_begun: Span(blocked.as_begun),
            last_step: blocked.last_step,
            step_left: Span(blocked.step),
            others_left: Span(0),
            extra_left_as_begun: Span(0),
            extra: 0,
            busy_channels: 0,
            read: Span(self.shape.unit_read_ns()),
            rotates: self.shape.fixed.rotates,
        };
        let copies = self.copies();
        for member in stripes.members(stripe).filter(|&u| u != target) {
            let Source::Flash(ppa) = copies.source(job, rewritten, member) else { continue };
            let place = self.shape.layout.place(ppa);
            let unit = self.shape.unit_of(place.die, place.plane);
            let other = self.state.gc.unit_left(
                &self.shape,
                &self.flash,
                &self.state.extents,
                self.state.now,
                unit,
                1 << place.plane,
            );
            view.others_left.0 = view.others_left.0.max(other.left);
            if own_read(&self.flash, &ops[..own], ppa).is_none() {
                view.extra += 1;
                view.extra_left_as_begun.0 = view.extra_left_as_begun.0.max(other.as_begun);
                view.busy_channels += u32::from(self.flash.channel_is_taken(unit));
            }
        }
        let lost = self.state.faults.is_lost(&self.shape.layout, row);
        if !lost && !self.state.policies.read_path.rebuild(&view) {
            return None;
        }
        let rid = self.state.parity.rebuilds.take();
        let FlashCommand { bytes, extent, .. } = self.flash.op(op).cmd;
        let r = &mut self.state.parity.rebuilds[rid];
        (r.request, r.left, r.bytes, r.ppa) = (id, 0, bytes, row);
        r.failed = false;
        if self.shape.fixed.may_fail {
            // If another member cannot be read, the unit itself may have to be read.
            self.state.parity.targets.begins(rid, Extent(extent));
            self.state.gc.reader_comes(&self.shape.layout, Extent(extent));
        }
        self.data.rebuilding(&self.state.parity, rid, row);
        for unit in self.shape.striped().members(stripe) {
            if unit == target {
                continue;
            }
            let ppa = match self.copies().source(job, rewritten, unit) {
                Source::Nowhere => continue,
                Source::Memory => {
                    self.data.rebuilds_with(&self.state.parity, rid, job, unit);
                    continue;
                }
                Source::Moving(ppa) => {
                    self.data.rebuilds_with_moving(&self.state.parity, rid, ppa);
                    continue;
                }
                Source::Flash(ppa) => ppa,
            };
            self.state.parity.rebuilds[rid].left += 1;
            match own_read(&self.flash, &ops[..own], ppa) {
                Some(mine) => {
                    // The whole unit is needed now.
                    let plane = self.shape.layout.place(ppa).plane;
                    let (planes, codewords) = self.shape.read_cost(plane, 0, 0, self.shape.layout.unit_bytes);
                    let read = self.flash.order_mut(mine);
                    (read.rebuild, read.planes, read.codewords) = (rid, planes, codewords);
                }
                None => {
                    let read = self.shape.unit_read_of(Occupant::UserRead, Work::Rebuild(rid), ppa);
                    let serial = self.state.host.requests[id].host.index;
                    let extra = self.order_read(FlashCommand { rebuild: rid, tag: id, serial, ..read });
                    self.state.counters.rebuild_reads += 1;
                    ops.push(extra);
                }
            }
        }
        let members = self.state.parity.rebuilds[rid].left;
        self.state.host.observe(
            &mut self.flash,
            self.state.now,
            id,
            RequestStep::Rebuilds { rebuild: rid, instead: op.number(), members, bytes },
        );
        self.state.counters.rebuilt_units += 1;
        self.state.host.requests[id].rebuilt = true;
        if self.state.parity.rebuilds[rid].left == 0 {
            // All other members of the stripe are in the controller or have no data.
            self.state.parity.rebuilds[rid].ledger.clear();
            self.state.parity.compute(&self.shape, &mut self.state.timers, self.state.now, rid);
        }
        Some(rid)
    }

    /// Cancel a reserved read that was not submitted, as if it had never been reserved.
    pub(in crate::device) fn abandon_read(&mut self, op: OpId) {
        self.flash.cancel(op);
        let extent = self.state.read_leaves(&self.shape.layout, op);
        self.erase_if_drained(extent);
    }

    /// Replace host reads that wait at a unit by reconstructions, after a collection has closed the
    /// unit.
    pub(in crate::device) fn rebuild_queued(&mut self, unit: BusyUnit) {
        if !self.flash.keeps_reads(unit) {
            return; // It is open again: its reads begin as its planes become free.
        }
        let mut ops = std::mem::take(&mut self.state.host.scratch);
        let mut queued = self.flash.first_queued_read(unit);
        while let Some(at) = queued {
            queued = self.flash.queued_after(at);
            let id = match Work::from(self.flash.op(at).cmd.owner) {
                Work::Request(id) if self.flash.op(at).cmd.rebuild == NONE => id,
                _ => continue,
            };
            let blocked = self
                .state
                .gc
                .unit_left(
                    &self.shape,
                    &self.flash,
                    &self.state.extents,
                    self.state.now,
                    unit,
                    self.flash.op(at).cmd.planes,
                )
                .left
                > 0;
            if let Some(rid) = blocked.then(|| self.rebuild_instead(id, at, 0, &mut ops)).flatten() {
                self.flash.withdraw(unit, at);
                let waited = self.flash.op(at).ledger;
                self.free_op(at);
                let extent = self.state.read_leaves(&self.shape.layout, at);
                self.erase_if_drained(extent);
                // The reconstruction counts from the request's look-up, and so includes this wait.
                self.submit_instead(rid, &mut ops, &waited);
            }
        }
        self.state.host.scratch = ops;
    }

    /// Submit the reads of a reconstruction that replaces a read. The time that the replaced read has spent goes into
    /// their ledgers or, if there are no reads, into the ledger of the reconstruction.
    #[inline]
    pub(in crate::device) fn submit_instead(&mut self, rid: u32, ops: &mut Vec<OpId>, spent: &Ledger) {
        if ops.is_empty() {
            self.state.parity.rebuilds[rid].ledger.merge(spent);
        }
        for op in ops.drain(..) {
            self.submit_op(op);
            self.flash.add_to_ledger(op, spent);
        }
    }

    /// Handle the arrival of a member of a stripe for a reconstruction.
    #[inline]
    pub(in crate::device) fn rebuild_arrived(&mut self, rid: u32, op: OpId) {
        let s = &mut self.state;
        let r = &mut s.parity.rebuilds[rid];
        r.left -= 1;
        if self.shape.fixed.may_fail {
            r.failed |= self.flash.has_failed(op);
        }
        if r.left > 0 {
            return;
        }
        r.ledger = self.flash.op(op).ledger;
        if r.failed {
            return self.rebuild_failed(rid);
        }
        self.state.parity.compute(&self.shape, &mut self.state.timers, self.state.now, rid);
    }

    /// Handle the arrival of a read that was issued for a reconstruction alone.
    #[inline(never)]
    pub(in crate::device) fn extra_read_arrived(&mut self, op: OpId, rid: u32) {
        self.rebuild_arrived(rid, op);
        self.free_op(op);
    }

    /// Handle a computed unit: send it to the host, and complete the request if it was the last
    /// part.
    pub(in crate::device) fn unit_rebuilt(&mut self) {
        let s = &mut self.state;
        let rid = s.parity.rebuilt.pop(&mut s.timers);
        let Rebuild { request: id, bytes, .. } = s.parity.rebuilds[rid];
        self.state.host.observe(&mut self.flash, self.state.now, id, RequestStep::Rebuilt(rid));
        let s = &mut self.state;
        let r = &mut s.host.requests[id];
        r.remaining -= 1;
        let last = r.remaining == 0;
        if last {
            r.host.ledger.complete(&s.parity.rebuilds[rid].ledger);
        }
        s.parity.rebuilds.give(rid);
        self.data.rebuilt(&self.shape.layout, &self.state.parity, rid);
        self.release_target(rid);
        let there = self.state.host.send_up(&self.shape, self.state.now, id, u64::from(bytes), last);
        if last {
            self.state.host.complete_read(&self.shape, &mut self.state.timers, id, there);
        }
    }
}

/// The request's own read of this address, if it serves no other reconstruction yet.
fn own_read<O: Observer>(flash: &Flash<O>, own: &[OpId], ppa: Ppa) -> Option<OpId> {
    let free = |&op: &OpId| {
        let cmd = &flash.op(op).cmd;
        cmd.ppa == ppa && cmd.rebuild == NONE
    };
    own.iter().copied().find(free)
}
