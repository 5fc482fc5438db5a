//! Write units of stripes: parity is written with the data it covers.
//!
//! A *job* takes the dirty units of one stripe to flash: what the new parity needs is read
//! first; then every member written and the parity get a row on their own lane, or the job
//! waits until each has one, so that no job under way ever waits for space. A member that is
//! programmed leaves the buffer, and is read where it is now; the stripe is still the old
//! copies with the old parity, which stay valid until the last program has ended and what
//! parity covers switches to the new ones with it. So the buffer holds only what a collection keeps from flash.

use crate::containers::NONE;
use crate::containers::list::{Link, List};
use crate::containers::slab::Slab;
use crate::device::drive::Device;
use crate::device::medium::Medium;
use crate::flash::{Held, OpId, Owner, SLOTS};
use crate::ftl::dirty_stripes::DirtyStripes;
use crate::ftl::map::Place;
use crate::ftl::stripes::Stripes;
use crate::observer::Observer;
use crate::policy::flush::FlushVerdict;
use serde::{Deserialize, Serialize};
use tailcut_units::{Ledger, Occupant};

/// What a job computes the new parity from, besides what it writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::device) enum Basis {
    /// The old parity and the old copies of what is written.
    Former,
    /// The rest of the stripe.
    Rest,
    /// The rest of the stripe; this unit, held in part, lies behind a collection, and its
    /// old copy is rebuilt from all the others.
    RestBut(u32),
}

/// One stripe on its way to flash.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(in crate::device) struct Job {
    /// Its entry among the dirty stripes.
    pub entry: u32,
    /// Units written, parity last.
    pub members: u32,
    /// Where its parity comes from.
    pub basis: Basis,
    /// Reads that the parity still waits for.
    pub reads: u32,
    /// Programs still to end.
    pub programs: u32,
    /// It is there to write a lost unit anew.
    pub rewrites: bool,
    /// The group that its stripe leaves with it, or `NONE`.
    pub left: u32,
    /// When its data were complete.
    pub ready: u64,
    /// The lane that had no row for it, the account of that lane's die when it began to wait,
    /// and what that die did meanwhile.
    pub lacking: u32,
    pub seen: Held,
    pub stalled: Ledger,
    /// Where the time went before.
    pub ledger: Ledger,
}

/// One member of a job.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(in crate::device) struct Member {
    /// The logical unit.
    pub unit: u32,
    /// Its slot; `NONE` for parity.
    pub slot: u32,
    /// The copy that the old parity covers; `NONE` for none, and for parity itself, whose
    /// entry has it.
    pub old_ppa: u32,
    /// Its new place.
    pub ppa: u32,
    /// It is programmed there: the slot is not its own any more.
    pub done: bool,
}

/// All that stripes need beyond the map.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(in crate::device) struct StripeState {
    pub dirty: DirtyStripes,
    pub jobs: Slab<Job>,
    /// For each job, its members.
    pub members: Vec<Member>,
    width: u32,
    /// Jobs that wait for rows, in all and by group.
    pub waiting: u32,
    pub stalled: Vec<List>,
    pub links: Vec<Link>,
}

impl StripeState {
    /// For a buffer of `slots` slots; nothing without stripes.
    pub fn new(stripes: Option<&Stripes>, slots: u32, lanes: u32) -> StripeState {
        let (width, groups) = stripes.map_or((1, 0), |s| (s.width, s.groups));
        let jobs = StripeState::most_jobs(stripes, slots, lanes);
        let entries = StripeState::most_entries(stripes, slots, lanes);
        let blank = Job {
            entry: NONE,
            members: 0,
            basis: Basis::Former,
            reads: 0,
            programs: 0,
            rewrites: false,
            left: NONE,
            ready: 0,
            lacking: NONE,
            seen: [0; SLOTS],
            stalled: Ledger::new(),
            ledger: Ledger::new(),
        };
        StripeState {
            dirty: DirtyStripes::new(entries, groups, width - 1),
            jobs: Slab::new(jobs as usize, blank),
            members: vec![Member::default(); (jobs * width) as usize],
            width,
            waiting: 0,
            stalled: vec![List::default(); groups as usize],
            links: vec![Link::default(); jobs as usize],
        }
    }

    /// Stripes on their way at once: enough to keep every plane busy with many of them.
    pub fn most_jobs(stripes: Option<&Stripes>, slots: u32, lanes: u32) -> u32 {
        // Operations are reserved for every unit of each.
        stripes.map_or(0, |s| slots.min(64 * lanes).min((1 << 17) / s.width))
    }

