//! The flush of stripes: parity is written with the data that it covers.
//!
//! A *job* flushes the dirty units of one stripe, in four steps. First it reads the units that the new parity is
//! computed from. Then it reserves a row on its own lane for every member to be written and for the parity. It waits
//! until all have one, so that a job whose programs have begun never waits for space. Then it programs them; a
//! programmed member leaves the buffer and is read from its new address. The old copies and the old parity stay valid
//! until the last program has ended. At last the stripe commits: its parity covers the new copies, and the old copies
//! become stale. So a member stays in the buffer only while a collection delays its program.

use crate::address::{Lpn, Ppa};
use crate::containers::NONE;
use crate::device::copies::Copies;
use crate::device::drive::Device;
use crate::device::parity::state::Parity;
use crate::device::parity::stripes::Basis;
use crate::device::parity::stripes::Member;
use crate::device::shape::Shape;
use crate::device::work::Work;
use crate::flash::Flash;
use crate::flash::OpId;
use crate::ftl::buffer::Buffer;
use crate::ftl::buffer::DirtyList;
use crate::ftl::map::Map;
use crate::ftl::map::Mapping;
use crate::medium::Medium;
use crate::observer::Observer;
use crate::policy::flush::FlushVerdict;
use tailcut_units::Occupant;

impl Shape {
    /// Whether a collection has closed a lane to host operations.
    #[inline]
    pub(in crate::device) fn is_closed<O: Observer>(&self, flash: &Flash<O>, lane: u32) -> bool {
        flash.is_closed(self.units_of_lane(lane).start)
    }
}

impl Copies<'_> {
    /// The job that flushes a stripe, or `NONE`.
    #[inline]
    pub(in crate::device) fn job_of(&self, stripe: u32) -> u32 {
        match self.map.lookup(self.shape.striped().parity(stripe)) {
            Mapping::Buffer(held) => self.parity.stripes.dirty.entry(held.stripe()).job,
            _ => NONE,
        }
    }

    /// Like `flash_copy`, for a caller that knows the stripe's job.
    pub(in crate::device) fn copy_beside(&self, job: u32, unit: Lpn) -> Option<Ppa> {
        let ppa = if self.shape.striped().is_parity(unit) {
            match self.map.lookup(unit) {
                Mapping::Unmapped => Ppa::NONE,
                Mapping::Flash(ppa) => ppa,
                Mapping::Buffer(held) => self.parity.stripes.dirty.entry(held.stripe()).old_ppa,
            }
        } else if let Some(member) = self.parity.stripes.member_of(job, unit) {
            self.parity.stripes.members[member].old_ppa
        } else {
            match self.map.lookup(unit) {
                Mapping::Unmapped => Ppa::NONE,
                Mapping::Flash(ppa) => ppa,
                Mapping::Buffer(held) => self.write.buffer.slot(held.slot()).old_ppa,
            }
        };
        Some(ppa).filter(|&ppa| ppa != Ppa::NONE)
    }

    /// The copy on flash of a unit (or parity) that the parity of its stripe covers.
    #[inline]
    pub(in crate::device) fn flash_copy(&self, unit: Lpn) -> Option<Ppa> {
        self.copy_beside(self.job_of(self.shape.striped().stripe_of(unit)), unit)
    }

    /// Whether a collection has closed a lane that the flush of this stripe would program.
    fn is_hindered<O: Observer>(&self, flash: &Flash<O>, entry: u32, group: u32, whole: bool) -> bool {
        if self.gc.groups.collecting(group) == 0 {
            return false;
        }
        let stripes = self.shape.striped();
        let stripe = self.parity.stripes.dirty.entry(entry).stripe;
        let is_dirty = |slot| !self.write.buffer.slot(slot).in_flight;
        stripes.members(stripe).any(|unit| {
            let written = whole
                || stripes.is_parity(unit)
                || matches!(self.map.lookup(unit), Mapping::Buffer(held) if is_dirty(held.slot()));
            written && self.shape.is_closed(flash, self.target_lane(unit))
        })
    }

    /// The stripe to flush next. Without `least_hindered` it is the least recently written one. With it, the candidates
    /// are the least recently written stripe of each group; if some stripes are whole, only those. The result is the
    /// oldest candidate that no collection delays, or the oldest of all if collections delay every candidate.
    pub(in crate::device) fn next_stripe<O: Observer>(
        &self,
        flash: &Flash<O>,
        least_hindered: bool,
    ) -> Option<u32> {
        let stripes = self.shape.stripes.as_ref()?;
        let dirty = &self.parity.stripes.dirty;
        if self.parity.stripes.jobs.is_exhausted() {
            return None;
        }
        let heads = |whole| (0..stripes.groups).filter_map(move |g| dirty.oldest(g, whole).map(|e| (e, g)));
        let written = |&(entry, _): &(u32, u32)| dirty.entry(entry).written;
        let oldest = |whole| heads(whole).min_by_key(written);
        if !least_hindered {
            let both = oldest(true).into_iter().chain(oldest(false));
            return both.min_by_key(written).map(|(entry, _)| entry);
        }
        let whole = oldest(true).is_some();
        let (entry, group) = oldest(whole)?;
        if !self.is_hindered(flash, entry, group, whole) {
            return Some(entry);
        }
        let free = heads(whole).filter(|&(e, g)| !self.is_hindered(flash, e, g, whole)).min_by_key(written);
        Some(free.map_or(entry, |(entry, _)| entry))
    }
}

