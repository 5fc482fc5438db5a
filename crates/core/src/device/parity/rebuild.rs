//! Reconstruction: instead of a read that would wait for a collection, the unit is computed from the rest of its
//! stripe.

use crate::address::{BusyUnit, Extent, Lpn, Ppa};
use crate::containers::NONE;
use crate::device::drive::Device;
use crate::device::work::Work;
use crate::flash::{FlashCommand, OpId};
use crate::ftl::config::CopyMode;
use crate::medium::Medium;
use crate::nand::OpKind;
use crate::observer::{Observer, RequestStep};
use crate::policy::read_path::BlockedView;
use serde::{Deserialize, Serialize};
use tailcut_units::{Cause, Ledger, Occupant, Occupants, Span, Status};

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

/// How long a collection blocks a busy unit for host reads. Times are predictions in ns; all are zero if no collection
/// blocks the unit.
#[derive(Clone, Copy, Default)]
pub(in crate::device) struct Blocked {
    /// Time until the unit is free.
    pub left: u64,
    /// Time until the unit is free, as predicted when the collection began.
    pub as_begun: u64,
    /// Whether the collection has no further page to read.
    pub last_step: bool,
    /// Time until the end of the operation under way in the unit.
    pub step: u64,
}

impl Blocked {
    /// The value for a unit on a dead plane.
    const FOR_EVER: Blocked =
        Blocked { left: u64::MAX, as_begun: u64::MAX, last_step: false, step: u64::MAX };
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
            let blocked = self.left_for(op).left > 0;
            let alone = self.flash.op(op).cmd.rebuild == NONE;
            let instead = blocked && alone && self.is_longest(op, &ops[..own]);
            if instead && self.rebuild_instead(id, op, own, ops).is_some() {
                ops.remove(i);
                own -= 1;
                rebuilt += 1;
                self.abandon_read(op);
            } else if self.is_dead_at(self.flash.op(op).cmd.ppa) {
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
        let left = |op: OpId| self.left_for(op).left;
        let (its, longest) = (stripe(op), left(op));
        own.iter().all(|&o| o == op || stripe(o) != its || left(o) <= longest)
    }

    /// The source of a member of a stripe, in the state before its flush or (`rewritten`) in the state that its job
    /// writes.
    pub(in crate::device) fn source(&self, job: u32, rewritten: bool, unit: Lpn) -> Source {
        if rewritten && let Some(i) = self.member_of(job, unit) {
            let member = &self.state.parity.stripes.members[i];
            return if member.done { Source::Flash(member.ppa) } else { Source::Memory };
        }
        match self.copy_beside(job, unit) {
            None => Source::Nowhere,
            Some(ppa) if self.is_lost_but_moving(ppa) => Source::Moving(ppa),
            Some(ppa) => Source::Flash(ppa),
        }
    }

    /// Which state of the stripe covers the unit at this address: the one before its flush (false), or the one that its
    /// job writes (true). `None` if the unit has been trimmed or overwritten since.
    pub(in crate::device) fn covering(&self, job: u32, unit: Lpn, ppa: Ppa) -> Option<bool> {
        if self.copy_beside(job, unit) == Some(ppa) {
            return Some(false);
        }
        let member = &self.state.parity.stripes.members[self.member_of(job, unit)?];
        (member.done && member.ppa == ppa).then_some(true)
    }