    /// Stripes that are held in part or on their way, at most.
    pub fn most_entries(stripes: Option<&Stripes>, slots: u32, lanes: u32) -> u32 {
        if stripes.is_some() { slots + StripeState::most_jobs(stripes, slots, lanes) } else { 0 }
    }

    /// The members of a job.
    pub fn members_of(&self, job: u32) -> std::ops::Range<usize> {
        let first = (job * self.width) as usize;
        first..first + self.jobs[job].members as usize
    }
}

impl<O: Observer, M: Medium> Device<O, M> {
    /// The entry of a unit's stripe, which the buffer is about to hold a unit of.
    #[inline]
    pub(in crate::device) fn entry_of(&mut self, unit: u32) -> u32 {
        let stripes = self.shape.striped();
        let stripe = stripes.stripe_of(unit);
        let parity = stripes.parity(stripe);
        let old_ppa = match self.map.lookup(parity) {
            Place::Buffer(entry) => return entry,
            Place::Flash(ppa) => ppa,
            Place::Unmapped => NONE,
        };
        let entry = self.state.parity.stripes.dirty.open(stripe, old_ppa);
        self.map.set_buffer(parity, entry);
        entry
    }

    /// A unit of this stripe was written to the buffer.
    #[inline]
    pub(in crate::device) fn stripe_written(&mut self, entry: u32) {
        let s = &mut self.state;
        let stripe = s.parity.stripes.dirty.entry(entry).stripe;
        let group = s.parity.places.group_of(self.shape.striped(), stripe);
        s.parity.stripes.dirty.written(entry, group, s.write.buffer.dirty_in(entry));
    }

    /// The flush under way of a stripe, or `NONE`.
    #[inline]
    pub(in crate::device) fn job_of(&self, stripe: u32) -> u32 {
        match self.map.lookup(self.shape.striped().parity(stripe)) {
            Place::Buffer(entry) => self.state.parity.stripes.dirty.entry(entry).job,
            _ => NONE,
        }
    }

    /// The member of a job (`NONE` for none) that this unit is.
    #[inline]
    pub(in crate::device) fn member_of(&self, job: u32, unit: u32) -> Option<usize> {
        let s = &self.state.parity.stripes;
        if job == NONE {
            return None;
        }
        s.members_of(job).find(|&i| s.members[i].unit == unit)
    }

    /// The copy of a unit (or parity) on flash that its stripe's parity covers.
    #[inline]
    pub(in crate::device) fn flash_copy(&self, unit: u32) -> Option<u32> {
        self.copy_beside(self.job_of(self.shape.striped().stripe_of(unit)), unit)
    }

    /// The same, where the stripe's job is known.
    pub(in crate::device) fn copy_beside(&self, job: u32, unit: u32) -> Option<u32> {
        let s = &self.state;
        let ppa = if self.shape.striped().is_parity(unit) {
            match self.map.lookup(unit) {
                Place::Unmapped => NONE,
                Place::Flash(ppa) => ppa,
                Place::Buffer(entry) => s.parity.stripes.dirty.entry(entry).old_ppa,
            }
        } else if let Some(member) = self.member_of(job, unit) {
            s.parity.stripes.members[member].old_ppa
        } else {
            match self.map.lookup(unit) {
                Place::Unmapped => NONE,
                Place::Flash(ppa) => ppa,
                Place::Buffer(slot) => s.write.buffer.slot(slot).old_ppa,
            }
        };
        Some(ppa).filter(|&ppa| ppa != NONE)
    }

    /// A copy on flash was moved: true if it is one that a stripe on its way still needs, or
    /// the parity of one that the buffer holds.
    #[inline]
    pub(in crate::device) fn member_moved(&mut self, unit: u32, old_ppa: u32, new: u32) -> bool {
        let Some(stripes) = &self.shape.stripes else { return false };
        let Place::Buffer(entry) = self.map.lookup(stripes.parity(stripes.stripe_of(unit))) else {
            return false;
        };
        if stripes.is_parity(unit) {
            let entry = self.state.parity.stripes.dirty.entry_mut(entry);
            debug_assert_eq!(entry.old_ppa, old_ppa);
            entry.old_ppa = new;
            return true;
        }
        match self.member_of(self.state.parity.stripes.dirty.entry(entry).job, unit) {
            Some(i) if self.state.parity.stripes.members[i].old_ppa == old_ppa => {
                self.state.parity.stripes.members[i].old_ppa = new;
                true
            }
            _ => false,
        }
    }

