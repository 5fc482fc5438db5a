//! Stripes whose data are complete: their rows, their programs, and the commit.

use crate::address::{Lpn, Ppa};
use crate::containers::NONE;
use crate::device::copies::Copies;
use crate::device::drive::Device;
use crate::device::parity::rewrite::MOST_REWRITTEN;
use crate::device::parity::state::Parity;
use crate::device::parity::stripes::{Job, Member};
use crate::device::shape::Shape;
use crate::device::write::state::Source;
use crate::flash::Flash;
use crate::flash::OpId;
use crate::ftl::buffer::DirtyList;
use crate::ftl::extents::Writer;
use crate::ftl::map::Mapping;
use crate::medium::Medium;
use crate::observer::{Observer, WriteStep};
use tailcut_units::Occupant;

impl Copies<'_> {
    /// The lane to which every flush writes a unit of a stripe.
    #[inline]
    pub(in crate::device) fn target_lane(&self, unit: Lpn) -> u32 {
        let stripes = self.shape.striped();
        self.faults.substitute_for(
            self.shape,
            self.parity.places.lane(stripes, unit),
            stripes.stripe_of(unit),
        )
    }
}

impl Parity {
    /// End the wait of a job that has its rows, and record what the die did during the wait.
    fn end_stripe_stall<O: Observer>(&mut self, shape: &Shape, flash: &mut Flash<O>, now: u64, job: u32) {
        let j = &mut self.stripes.jobs[job];
        if j.lacking == NONE || j.ready == now {
            return;
        }
        let unit = shape.units_of_lane(j.lacking).start;
        flash.charge_since(unit, &j.seen, &mut j.stalled);
    }

    fn group_of_job(&self, shape: &Shape, job: u32) -> usize {
        let s = &self.stripes;
        let stripe = s.dirty.entry(s.jobs[job].entry).stripe;
        self.places.group_of(shape.striped(), stripe) as usize
    }
}

impl<O: Observer, M: Medium> Device<O, M> {
    /// Find a row for every member of a job whose data are complete, or let the job wait.
    pub(in crate::device) fn place_stripe(&mut self, job: u32) {
        debug_assert_eq!(
            self.state.parity.stripes.jobs[job].reads, 0,
            "job {job} looks for rows before its data are complete"
        );
        self.data.gathered(&self.state.copies(&self.shape, &self.map), job);
        if self.shape.fixed.may_fail {
            self.state.parity.members_lack_nothing(&mut self.state.faults, job);
        }
        self.observe_write(job, true, WriteStep::Ready);
        let group = self.state.parity.group_of_job(&self.shape, job);
        if !self.state.parity.stripes.stalled[group].is_empty() || !self.program_stripe(job) {
            let s = &mut self.state;
            s.parity.stripes.stalled[group].push_back(&mut s.parity.stripes.links, job);
            s.parity.stripes.waiting += 1;
            self.wake_for_victim();
        }
    }

    /// Note that a job waits for a row of this lane from now on, so that its wait is charged to the work of the lane's
    /// die. (A job that waits behind another one has not looked for rows itself.)
    fn begin_stripe_stall(&mut self, job: u32, lane: u32) {
        let s = &mut self.state;
        let j = &mut s.parity.stripes.jobs[job];
        if j.lacking == NONE {
            j.lacking = lane;
            let unit = self.shape.units_of_lane(lane).start;
            j.seen = self.flash.account(unit);
            self.observe_write(job, true, WriteStep::Stalls(unit));
        }
    }

    /// Resume jobs that waited for rows, in order, after a lane of their group has got more rows.
    pub(in crate::device) fn resume_stalled_stripes(&mut self, lane: u32) {
        let stripes = self.shape.striped();
        let group = stripes.group_of_lane(lane);
        self.resume_stalled_jobs(group);
        if self.shape.fixed.may_fail {
            self.resume_members(lane);
            // Lanes of this group may be substitutes for dead ones.
            for dead in self.state.faults.dead_lanes().collect::<Vec<_>>() {
                let other = self.shape.striped().group_of_lane(dead);
                if other != group {
                    self.resume_stalled_jobs(other);
                }
            }
        }
    }

    fn resume_stalled_jobs(&mut self, group: u32) {
        let group = group as usize;
        loop {
            let job = self.state.parity.stripes.stalled[group].head();
            if job == NONE {
                return;
            }
            if !self.program_stripe(job) {
                return;
            }
            let s = &mut self.state;
            debug_assert!(s.parity.stripes.waiting > 0, "job {job} waits, and no job is counted as waiting");
            s.parity.stripes.stalled[group].remove(&mut s.parity.stripes.links, job);
            s.parity.stripes.waiting -= 1;
        }
    }