impl Parity {
    /// Return the entry of a unit's stripe, and open one if there is none. The buffer is about to hold a unit of the
    /// stripe.
    #[inline]
    pub(in crate::device) fn entry_of(&mut self, shape: &Shape, map: &mut Map, unit: Lpn) -> u32 {
        let stripes = shape.striped();
        let stripe = stripes.stripe_of(unit);
        let parity = stripes.parity(stripe);
        let old_ppa = match map.lookup(parity) {
            Mapping::Buffer(held) => return held.stripe(),
            Mapping::Flash(ppa) => ppa,
            Mapping::Unmapped => Ppa::NONE,
        };
        let entry = self.stripes.dirty.open(stripe, old_ppa);
        map.set_stripe(parity, entry);
        entry
    }

    /// Note that a unit of this stripe was written to the buffer.
    #[inline]
    pub(in crate::device) fn stripe_written(&mut self, shape: &Shape, buffer: &Buffer, entry: u32) {
        let stripe = self.stripes.dirty.entry(entry).stripe;
        let group = self.places.group_of(shape.striped(), stripe);
        let dirty = buffer.dirty_in(DirtyList::of_stripe(entry));
        self.stripes.dirty.written(entry, group, dirty);
    }

    /// Note that a copy on flash was moved. Returns true if a job still needs this copy, or if it is the parity of a
    /// stripe with units in the buffer.
    #[inline]
    pub(in crate::device) fn member_moved(
        &mut self,
        shape: &Shape,
        map: &Map,
        unit: Lpn,
        old_ppa: Ppa,
        new: Ppa,
    ) -> bool {
        let Some(stripes) = &shape.stripes else { return false };
        let Mapping::Buffer(held) = map.lookup(stripes.parity(stripes.stripe_of(unit))) else {
            return false;
        };
        let entry = held.stripe();
        if stripes.is_parity(unit) {
            let entry = self.stripes.dirty.entry_mut(entry);
            debug_assert_eq!(entry.old_ppa, old_ppa);
            entry.old_ppa = new;
            return true;
        }
        match self.stripes.member_of(self.stripes.dirty.entry(entry).job, unit) {
            Some(i) if self.stripes.members[i].old_ppa == old_ppa => {
                self.stripes.members[i].old_ppa = new;
                true
            }
            _ => false,
        }
    }
}