    /// Whether a collection keeps host operations from a lane.
    #[inline]
    pub(in crate::device) fn is_closed(&self, lane: u32) -> bool {
        self.flash.is_closed(self.shape.units_of_lane(lane).start)
    }

    /// The stripe to flush next: the least recently written, or of the least recently
    /// written whole and partial stripe of each group the one that collections hinder least.
    pub(in crate::device) fn next_stripe(&self, least_hindered: bool) -> Option<u32> {
        let stripes = self.shape.stripes.as_ref()?;
        let dirty = &self.state.parity.stripes.dirty;
        if self.state.parity.stripes.jobs.is_exhausted() {
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
        if !self.is_hindered(entry, group, whole) {
            return Some(entry);
        }
        let free = heads(whole).filter(|&(e, g)| !self.is_hindered(e, g, whole)).min_by_key(written);
        Some(free.map_or(entry, |(entry, _)| entry))
    }

    /// Whether a plane that this stripe's flush would program collects.
    fn is_hindered(&self, entry: u32, group: u32, whole: bool) -> bool {
        if self.state.gc.groups.collecting(group) == 0 {
            return false;
        }
        let stripes = self.shape.striped();
        let stripe = self.state.parity.stripes.dirty.entry(entry).stripe;
        stripes.members(stripe).any(|unit| {
            let written = whole
                || stripes.is_parity(unit)
                || matches!(self.map.lookup(unit), Place::Buffer(slot) if !self.state.write.buffer.slot(slot).in_flight);
            written && self.is_closed(self.target_lane(unit))
        })
    }

    /// Send the stripe that the flush policy names on its way. False where none may leave: those
    /// that are left are in flight, and ask again when they are on flash.
    pub(in crate::device) fn flush_stripes(&mut self, verdict: FlushVerdict, list: u32) -> bool {
        let stripes = &self.state.parity.stripes;
        let entry = match verdict {
            FlushVerdict::SameLane => {
                Some(list).filter(|&e| stripes.dirty.entry(e).job == NONE && !stripes.jobs.is_exhausted())
            }
            _ => self.next_stripe(verdict == FlushVerdict::LeastHindered),
        };
        if let Some(entry) = entry {
            self.flush_stripe(entry);
        }
        entry.is_some()
    }

    /// Flush everything that may be flushed now.
    pub(in crate::device) fn flush_all_stripes(&mut self) {
        while let Some(entry) = self.next_stripe(false) {
            self.flush_stripe(entry);
        }
    }

    /// Send the dirty units of a stripe on their way.
    pub(in crate::device) fn flush_stripe(&mut self, entry: u32) {
        self.flush_with(entry, None);
    }

    /// Send the dirty units of a stripe on their way, and one besides that is on flash.
    pub(in crate::device) fn flush_with(&mut self, entry: u32, also: Option<u32>) {
        let levels = self.fixed.levels_wear && self.state.parity.failure.lane == NONE;
        let (moves, left) = if levels { self.move_stripe(entry) } else { (false, NONE) };
        let stripes = self.shape.striped();
        let s = &mut self.state;
        let job = s.parity.stripes.jobs.take();
        s.parity.stripes.dirty.departs(entry, job);
        let stripe = s.parity.stripes.dirty.entry(entry).stripe;
        let first = (job * stripes.width) as usize;
        let mut members = 0;
        while let Some(slot) = s.write.buffer.depart(entry) {
            let held = s.write.buffer.slot_mut(slot);
            let old_ppa = std::mem::replace(&mut held.old_ppa, NONE);
            let unit = held.lpn;
            s.parity.stripes.members[first + members] =
                Member { unit, slot, old_ppa, ppa: NONE, done: false };
            members += 1;
        }
        if moves {
            members = self.join_clean_units(entry, first, members);
        }
        if let Some(unit) = also {
            members += usize::from(self.join_clean_unit(entry, unit, first + members));
        }
        let unit = self.shape.striped().parity(stripe);
        let s = &mut self.state;
        let parity = Member { unit, slot: NONE, old_ppa: NONE, ppa: NONE, done: false };
        s.parity.stripes.members[first + members] = parity;
        let j = &mut s.parity.stripes.jobs[job];
        j.entry = entry;
        j.members = members as u32 + 1;
        j.programs = members as u32 + 1;
        j.rewrites = false;
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

    /// Read what the new parity, and units held in part, need: the old copies of what is
    /// written and the old parity, or the rest of the stripe, whichever is less; or all but
    /// what a collecting plane keeps.
    fn read_for_parity(&mut self, job: u32, stripe: u32) {
        let stripes = self.shape.striped();
        let s = &self.state;
        let range = s.parity.stripes.members_of(job);
        // By position in the stripe, parity last: written, copied on flash, held in part,
        // behind a collection; and moved, which parity needs and the host does not.
        let (mut written, mut on_flash, mut short, mut closed) = (0u64, 0u64, 0u64, 0u64);
        let mut lost = 0u64;
        let mut moved = 0u64;
        for member in &s.parity.stripes.members[range] {
            if member.slot != NONE && s.write.buffer.slot(member.slot).mask != s.write.buffer.full() {
                short |= 1 << (member.unit % (stripes.width - 1));
            }
            if member.slot != NONE {
                written |= 1 << (member.unit % (stripes.width - 1));
                moved |=
                    u64::from(s.write.buffer.slot(member.slot).moving) << (member.unit % (stripes.width - 1));
            }
        }
        let avoid = self.fixed.flush_avoids_collections;
        let parity = 1u64 << (stripes.width - 1);
        for (i, unit) in stripes.members(stripe).enumerate() {
            if let Some(ppa) = self.copy_beside(job, unit) {
                on_flash |= 1 << i;
                // Where the copy is: the stripe may be moving away from there.
                closed |= u64::from(avoid && self.is_closed(self.shape.layout.lane_at(ppa))) << i;
                lost |= u64::from(self.is_lost(ppa)) << i;
            }
        }
        short &= on_flash;
        let whole = written | parity == (parity << 1) - 1;
        let modify = (written | parity) & on_flash;
        let rest = (!written & (parity - 1) & on_flash) | short;
        let cost =
            |set: u64| set.count_ones() + 64 * (set & closed).count_ones() + 4096 * (set & lost).count_ones();
        let (mut set, mut basis) =
            if whole || cost(rest) < cost(modify) { (rest, Basis::Rest) } else { (modify, Basis::Former) };
        // A unit held in part may be lost, or lie behind the collection: the others give it.
        let round = if lost != 0 { lost } else { closed };
        if round.count_ones() == 1 && set & round != 0 {
            debug_assert!(round & short != 0, "any other unit is needed by one of the two only");
            set = on_flash & !round;
            basis = Basis::RestBut(stripes.first_of(stripe) + round.trailing_zeros());
        }
        self.state.parity.stripes.jobs[job].basis = basis;
        self.data_gathering(job);
        let members = self.shape.striped().members(stripe).enumerate();
        for (i, unit) in members.filter(|&(i, _)| set >> i & 1 != 0) {
            let ppa = self.copy_beside(job, unit).expect("only what is on flash is read");
            let op = self.new_unit_read(Occupant::RmwRead, Owner::Stripe(job), ppa);
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

    /// Something that a stripe's parity needs has arrived.
    pub(in crate::device) fn stripe_read_arrived(&mut self, op: OpId, job: u32) {
        let s = &mut self.state;
        let j = &mut s.parity.stripes.jobs[job];
        j.reads -= 1;
        let last = j.reads == 0;
        if last {
            j.ledger.merge(&self.flash.op(op).ledger);
            j.ready = s.now;
        }
        self.free_op(op);
        if last {
            self.place_stripe(job);
        }
    }

    /// Forget the stripes that lie wholly inside `first..end` and are at rest; of others the
    /// parity covers the data, and they stay. Returns the units that stayed.
    pub(in crate::device) fn trim_stripes(&mut self, first: u32, end: u32) -> u32 {
        let stripes = self.shape.striped();
        let data = stripes.width - 1;
        let (from, to) = (first.div_ceil(data), end / data);
        let mut kept = end.saturating_sub(first);
        for stripe in from..to {
            let stripes = self.shape.striped();
            let parity = stripes.parity(stripe);
            if matches!(self.map.lookup(parity), Place::Buffer(_)) {
                continue;
            }
            for unit in stripes.members(stripe) {
                if let Place::Flash(ppa) = self.map.trim(unit) {
                    self.invalidate(ppa);
                }
                self.data_trimmed(unit);
            }
            kept -= data;
        }
        kept
    }
}