    /// Program a job's members if all of their lanes have a row for them. Returns whether they
    /// have.
    fn program_stripe(&mut self, job: u32) -> bool {
        let range = self.state.parity.stripes.members_of(job);
        let reserve = self.shape.reserve;
        for i in range.clone() {
            let lane = self.copies().target_lane(self.state.parity.stripes.members[i].unit);
            let mut fits = self.state.extents.has_row(&self.shape.layout, lane, Writer::Host, reserve);
            if !self.state.faults.life.is_empty() {
                // The lane may also be the substitute for the lane of another member.
                let members = &self.state.parity.stripes.members[range.start..=i];
                let rows =
                    members.iter().filter(|m| self.copies().target_lane(m.unit) == lane).count() as u32;
                fits = self.state.extents.has_rows(&self.shape.layout, lane, Writer::Host, reserve, rows);
            }
            if !fits {
                self.check_collection(lane);
                self.begin_stripe_stall(job, lane);
                return false;
            }
        }
        let j = &self.state.parity.stripes.jobs[job];
        debug_assert_eq!(j.programs, j.members, "job {job} has begun to program its members already");
        self.state.parity.end_stripe_stall(&self.shape, &mut self.flash, self.state.now, job);
        let s = &mut self.state;
        s.gc.pace.wrote(s.now, s.parity.stripes.jobs[job].members);
        let mut opened = 0u64;
        for i in range.clone() {
            let Member { unit, slot, .. } = self.state.parity.stripes.members[i];
            let lane = self.copies().target_lane(unit);
            let s = &mut self.state;
            let free = s.extents.free(&self.shape.layout, lane);
            let ppa = s
                .extents
                .take_row(&self.shape.layout, lane, Writer::Host, reserve)
                .expect("there was a row just now");
            opened |= u64::from(s.extents.free(&self.shape.layout, lane) != free) << (i - range.start);
            s.parity.stripes.members[i].ppa = ppa;
            let write_unit = s.write.units.take();
            let g = &mut s.write.units[write_unit];
            let j = &s.parity.stripes.jobs[job];
            g.writer = Writer::Host;
            g.lane = lane;
            g.count = 1;
            g.reads = 0;
            g.stripe = job;
            g.again = false;
            g.ready = j.ready;
            g.ledger = j.ledger;
            g.stalled = j.stalled;
            s.write.members[write_unit as usize] = (unit, Source::Member(i as u32));
            s.write.lane_load[lane as usize].begin();
            // Units of a moving stripe commit with the stripe, so they have the same occupant as its other units.
            let occupant = if slot == NONE { Occupant::ParityProgram } else { Occupant::UserProgram };
            self.queue_host_program(write_unit, ppa, occupant);
        }
        while opened != 0 {
            let i = range.start + opened.trailing_zeros() as usize;
            opened &= opened - 1;
            self.check_collection(self.copies().target_lane(self.state.parity.stripes.members[i].unit));
        }
        true
    }

    /// Handle the end of a member's program. After the last one, the stripe commits.
    #[inline(never)]
    pub(in crate::device) fn stripe_programmed(&mut self, op: OpId, write_unit: u32) {
        let s = &mut self.state;
        let (job, lane) = (s.write.units[write_unit].stripe, s.write.units[write_unit].lane);
        let (_, source) = s.write.members[write_unit as usize];
        s.write.lane_load[lane as usize].end();
        let j = &mut s.parity.stripes.jobs[job];
        j.programs -= 1;
        let (last, entry) = (j.programs == 0, j.entry);
        let member = &mut s.parity.stripes.members[source.member()];
        debug_assert!(!member.done, "member {} of job {job} is programmed twice", member.unit);
        member.done = true;
        let Member { unit, slot, ppa, .. } = *member;
        let mut makes_room = false;
        if slot == NONE {
            s.counters.programs_parity += 1;
        } else {
            let moves = s.write.buffer.slot(slot).moving;
            s.counters.programs_wear += u64::from(moves);
            s.counters.programs_user += u64::from(!moves);
            makes_room = !moves;
            self.settle_member(unit, slot, ppa);
        }
        let left = self.state.parity.stripes.jobs[job].left;
        if last && self.shape.fixed.may_fail {
            self.state.parity.note_dead_members(&self.shape.layout, &self.state.faults, job);
        }
        let (stripe, offsets) = if last { self.commit_stripe(job) } else { (0, 0) };
        if last && self.shape.fixed.may_fail {
            self.state.faults.note_lost();
        }
        if last && self.state.parity.rewriting.under_way == 0 {
            // Before the waiting writes, because these may take all jobs.
            self.relocate(1);
        }
        if makes_room || last {
            self.admit_waiting(Some((op, write_unit)));
            self.state.flushes_done(&self.shape, &mut self.flash);
        }
        self.state.write.units.give(write_unit);
        self.free_op(op);
        if last {
            self.after_commit(stripe, offsets);
            if self.shape.fixed.may_fail {
                self.check_all_failing();
            }
            if left != NONE {
                self.after_leaving(left);
            }
        }
        self.wake_for_victim();
        if last {
            if !self.state.host.flushes.is_empty() {
                self.flush_all_stripes();
            }
            self.flush_as_policy_says(DirtyList::of_stripe(entry));
            self.relocate(MOST_REWRITTEN);
        }
    }

