//! Lost data: no copy of them can be read or computed. The drive knows their addresses and never returns data for them.
//! A later write of the same bytes ends the loss.

use crate::address::{Lpn, Ppa};
use crate::containers::NONE;
use crate::device::copies::Copies;
use crate::device::drive::Device;
use crate::device::faults::state::FaultState;
use crate::device::parity::rebuild::Source;
use crate::device::parity::state::Parity;
use crate::ftl::layout::Layout;
use crate::ftl::map::Mapping;
use crate::medium::Medium;
use crate::observer::Observer;
use std::ops::Range;

impl FaultState {
    /// Note that the host has written granules of a unit.
    #[inline]
    pub(in crate::device) fn lost_no_more(&mut self, lpn: Lpn, written: u64) {
        self.lost.written(lpn, written);
        self.lacking.written(lpn, written);
    }

    /// Note that the host has trimmed a unit.
    #[cold]
    pub(in crate::device) fn lost_by_trim(&mut self, lpn: Lpn) {
        self.lost_no_more(lpn, u64::MAX);
    }

    /// Note that a slot in flight lacks granules of a unit, which operation `op` will read (`NONE`: the flush of its
    /// stripe).
    #[inline]
    pub(in crate::device) fn lacks(&mut self, lpn: Lpn, granules: u64, op: u32) {
        self.lacking.insert(lpn, op, granules);
    }

    /// Note that the granules that a slot in flight lacked have been read.
    #[inline]
    pub(in crate::device) fn lacks_nothing(&mut self, lpn: Lpn, op: u32) {
        self.lacking.remove(lpn, op);
    }

    /// Note that the granules that a slot in flight lacks cannot be read.
    #[cold]
    pub(in crate::device) fn lacks_for_good(&mut self, lpn: Lpn, op: u32) {
        let granules = self.lacking.remove(lpn, op);
        self.lost.add(lpn, granules);
    }

    #[cold]
    pub(in crate::device) fn is_lost_at(&self, layout: &Layout, ppa: Ppa) -> bool {
        self.unreadable.contains(ppa) || self.is_dead_at(layout, ppa)
    }

    /// Whether the copy at this address cannot be read.
    #[inline]
    pub(in crate::device) fn is_lost(&self, layout: &Layout, ppa: Ppa) -> bool {
        self.some_lost && self.is_lost_at(layout, ppa)
    }
}

impl Copies<'_> {
    #[cold]
    fn computing_yet(&self, job: u32, unit: Lpn, rewritten: bool) -> Option<bool> {
        let stripes = self.shape.striped();
        let stripe = stripes.stripe_of(unit);
        let broken = self.faults.broken.contains(&stripe);
        let gives = |rewritten: bool| {
            let sources = stripes.members(stripe).filter(|&u| u != unit);
            let mut sources = sources.map(|u| self.source(job, rewritten, u));
            let whole = !broken || rewritten && self.parity.stripes.jobs[job].repairs;
            whole && !sources.any(|source| matches!(source, Source::Flash(ppa) if self.faults.is_lost(&self.shape.layout, ppa)))
        };
        // The new parity of a job whose data are complete also covers units that the job does not write.
        let covered_by_both = !rewritten
            && job != NONE
            && self.parity.stripes.jobs[job].reads == 0
            && self.parity.stripes.member_of(job, unit).is_none();
        [rewritten, true].into_iter().take(1 + usize::from(covered_by_both)).find(|&of| gives(of))
    }

    /// The state of the stripe from which the unit at this address can be computed: the one before its flush (false),
    /// or the one that its job writes (true). `None` if neither can be used.
    pub(in crate::device) fn computing(&self, job: u32, unit: Lpn, ppa: Ppa) -> Option<bool> {
        let rewritten = self.covering(job, unit, ppa)?;
        if self.faults.some_lost { self.computing_yet(job, unit, rewritten) } else { Some(rewritten) }
    }

    /// Whether the unit at this address can be computed from the rest of its stripe.
    pub(in crate::device) fn can_compute(&self, ppa: Ppa) -> bool {
        let Some(stripes) = &self.shape.stripes else { return false };
        let unit = self.map.owner(ppa);
        self.computing(self.job_of(stripes.stripe_of(unit)), unit, ppa).is_some()
    }

    #[cold]
    fn cannot_be_had(&self, lpn: Lpn, from: u64, to: u64) -> bool {
        let f = self.faults;
        let dead_matter = !f.life.is_empty() && !self.shape.has_parity();
        let asked = self.write.buffer.mask(from, to, false);
        if f.lost.of(lpn) & asked != 0 {
            return true;
        }
        if !dead_matter {
            return false;
        }
        let ppa = match self.map.lookup(lpn) {
            Mapping::Flash(ppa) => ppa,
            Mapping::Buffer(held) if asked & !self.write.buffer.slot(held.slot()).mask != 0 => {
                self.copy_below(lpn, held.slot())
            }
            Mapping::Buffer(_) | Mapping::Unmapped => Ppa::NONE,
        };
        ppa != Ppa::NONE && self.faults.is_dead_at(&self.shape.layout, ppa) && !self.is_moving(ppa)
    }

    /// Whether some of the bytes `from..to` of a unit are lost, or exist only on a dead plane without parity.
    #[inline]
    pub(in crate::device) fn is_out_of_reach(&self, lpn: Lpn, from: u64, to: u64) -> bool {
        let f = self.faults;
        (f.lost.may_have(lpn) || !f.life.is_empty()) && self.cannot_be_had(lpn, from, to)
    }

    /// The valid units on dead planes.
    pub(in crate::device) fn dead_units(self) -> impl Iterator<Item = Ppa> {
        let layout = &self.shape.layout;
        let each = layout.stride * layout.units_per_extent;
        let units = self.faults.hurt_lanes().flat_map(move |lane| Ppa(lane * each).run(each));
        units.filter(move |&ppa| self.map.is_valid(ppa) && self.faults.is_dead_at(layout, ppa))
    }
}