impl<O: Observer, M: Medium> Device<O, M> {
    /// Flush the stripe that the flush policy has chosen; `same` is the stripe of the last write. Returns false if no
    /// stripe can be flushed now. The flush policy is then asked again when stripes that are being flushed have
    /// committed.
    pub(in crate::device) fn flush_stripes(&mut self, verdict: FlushVerdict, same: u32) -> bool {
        let stripes = &self.state.parity.stripes;
        let entry = match verdict {
            FlushVerdict::SameLane => {
                Some(same).filter(|&e| stripes.dirty.entry(e).job == NONE && !stripes.jobs.is_exhausted())
            }
            _ => self.copies().next_stripe(&self.flash, verdict == FlushVerdict::LeastHindered),
        };
        if let Some(entry) = entry {
            self.flush_stripe(entry);
        }
        entry.is_some()
    }

    /// Flush all stripes that may be flushed now.
    pub(in crate::device) fn flush_all_stripes(&mut self) {
        while let Some(entry) = self.copies().next_stripe(&self.flash, false) {
            self.flush_stripe(entry);
        }
    }

    /// Flush the dirty units of a stripe.
    pub(in crate::device) fn flush_stripe(&mut self, entry: u32) {
        self.flush_with(entry, None);
    }

    /// Flush the dirty units of a stripe. `also`: rewrite this unit of the stripe, which is on flash.
    pub(in crate::device) fn flush_with(&mut self, entry: u32, also: Option<Lpn>) {
        let levels = self.shape.fixed.moves_stripes && self.state.faults.life.is_empty();
        let (moves, left) = if levels { self.move_stripe(entry) } else { (false, NONE) };
        let stripes = self.shape.striped();
        let s = &mut self.state;
        let job = s.parity.stripes.jobs.take();
        s.parity.stripes.dirty.departs(entry, job);
        let stripe = s.parity.stripes.dirty.entry(entry).stripe;
        let first = (job * stripes.width) as usize;
        let mut members = 0;
        while let Some(slot) = self.state.write.buffer.depart(DirtyList::of_stripe(entry)) {
            let s = &mut self.state;
            let held = s.write.buffer.slot_mut(slot);
            let old_ppa = std::mem::replace(&mut held.old_ppa, Ppa::NONE);
            let (unit, mask) = (held.lpn, held.mask);
            let short = mask != s.write.buffer.full() && old_ppa != Ppa::NONE;
            s.parity.stripes.members[first + members] =
                Member { unit, slot, old_ppa, ppa: Ppa::NONE, done: false, short };
            members += 1;
            if short && self.shape.fixed.may_fail {
                let lacks = s.write.buffer.full() & !mask;
                self.state.faults.lacks(unit, lacks, NONE);
            }
        }
        if moves {
            members = self.join_clean_units(entry, first, members);
        }
        if let Some(unit) = also {
            members += usize::from(self.join_clean_unit(entry, unit, first + members));
        }
        let unit = self.shape.striped().parity(stripe);
        let s = &mut self.state;
        // A flush without data units rewrites a lost parity.
        debug_assert!(
            members < self.shape.striped().width as usize && (members > 0 || s.faults.some_lost),
            "a flush of stripe {stripe} writes {members} data units"
        );
        let parity =
            Member { unit, slot: NONE, old_ppa: Ppa::NONE, ppa: Ppa::NONE, done: false, short: false };
        s.parity.stripes.members[first + members] = parity;
        let j = &mut s.parity.stripes.jobs[job];
        j.entry = entry;
        j.members = members as u32 + 1;
        j.programs = members as u32 + 1;
        j.rewrites = false;
        j.failed = false;
        j.reads = 0;
        j.left = left;
        j.ready = s.now;
        j.lacking = NONE;
        j.stalled.clear();
        j.ledger.clear();
        self.read_for_parity(job, stripe);
        if self.state.parity.stripes.jobs[job].reads == 0 {
            self.place_stripe(job);
        }
    }