    /// The request's own read of this address, if it serves no other reconstruction yet.
    fn own_read(&self, own: &[OpId], ppa: Ppa) -> Option<OpId> {
        let free = |&op: &OpId| {
            let cmd = &self.flash.op(op).cmd;
            cmd.ppa == ppa && cmd.rebuild == NONE
        };
        own.iter().copied().find(free)
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
        let job = self.job_of(stripe);
        let rewritten = self.computing(job, target, row)?;
        let blocked = self.left_for(op);
        let mut view = BlockedView {
            left: Span(blocked.left),
            left_as_begun: Span(blocked.as_begun),
            last_step: blocked.last_step,
            step_left: Span(blocked.step),
            others_left: Span(0),
            extra_left_as_begun: Span(0),
            extra: 0,
            busy_channels: 0,
            read: Span(self.unit_read_ns()),
            rotates: self.shape.fixed.rotates,
        };
        for member in stripes.members(stripe).filter(|&u| u != target) {
            let Source::Flash(ppa) = self.source(job, rewritten, member) else { continue };
            let place = self.shape.layout.place(ppa);
            let unit = self.shape.unit_of(place.die, place.plane);
            let other = self.unit_left(unit, 1 << place.plane);
            view.others_left.0 = view.others_left.0.max(other.left);
            if self.own_read(&ops[..own], ppa).is_none() {
                view.extra += 1;
                view.extra_left_as_begun.0 = view.extra_left_as_begun.0.max(other.as_begun);
                view.busy_channels += u32::from(self.flash.channel_is_taken(unit));
            }
        }
        let lost = self.is_lost(row);
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
        self.data_rebuilding(rid, row);
        for unit in self.shape.striped().members(stripe) {
            if unit == target {
                continue;
            }
            let ppa = match self.source(job, rewritten, unit) {
                Source::Nowhere => continue,
                Source::Memory => {
                    self.data_rebuilds_with(rid, job, unit);
                    continue;
                }
                Source::Moving(ppa) => {
                    self.data_rebuilds_with_moving(rid, ppa);
                    continue;
                }
                Source::Flash(ppa) => ppa,
            };
            self.state.parity.rebuilds[rid].left += 1;
            match self.own_read(&ops[..own], ppa) {
                Some(mine) => {
                    // The whole unit is needed now.
                    let plane = self.shape.layout.place(ppa).plane;
                    let (planes, codewords) = self.read_cost(plane, 0, 0, self.shape.layout.unit_bytes);
                    let read = self.flash.order_mut(mine);
                    (read.rebuild, read.planes, read.codewords) = (rid, planes, codewords);
                }
                None => {
                    let read = self.unit_read_of(Occupant::UserRead, Work::Rebuild(rid), ppa);
                    let serial = self.state.host.requests[id].host.index;
                    let extra = self.order_read(FlashCommand { rebuild: rid, tag: id, serial, ..read });
                    self.state.counters.rebuild_reads += 1;
                    ops.push(extra);
                }
            }
        }
        let members = self.state.parity.rebuilds[rid].left;
        self.observe_request(
            id,
            RequestStep::Rebuilds { rebuild: rid, instead: op.number(), members, bytes },
        );
        self.state.counters.rebuilt_units += 1;
        self.state.host.requests[id].rebuilt = true;
        if self.state.parity.rebuilds[rid].left == 0 {
            // All other members of the stripe are in the controller or have no data.
            self.state.parity.rebuilds[rid].ledger.clear();
            self.compute(rid);
        }
        Some(rid)
    }

    /// Time of command, sense and transfer of one unit on an idle drive, ns.
    fn unit_read_ns(&self) -> u64 {
        let t = self.flash.timing();
        t.command_ns + t.read_ns(0) + t.transfer_codewords_ns(self.shape.codewords_per_unit)
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
            let blocked = self.unit_left(unit, self.flash.op(at).cmd.planes).left > 0;
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
        self.compute(rid);
    }

    /// Compute a unit: all other members of its stripe are in the controller.
    fn compute(&mut self, rid: u32) {
        let s = &mut self.state;
        s.parity.rebuilds[rid].ledger.charge(Cause::RECONSTRUCTION, self.shape.xor_ns);
        s.parity.rebuilt.push(&mut s.timers, s.now + self.shape.xor_ns, rid);
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
        self.observe_request(id, RequestStep::Rebuilt(rid));
        let s = &mut self.state;
        let r = &mut s.host.requests[id];
        r.remaining -= 1;
        let last = r.remaining == 0;
        if last {
            r.host.ledger.merge(&s.parity.rebuilds[rid].ledger);
        }
        s.parity.rebuilds.give(rid);
        self.data_rebuilt(rid);
        self.release_target(rid);
        let there = self.send_up(id, u64::from(bytes), last);
        if last {
            self.complete_read(id, there);
        }
    }