impl Parity {
    /// Note that the members of a job have all their bytes.
    #[cold]
    pub(in crate::device) fn members_lack_nothing(&mut self, faults: &mut FaultState, job: u32) {
        for at in self.stripes.members_of(job) {
            let member = &mut self.stripes.members[at];
            if std::mem::replace(&mut member.short, false) {
                let unit = member.unit;
                faults.lacks_nothing(unit, NONE);
            }
        }
    }
}

impl<O: Observer, M: Medium> Device<O, M> {
    /// Whether data of a unit of the host are lost.
    pub fn has_lost_data(&self, lpn: Lpn) -> bool {
        self.state.faults.lost.of(lpn) != 0
    }

    /// Note the loss of a unit: its copy at this address is about to be erased or on a dead plane, and can neither be
    /// read nor computed.
    pub(in crate::device) fn lose_unit(&mut self, lpn: Lpn, ppa: Ppa) {
        let full = self.state.write.buffer.full();
        let lost = match self.map.lookup(lpn) {
            Mapping::Flash(at) => {
                debug_assert_eq!(at, ppa);
                self.map.trim(lpn);
                self.data.trimmed(lpn);
                full
            }
            Mapping::Buffer(in_buffer) => {
                let slot = in_buffer.slot();
                let held = self.state.write.buffer.slot_mut(slot);
                debug_assert_eq!(held.old_ppa, ppa);
                held.old_ppa = Ppa::NONE;
                // A slot in flight has got its missing granules, or is reading them.
                let lacks = if held.in_flight { 0 } else { full & !held.mask };
                if held.in_flight {
                    self.data.settled(slot, ppa);
                } else if lacks != 0 {
                    held.mask = full;
                    self.data.given_up(slot);
                }
                lacks
            }
            Mapping::Unmapped => unreachable!("a valid unit is mapped"),
        };
        self.state.invalidate(&mut self.map, &self.shape.layout, ppa);
        self.state.faults.unreadable.remove(ppa);
        self.state.faults.lost.add(lpn, lost);
    }

    /// Note that the bytes that a slot in flight lacks of its unit are lost. The stripe is broken until its parity is
    /// recomputed.
    pub(in crate::device) fn lose_short_member(&mut self, at: usize) {
        let member = &mut self.state.parity.stripes.members[at];
        let (unit, slot) = (member.unit, member.slot);
        debug_assert!(
            member.short && slot != NONE,
            "unit {unit} of a job loses bytes, in slot {slot}, short: {}",
            member.short
        );
        member.short = false;
        self.state.faults.broken.insert(self.shape.striped().stripe_of(unit));
        self.state.faults.some_lost = true;
        self.state.faults.lacks_for_good(unit, NONE);
        self.data.given_up(slot);
    }

