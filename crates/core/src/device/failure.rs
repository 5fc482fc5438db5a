//! A plane that fails: its units are rebuilt when they are read, and rewritten elsewhere.
//!
//! The plane ends what it has accepted, and is given nothing more. What lies there is *lost*:
//! reads of it are computed from the rest of the stripe, whatever the read path says; a flush
//! takes a plane of another group in its place, another one from stripe to stripe; and lost
//! units are written again through the buffer, a few stripes at a time, until none is left.
//! Collections of the plane end without moving what they had still to move, and wear is
//! levelled no more.

use super::drive::Device;
use super::medium::Medium;
use super::observer::Observer;
use super::shape::room_of;
use crate::ftl::NONE;
use crate::ftl::map::Place;
use serde::{Deserialize, Serialize};

/// Stripes rewritten at once.
const MOST_REWRITTEN: u32 = 8;

/// The plane that failed.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Failure {
    /// Its lane, or `NONE`.
    pub lane: u32,
    /// When it failed, ns.
    pub at: u64,
    /// Unit of the lane at which the next lost one is looked for.
    cursor: u32,
    /// Stripes being rewritten.
    pub under_way: u32,
}

impl Failure {
    pub const NONE: Failure = Failure { lane: NONE, at: 0, cursor: 0, under_way: 0 };
}

impl<O: Observer, M: Medium> Device<O, M> {
    /// A plane fails now: the `plane`-th of the drive, counted by channel, die and plane.
    ///
    /// # Errors
    /// When the drive cannot go on without losing data, and why: it has no parity, another
    /// plane has failed, or the planes of other groups have no room for what may lie there.
    pub fn fail_plane(&mut self, plane: u32) -> Result<(), String> {
        let Some(stripes) = &self.shape.stripes else {
            return Err(
                "without parity the data of a failed plane are lost: set policy.redundancy to rain".into()
            );
        };
        let layout = &self.shape.layout;
        if plane >= layout.lanes {
            return Err(format!("there is no plane {plane}: the drive has {}", layout.lanes));
        }
        if self.state.failure.lane != NONE {
            return Err(format!(
                "plane {} has failed already: one parity stands in for one plane",
                self.state.failure.lane
            ));
        }
        let takers = self.takers(plane).count() as u32;
        let moved = self.state.homes.held().iter().copied().max();
        let own = stripes.count.div_ceil(stripes.groups).max(moved.unwrap_or(0));
        let more = if takers == 0 { own } else { own.div_ceil(takers) };
        let least = self.takers(plane).map(|l| room_of(layout, l, self.shape.reserve)).min().unwrap_or(0);
        if u64::from(own + more) >= least {
            return Err(format!(
                "the {takers} planes of other groups could take {more} units more each, and have room for less than {least} where {own} may lie already: raise ftl.over_provisioning"
            ));
        }
        let group = stripes.group_of_lane(plane);
        self.state.failure = Failure { lane: plane, at: self.state.now, ..Failure::NONE };
        self.stop_collecting(plane);
        let first = self.shape.striped().lane(group, 0);
        self.resume_stalled_stripes(first);
        self.relocate();
        Ok(())
    }

    /// Units that lie on a failed plane still.
    pub fn lost_units(&self) -> u64 {
        match self.state.failure.lane {
            NONE => 0,
            lane => self.valid_units(lane),
        }
    }

    fn valid_units(&self, lane: u32) -> u64 {
        let layout = &self.shape.layout;
        let extents = lane * layout.stride..lane * layout.stride + layout.usable[lane as usize];
        extents.map(|x| u64::from(self.state.extents.valid(x))).sum()
    }

    /// The lanes that may stand in for a lane: those of other groups, where no stripe has two
    /// units on one of them.
    fn takers(&self, lane: u32) -> impl Iterator<Item = u32> + '_ {
        let stripes = self.shape.striped();
        let own = stripes.group_of_lane(lane);
        (0..self.shape.layout.lanes).filter(move |&l| stripes.group_of_lane(l) != own)
    }

    /// Whether a lane is the failed plane.
    #[inline]
    pub(super) fn has_failed(&self, lane: u32) -> bool {
        self.state.failure.lane == lane
    }

    /// Whether this address is on a failed plane.
    #[inline]
    pub(super) fn is_lost(&self, pua: u32) -> bool {
        self.state.failure.lane != NONE && self.has_failed(self.shape.layout.lane_at(pua))
    }

    /// The lane that takes a stripe's unit bound for `lane`.
    #[inline]
    pub(super) fn in_place_of(&self, lane: u32, stripe: u32) -> u32 {
        if self.state.failure.lane != lane {
            return lane;
        }
        let stripes = self.shape.striped();
        let takers = self.shape.layout.lanes - stripes.width;
        let turn = stripe / stripes.groups % takers;
        self.takers(lane).nth(turn as usize).expect("a plane fails only if others stand in")
    }

    /// Rewrite lost units, as many stripes at once as may be.
    pub(super) fn relocate(&mut self) {
        if self.state.failure.lane == NONE {
            return;
        }
        while self.state.failure.under_way < MOST_REWRITTEN {
            let s = &self.state;
            let full = s.buffer.held() == s.buffer.capacity();
            if full || s.stripes.jobs.is_exhausted() || !self.rewrite_next() {
                return;
            }
        }
    }

    /// Rewrite the next lost unit whose stripe is not on its way; false when there is none.
    fn rewrite_next(&mut self) -> bool {
        let layout = &self.shape.layout;
        let first = self.state.failure.lane * layout.stride * layout.units_per_extent;
        let units = layout.stride * layout.units_per_extent;
        for _ in 0..units {
            let f = &mut self.state.failure;
            let pua = first + f.cursor;
            f.cursor = if f.cursor + 1 == units { 0 } else { f.cursor + 1 };
            if !self.map.is_valid(pua) {
                continue;
            }
            let unit = self.map.owner(pua);
            let stripe = self.shape.striped().stripe_of(unit);
            if self.job_of(stripe) == NONE {
                self.rewrite(unit, stripe);
                return true;
            }
        }
        false
    }

    /// Flush a stripe such that this unit of it is written anew.
    fn rewrite(&mut self, unit: u32, stripe: u32) {
        let stripes = self.shape.striped();
        let parity = stripes.parity(stripe);
        // Parity is written with any unit.
        let with = match (unit == parity, self.map.lookup(parity)) {
            (true, Place::Buffer(_)) => None,
            (true, _) => stripes.members(stripe).find(|&u| matches!(self.map.lookup(u), Place::Flash(_))),
            (false, _) => Some(unit),
        };
        if let Some(unit) = with
            && let Place::Flash(former) = self.map.lookup(unit)
        {
            let entry = self.entry_of(unit);
            let slot = self.state.buffer.insert(unit, former, 0, entry, NONE).expect("room was seen");
            self.map.set_buffer(unit, slot);
            self.stripe_written(entry);
            self.data_beneath(slot, Place::Flash(former), NONE);
        }
        let Place::Buffer(entry) = self.map.lookup(parity) else {
            unreachable!("a stripe with a lost unit has another on flash, or one held")
        };
        self.state.failure.under_way += 1;
        self.state.counters.stripes_rewritten += 1;
        self.flush_stripe(entry);
        let job = self.state.stripes.dirty.entry(entry).job;
        self.state.stripes.jobs[job].rewrites = true;
    }
}
