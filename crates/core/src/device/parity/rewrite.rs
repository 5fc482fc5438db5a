//! The rewriting of lost units of stripes: units on dead planes, and units on which a read has failed. They are
//! computed from the rest of their stripe and written to live planes.
//!
//! Until it is rewritten, a lost unit is computed from the rest of its stripe whenever it is read, under every read
//! path policy. Flushes write units that belong to a dead plane to planes of other groups; the choice differs from
//! stripe to stripe. Lost units are rewritten by flushes of their stripes. Only a few stripes are rewritten at a time,
//! in slots beside the write buffer, and at most at the rate `faults.rebuild_rate`.

use crate::address::{Lpn, Ppa};
use crate::containers::NONE;
use crate::containers::timers::UNSET;
use crate::device::copies::Copies;
use crate::device::drive::Device;
use crate::device::drive::State;
use crate::device::faults::state::FaultState;
use crate::device::parity::state::Parity;
use crate::device::shape::Shape;
use crate::ftl::layout::Layout;
use crate::ftl::map::Mapping;
use crate::medium::Medium;
use crate::observer::Observer;
use serde::{Deserialize, Serialize};

/// Largest number of stripes rewritten at once.
pub(in crate::device) const MOST_REWRITTEN: u32 = 8;

/// The progress of rewriting.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(in crate::device) struct Rewriting {
    /// The dead lane that is being searched for lost units, and the unit at which the search continues. The lane is
    /// `NONE` after a search that has found no unit on any dead plane.
    lane: u32,
    cursor: u32,
    /// The address at which the search among the unreadable units continues.
    unreadable: Ppa,
    /// Number of stripes being rewritten.
    pub under_way: u32,
    /// When the next stripe may be rewritten, ns.
    pub next: u64,
}

impl Rewriting {
    /// Restart the search for units on dead planes, because planes have died or a unit has been placed on one.
    #[cold]
    pub(in crate::device) fn look_on_dead_planes(&mut self) {
        if self.lane == NONE {
            (self.lane, self.cursor) = (0, 0);
        }
    }

    /// When rewriting may continue, if the rate limit holds it back. `some_lost`: units may be lost.
    fn resumes(&self, some_lost: bool, now: u64) -> Option<u64> {
        (some_lost && self.next > now).then_some(self.next)
    }
}

impl Copies<'_> {
    /// Number of lost units: their last read has failed, or they are on dead planes.
    pub fn lost_units(&self) -> u64 {
        let dead = self.dead_units().count() as u64;
        let unreadable = self.faults.unreadable.iter();
        let live = |ppa: &Ppa| self.map.is_valid(*ppa) && !self.faults.is_dead_at(&self.shape.layout, *ppa);
        dead + unreadable.filter(live).count() as u64
    }

    /// Audit: check that the search has missed no unit on a dead plane.
    pub(in crate::device) fn audit_rewriting(&self) -> Result<(), String> {
        if self.parity.rewriting.lane == NONE {
            let stripe_of = |ppa| self.shape.striped().stripe_of(self.map.owner(ppa));
            let missed = self.dead_units().find(|&ppa| self.job_of(stripe_of(ppa)) == NONE);
            law!(missed.is_none(), "the unit on a dead plane at {missed:?} is not looked for");
        }
        Ok(())
    }

    /// The parity of the next stripe with invalid parity that is not being flushed.
    fn next_broken(&self) -> Option<(Lpn, u32)> {
        let free = |&&stripe: &&u32| self.job_of(stripe) == NONE;
        let stripe = *self.faults.broken.iter().find(free)?;
        Some((self.shape.striped().parity(stripe), stripe))
    }

    /// Number of units that the search can skip from this address: up to the next unit that may be valid and on a dead
    /// plane, at most to the end of the extent. 0 within a row.
    fn live_units_from(&self, lane: u32, ppa: Ppa) -> u32 {
        let layout = &self.shape.layout;
        let (extent, offset) = layout.extent_of(ppa);
        if !offset.is_multiple_of(layout.units_per_row) {
            return 0;
        }
        let left = layout.units_per_extent - offset;
        if self.extents.valid(extent) == 0 {
            return left;
        }
        if self.faults.is_dead(lane) {
            return 0;
        }
        let part = layout.part_of(offset / layout.units_per_row);
        let dead = &self.faults.dead_parts;
        // Dead parts in the order of the rows from here.
        let later = dead.range((lane, part)..(lane, layout.parts)).map(|&(_, dead)| dead - part);
        let next = dead.range((lane, 0)..(lane, part)).map(|&(_, dead)| dead + layout.parts - part);
        let in_use = |rows: &u32| !self.extents.is_hole(layout, extent, (part + rows) % layout.parts);
        let rows = later.chain(next).find(in_use);
        rows.map_or(left, |rows| left.min(rows * layout.units_per_row))
    }
}

impl Parity {
    /// Restart the search if members of a job that is about to commit are on planes that have died since they were
    /// programmed.
    #[cold]
    pub(in crate::device) fn note_dead_members(&mut self, layout: &Layout, faults: &FaultState, job: u32) {
        if self.rewriting.lane == NONE {
            let mut members = self.stripes.members_of(job);
            if members.any(|i| faults.is_dead_at(layout, self.stripes.members[i].ppa)) {
                self.rewriting.look_on_dead_planes();
            }
        }
    }
}