    /// Issue the reads for the new parity and for units that are written in part. These are either the old parity with
    /// the old copies of the written units, or the rest of the stripe, whichever costs less. If a collection blocks one
    /// of them, or one is lost, all others are read instead.
    fn read_for_parity(&mut self, job: u32, stripe: u32) {
        debug_assert_eq!(
            self.state.parity.stripes.jobs[job].reads, 0,
            "job {job} plans its reads while others are under way"
        );
        if self.shape.fixed.may_fail {
            self.lose_short_members(job);
        }
        let stripes = self.shape.striped();
        let s = &self.state;
        let range = s.parity.stripes.members_of(job);
        // Masks by position in the stripe, with parity last: units that are written, that have a copy on flash, that
        // are written in part, whose copy is blocked by a collection, and whose copy is lost. `moved` are clean units
        // that are written only because the stripe is moved or rewritten.
        let (mut written, mut on_flash, mut short, mut closed) = (0u64, 0u64, 0u64, 0u64);
        let mut lost = 0u64;
        let mut moved = 0u64;
        for member in &s.parity.stripes.members[range] {
            if member.short {
                short |= 1 << (member.unit.0 % (stripes.width - 1));
            }
            if member.slot != NONE {
                written |= 1 << (member.unit.0 % (stripes.width - 1));
                moved |= u64::from(s.write.buffer.slot(member.slot).moving)
                    << (member.unit.0 % (stripes.width - 1));
            }
        }
        let avoid = self.shape.fixed.flush_avoids_collections;
        let parity = 1u64 << (stripes.width - 1);
        let copies = self.copies();
        for (i, unit) in stripes.members(stripe).enumerate() {
            if let Some(ppa) = copies.copy_beside(job, unit) {
                on_flash |= 1 << i;
                // Use the lane of the copy, not that of the stripe: the stripe may be moving to other lanes.
                closed |=
                    u64::from(avoid && self.shape.is_closed(&self.flash, self.shape.layout.lane_at(ppa)))
                        << i;
                lost |=
                    u64::from(self.state.faults.is_lost(&self.shape.layout, ppa) && !copies.is_moving(ppa))
                        << i;
            }
        }
        short &= on_flash;
        let broken = self.state.faults.broken.contains(&stripe);
        if broken {
            // The parity on flash does not match the data.
            lost |= parity;
        }
        let whole = written | parity == (parity << 1) - 1;
        let modify = (written | parity) & on_flash;
        let rest = (!written & (parity - 1) & on_flash) | short;
        let cost =
            |set: u64| set.count_ones() + 64 * (set & closed).count_ones() + 4096 * (set & lost).count_ones();
        let (mut set, mut basis) = if whole || cost(rest) < cost(modify) {
            (rest, Basis::ReconstructWrite)
        } else {
            (modify, Basis::ReadModifyWrite)
        };
        // If the old copy of a unit written in part is lost or blocked by a collection, it is computed from the others.
        let round = if lost != 0 { lost } else { closed };
        if broken || set & lost != 0 && lost.count_ones() > 1 {
            (set, basis) = (rest & !lost, Basis::ReconstructWrite);
            self.lose_rest(job, stripe, rest & lost, short & lost);
        } else if round.count_ones() == 1 && set & round != 0 {
            debug_assert!(round & short != 0, "any other unit is needed by only one of the two methods");
            set = on_flash & !round;
            basis = Basis::ReconstructAround(stripes.first_of(stripe) + round.trailing_zeros());
        }
        self.state.parity.stripes.jobs[job].basis = basis;
        self.state.parity.stripes.jobs[job].repairs = self.state.faults.broken.contains(&stripe);
        self.data.gathering(job);
        let members = self.shape.striped().members(stripe).enumerate();
        for (i, unit) in members.filter(|&(i, _)| set >> i & 1 != 0) {
            let ppa = self.copies().copy_beside(job, unit).expect("only what is on flash is read");
            if self.state.faults.is_lost(&self.shape.layout, ppa) {
                self.join_moving_unit(job, unit, ppa);
                continue;
            }
            let op = self.new_unit_read(Occupant::RmwRead, Work::Stripe(job), ppa);
            self.state.parity.stripes.jobs[job].reads += 1;
            let filler = short & !moved;
            let c = &mut self.state.counters;
            *(match filler >> i & 1 {
                _ if moved != 0 => &mut c.wear_reads,
                0 => &mut c.parity_reads,
                _ => &mut c.rmw_reads,
            }) += 1;
            self.submit_op(op);
        }
    }