    /// Map a programmed data member to its new address, and free its slot.
    fn settle_member(&mut self, unit: Lpn, slot: u32, ppa: Ppa) {
        let s = &mut self.state;
        if self.map.is_buffered_in(unit, slot) {
            self.map.set_flash(unit, ppa);
        } else if let Mapping::Buffer(held) = self.map.lookup(unit) {
            // The unit was overwritten meanwhile.
            let newer = s.write.buffer.slot_mut(held.slot());
            debug_assert_eq!(newer.old_ppa, Ppa::NONE);
            newer.old_ppa = ppa;
        }
        self.state.validate(&mut self.map, &self.shape.layout, unit, ppa);
        self.state.write.buffer.release(slot);
    }

    /// Commit a stripe whose members are all on flash: its parity covers the new copies, and it may
    /// be flushed again. Returns the stripe, and a mask of the offsets of the lanes written.
    fn commit_stripe(&mut self, job: u32) -> (u32, u32) {
        let Job { entry, rewrites, .. } = self.state.parity.stripes.jobs[job];
        self.state.parity.rewriting.under_way -= u32::from(rewrites);
        let mut offsets = 0u32;
        let stripes = &self.state.parity.stripes;
        debug_assert!(
            stripes.members[stripes.members_of(job)].iter().all(|m| m.done && m.ppa != Ppa::NONE),
            "job {job} commits before its last program has ended"
        );
        for i in self.state.parity.stripes.members_of(job) {
            let Member { unit, slot, mut old_ppa, ppa, .. } = self.state.parity.stripes.members[i];
            offsets |= 1 << self.state.parity.places.offset_of(self.shape.striped(), unit);
            let (extent, _) = self.shape.layout.extent_of(ppa);
            if slot == NONE {
                let e = self.state.parity.stripes.dirty.entry_mut(entry);
                old_ppa = std::mem::replace(&mut e.old_ppa, ppa);
                self.state.validate(&mut self.map, &self.shape.layout, unit, ppa);
            }
            if old_ppa != Ppa::NONE {
                self.state.invalidate(&mut self.map, &self.shape.layout, old_ppa);
            }
            self.state.extents.row_programmed(&self.shape.layout, extent);
        }
        let stripes = self.shape.striped();
        let s = &mut self.state;
        let (stripe, parity) =
            (s.parity.stripes.dirty.entry(entry).stripe, s.parity.stripes.dirty.entry(entry).old_ppa);
        let dirty = s.write.buffer.dirty_in(DirtyList::of_stripe(entry));
        let of = s.parity.places.group_of(stripes, stripe);
        let left = s.parity.stripes.jobs[job].left;
        if left != NONE {
            s.parity.places.left(left);
        }
        s.parity.stripes.dirty.arrived(entry, of, dirty);
        if dirty == 0 {
            self.map.set_flash(stripes.parity(stripe), parity);
        }
        if s.parity.stripes.jobs[job].repairs {
            self.state.faults.broken.remove(&stripe);
        }
        self.state.parity.stripes.jobs.give(job);
        (stripe, offsets)
    }

    /// Check the collections of a group that a stripe has left, because its old copies there have become stale.
    fn after_leaving(&mut self, group: u32) {
        for offset in 0..self.shape.striped().width {
            if self.state.gc.waiting > 0 {
                self.check_collection(self.shape.striped().lane(group, offset));
            }
        }
    }

    /// Check the collections of the lanes of a stripe that has committed, because their extents may have become
    /// possible victims.
    fn after_commit(&mut self, stripe: u32, mut offsets: u32) {
        while offsets != 0 && self.state.gc.waiting > 0 {
            let stripes = self.shape.striped();
            let lane =
                stripes.lane(self.state.parity.places.group_of(stripes, stripe), offsets.trailing_zeros());
            offsets &= offsets - 1;
            self.check_collection(self.state.faults.substitute_for(&self.shape, lane, stripe));
        }
    }
}