impl State {
    /// Set the fault timer: to the next death of planes, or to the time at which rewriting may continue, whichever is
    /// earlier.
    pub(in crate::device) fn set_fault_timer(&mut self, shape: &Shape) {
        let at =
            [self.faults.next_death(shape), self.parity.rewriting.resumes(self.faults.some_lost, self.now)]
                .into_iter()
                .flatten()
                .min();
        self.faults.due_at = at.unwrap_or(UNSET);
        self.set_rare_timer();
    }
}

impl<O: Observer, M: Medium> Device<O, M> {
    /// Rewrite lost units, while fewer than `most` stripes are being rewritten.
    pub(in crate::device) fn relocate(&mut self, most: u32) {
        if !self.state.faults.some_lost || self.shape.stripes.is_none() || self.state.faults.is_read_only() {
            return;
        }
        // Stripes that were being moved when a plane died may still hold slots beside the buffer.
        while self.state.parity.rewriting.under_way < most
            && self.state.write.buffer.room_aside() > 0
            && !self.state.parity.stripes.jobs.is_exhausted()
        {
            if self.state.now < self.state.parity.rewriting.next {
                return self.state.set_fault_timer(&self.shape);
            }
            let Some((unit, stripe)) = self.next_lost() else { return };
            let r = &mut self.state.parity.rewriting;
            r.next = self.state.now + self.state.faults.rewrite_ns;
            self.rewrite(unit, stripe);
        }
    }

    /// The next lost unit whose stripe is not being flushed, and the stripe.
    fn next_lost(&mut self) -> Option<(Lpn, u32)> {
        self.copies().next_broken().or_else(|| self.next_unreadable()).or_else(|| self.next_on_dead_lane())
    }

    /// The next unit on which a read has failed and whose stripe is not being flushed.
    fn next_unreadable(&mut self) -> Option<(Lpn, u32)> {
        let first = self.state.parity.rewriting.unreadable;
        let unreadable = &self.state.faults.unreadable;
        let ppas: Vec<Ppa> = unreadable.range(first..).chain(unreadable.range(..first)).collect();
        for ppa in ppas {
            if !self.map.is_valid(ppa) {
                if !self.copies().is_in_use(ppa) {
                    self.state.faults.unreadable.remove(ppa);
                }
                continue;
            }
            let unit = self.map.owner(ppa);
            let stripe = self.shape.striped().stripe_of(unit);
            if self.copies().job_of(stripe) == NONE {
                self.state.parity.rewriting.unreadable = ppa + 1;
                return Some((unit, stripe));
            }
        }
        self.state.faults.note_lost();
        None
    }

    fn next_on_dead_lane(&mut self) -> Option<(Lpn, u32)> {
        if self.state.parity.rewriting.lane == NONE {
            return None;
        }
        let layout = &self.shape.layout;
        let units = layout.stride * layout.units_per_extent;
        let dead: Vec<u32> = self.state.faults.hurt_lanes().collect();
        let at = dead.iter().position(|&lane| lane == self.state.parity.rewriting.lane).unwrap_or(0);
        let mut some = false;
        for lane in dead[at..].iter().chain(&dead[..at]).copied() {
            let r = &mut self.state.parity.rewriting;
            if r.lane != lane {
                (r.lane, r.cursor) = (lane, 0);
            }
            let first = Ppa(lane * units);
            let mut left = units;
            while left > 0 {
                let at = self.state.parity.rewriting.cursor;
                let skipped = self.copies().live_units_from(lane, first + at);
                let step = skipped.max(1);
                self.state.parity.rewriting.cursor = if at + step >= units { 0 } else { at + step };
                left = left.saturating_sub(step);
                if skipped > 0
                    || !self.map.is_valid(first + at)
                    || !self.state.faults.is_dead_at(&self.shape.layout, first + at)
                {
                    continue;
                }
                some = true;
                let unit = self.map.owner(first + at);
                let stripe = self.shape.striped().stripe_of(unit);
                if self.copies().job_of(stripe) == NONE {
                    return Some((unit, stripe));
                }
            }
        }
        if !some {
            self.state.parity.rewriting.lane = NONE;
        }
        None
    }

    /// Flush a stripe in such a way that this unit of it is rewritten.
    fn rewrite(&mut self, unit: Lpn, stripe: u32) {
        let stripes = self.shape.striped();
        let parity = stripes.parity(stripe);
        let on_flash = |&u: &Lpn| matches!(self.map.lookup(u), Mapping::Flash(_));
        // The flush writes all dirty units and the parity in any case, so a further unit is needed only in some cases.
        let with = match (unit == parity, self.map.lookup(parity)) {
            (true, Mapping::Buffer(_)) => None,
            (true, _) => stripes.members(stripe).find(|u| *u != parity && on_flash(u)),
            (false, _) => Some(unit).filter(on_flash),
        };
        let entry = self.state.parity.entry_of(&self.shape, &mut self.map, stripes.first_of(stripe));
        self.state.parity.rewriting.under_way += 1;
        self.state.counters.stripes_rewritten += 1;
        self.flush_with(entry, with);
        let job = self.state.parity.stripes.dirty.entry(entry).job;
        debug_assert!(job != NONE, "stripe {stripe} is rewritten by no flush");
        self.state.parity.stripes.jobs[job].rewrites = true;
    }
}