    /// How long a host read is blocked: without end if the plane is dead.
    fn left_for(&self, op: OpId) -> Blocked {
        let cmd = &self.flash.op(op).cmd;
        if self.is_lost(cmd.ppa) { Blocked::FOR_EVER } else { self.unit_left(cmd.unit, cmd.planes) }
    }

    /// How long a collection blocks some planes (a mask) of a unit for host reads.
    pub(in crate::device) fn unit_left(&self, unit: BusyUnit, planes: u32) -> Blocked {
        let s = &self.state;
        if !self.flash.is_closed(unit) {
            return self.collection_op_left(unit, planes);
        }
        let closes = (0..s.gc.collections.len() as u32)
            .filter(|&lane| s.gc.collections[lane as usize].closes && self.scope_covers(lane, unit));
        closes.map(|lane| self.collection_left(lane)).max_by_key(|b| b.left).unwrap_or_default()
    }

    /// The remaining time of a collection's operation in the array of a unit, or the time that a read needs to
    /// interrupt it.
    fn collection_op_left(&self, unit: BusyUnit, planes: u32) -> Blocked {
        let Some((holder, Span(left))) = self.flash.in_array(unit, planes) else { return Blocked::default() };
        let cmd = &self.flash.op(holder).cmd;
        if !Occupants::COLLECTION.has(cmd.occupant) {
            return Blocked::default();
        }
        let left = self.flash.gives_way_in(unit, Occupant::UserRead).map_or(left, |stop| stop.0.min(left));
        Blocked { left, as_begun: left, last_step: cmd.kind == OpKind::Erase, step: left }
    }

    /// The remaining time of a lane's collection if nothing disturbs it, for the read path policy.
    fn collection_left(&self, lane: u32) -> Blocked {
        let s = &self.state;
        let t = self.flash.timing();
        let unit = self.shape.units_of_lane(lane).start;
        let collection = &s.gc.collections[lane as usize];
        let (victim, all_read, erasing) = collection.aim(self.shape.layout.units_per_extent);
        let as_begun = collection.ends.saturating_sub(s.now);
        let step = self.flash.array_left(unit).map_or(0, |left| left.0);
        if erasing {
            let left = if step > 0 { step } else { t.command_ns + t.erase_ns };
            return Blocked { left, as_begun, last_step: true, step };
        }
        // The page being moved still counts as valid, so subtract the part of its move that is done.
        let page = self.move_ns();
        let pages = s.extents.valid(victim);
        let (mut done, mut last_step) = (0, all_read);
        let holder = self.flash.holder(unit).map(|op| self.flash.op(op));
        if holder.is_some_and(|op| op.cmd.kind == OpKind::Copyback && op.second) {
            done = page.saturating_sub(step);
            last_step = pages <= 1;
        }
        let left = (u64::from(pages) * page).saturating_sub(done) + t.command_ns + t.erase_ns;
        Blocked { left, as_begun, last_step, step }
    }

    /// Time in which a collection moves a page if nothing disturbs it, ns.
    fn move_ns(&self) -> u64 {
        let t = self.flash.timing();
        let data = match self.shape.copy {
            CopyMode::Copyback => 0,
            CopyMode::Controller => t.transfer_codewords_ns(self.shape.codewords_per_unit),
        };
        2 * (t.command_ns + data) + t.read_ns(0) + t.program_ns(0)
    }

    /// Duration of a collection of this victim that begins now, if nothing disturbs it, ns.
    pub(in crate::device) fn collection_ns(&self, victim: u32) -> u64 {
        let t = self.flash.timing();
        u64::from(self.state.extents.valid(victim)) * self.move_ns() + t.command_ns + t.erase_ns
    }
}