    /// Use a unit that a collection has read for a new parity.
    #[cold]
    fn join_moving_unit(&mut self, job: u32, unit: Lpn, ppa: Ppa) {
        if M::HOLDS_DATA {
            self.data.of_stripe_sensed(&self.state.copies(&self.shape, &self.map), job, ppa);
        }
        if let Some(at) = self.state.parity.stripes.member_of(job, unit) {
            self.state.parity.stripes.members[at].short = false;
            self.state.faults.lacks_nothing(unit, NONE);
        }
    }

    /// Give up units of a stripe that the new parity needs and that can neither be read nor computed. `lost` is the
    /// mask of their positions; the job writes those in `short` in part.
    #[cold]
    fn lose_rest(&mut self, job: u32, stripe: u32, lost: u64, short: u64) {
        let units: Vec<Lpn> = self.shape.striped().members(stripe).collect();
        for (i, unit) in units.into_iter().enumerate().filter(|&(i, _)| lost >> i & 1 == 1) {
            if short >> i & 1 == 1 {
                let at = self.state.parity.stripes.member_of(job, unit).expect("the job writes it");
                self.lose_short_member(at);
            } else if let Some(ppa) = self.copies().copy_beside(job, unit) {
                self.lose_member(unit, ppa);
            }
        }
    }

    /// Handle the end of a read that a stripe's parity needs.
    #[inline(never)]
    pub(in crate::device) fn stripe_read_arrived(&mut self, op: OpId, job: u32) {
        let s = &mut self.state;
        let j = &mut s.parity.stripes.jobs[job];
        debug_assert!(
            j.reads > 0 && j.programs == j.members,
            "data arrive for job {job} with {} reads, {} programs and {} members to go",
            j.reads,
            j.programs,
            j.members
        );
        j.reads -= 1;
        let last = j.reads == 0;
        let again = last && j.failed;
        if last {
            let ledger = &self.flash.op(op).ledger;
            j.ledger.merge(&if again { ledger.retried() } else { *ledger });
            j.ready = s.now;
            j.failed = false;
        }
        self.free_op(op);
        if again {
            let entry = self.state.parity.stripes.jobs[job].entry;
            self.read_for_parity(job, self.state.parity.stripes.dirty.entry(entry).stripe);
        }
        if last && self.state.parity.stripes.jobs[job].reads == 0 {
            self.place_stripe(job);
        }
    }

    /// Unmap the stripes that are wholly inside `first..end` and neither dirty nor being flushed. Units of other
    /// stripes stay mapped, because parity covers them. Returns the number of units that stay mapped.
    pub(in crate::device) fn trim_stripes(&mut self, first: Lpn, end: Lpn) -> u32 {
        let stripes = self.shape.striped();
        let data = stripes.width - 1;
        let (from, to) = (first.0.div_ceil(data), end.0 / data);
        let mut kept = end.0.saturating_sub(first.0);
        for stripe in from..to {
            let stripes = self.shape.striped();
            let parity = stripes.parity(stripe);
            if matches!(self.map.lookup(parity), Mapping::Buffer(_)) {
                continue;
            }
            for unit in stripes.members(stripe) {
                if let Mapping::Flash(ppa) = self.map.trim(unit) {
                    self.state.invalidate(&mut self.map, &self.shape.layout, ppa);
                }
                if self.shape.fixed.may_fail {
                    self.state.faults.lost_by_trim(unit);
                }
                self.data.trimmed(unit);
            }
            self.state.faults.broken.remove(&stripe);
            kept -= data;
        }
        kept
    }
}