    /// Note the loss of the bytes that members of a job lack and whose old copies no longer exist: the copies were lost
    /// while the job read them.
    #[cold]
    pub(in crate::device) fn lose_short_members(&mut self, job: u32) {
        for at in self.state.parity.stripes.members_of(job) {
            let member = &self.state.parity.stripes.members[at];
            if member.short && member.old_ppa == Ppa::NONE {
                self.lose_short_member(at);
            }
        }
    }

    /// Note the loss of a unit of a stripe: its copy at this address can neither be read nor computed from the rest of
    /// the stripe. The stripe is broken until a flush recomputes its parity.
    pub(in crate::device) fn lose_member(&mut self, unit: Lpn, ppa: Ppa) {
        let stripes = self.shape.striped();
        let stripe = stripes.stripe_of(unit);
        self.state.faults.broken.insert(stripe);
        self.state.faults.some_lost = true;
        let entry = match self.map.lookup(stripes.parity(stripe)) {
            Mapping::Buffer(held) => Some(held.stripe()),
            _ => None,
        };
        let job = entry.map_or(NONE, |entry| self.state.parity.stripes.dirty.entry(entry).job);
        if job != NONE {
            // The parity that the job writes may be computed from the lost unit too.
            self.state.parity.stripes.jobs[job].repairs = false;
        }
        if stripes.is_parity(unit) {
            match entry {
                Some(entry) => self.state.parity.stripes.dirty.entry_mut(entry).old_ppa = Ppa::NONE,
                None => {
                    self.map.trim(unit);
                }
            }
        } else if let Some(i) = self.state.parity.stripes.member_of(job, unit)
            && self.state.parity.stripes.members[i].old_ppa == ppa
        {
            // The job writes the unit. It has read the bytes of this copy that it needs, or is reading them.
            let member = &mut self.state.parity.stripes.members[i];
            member.old_ppa = Ppa::NONE;
            if !member.done {
                let slot = member.slot;
                self.data.settled(slot, ppa);
            }
        } else {
            return self.lose_unit(unit, ppa);
        }
        self.state.invalidate(&mut self.map, &self.shape.layout, ppa);
        self.state.faults.unreadable.remove(ppa);
    }

    /// The host's byte ranges whose data are lost, in order. Adjacent ranges are merged.
    pub fn lost_ranges(&self) -> Vec<Range<u64>> {
        let unit = self.shape.layout.unit_bytes;
        let buffer = &self.state.write.buffer;
        let full = buffer.full();
        let granule = buffer.granule();
        let mut masks = self.state.faults.lost.masks().clone();
        for ppa in self.state.faults.unreadable.iter().chain(self.copies().dead_units()) {
            let is_host = || self.map.owner(ppa).0 < self.shape.layout.host_units;
            if self.map.is_valid(ppa)
                && is_host()
                && !self.copies().can_compute(ppa)
                && !self.copies().is_moving(ppa)
            {
                let lpn = self.map.owner(ppa);
                let held = match self.map.lookup(lpn) {
                    Mapping::Buffer(held) => {
                        buffer.slot(held.slot()).mask & !self.state.faults.lacking.of(lpn)
                    }
                    _ => 0,
                };
                *masks.entry(lpn).or_insert(0) |= full & !held;
            }
        }
        for (lpn, lacks) in self.state.faults.lacking.iter() {
            // No copy on flash has the bytes that its slot lacks.
            let place = self.map.lookup(lpn);
            if matches!(place, Mapping::Buffer(held) if self.copies().copy_below(lpn, held.slot()) == Ppa::NONE)
            {
                *masks.entry(lpn).or_insert(0) |= lacks;
            }
        }
        let mut ranges: Vec<Range<u64>> = Vec::new();
        for (lpn, mask) in masks {
            let base = u64::from(lpn.0) * unit;
            for bit in (0..64).filter(|&bit| mask >> bit & 1 == 1) {
                let (from, to) = (base + bit * granule, base + ((bit + 1) * granule).min(unit));
                match ranges.last_mut() {
                    Some(last) if last.end == from => last.end = to,
                    _ => ranges.push(from..to),
                }
            }
        }
        ranges
    }
}
