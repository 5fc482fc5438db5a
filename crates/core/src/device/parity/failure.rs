//! A plane that fails: its units are rebuilt when they are read, and rewritten elsewhere.
//!
//! The failed plane completes the operations that it has accepted. After that it gets nothing but
//! the erase of a block that a collection had emptied. Units on the plane are *lost*: reads of them
//! are computed from the rest of the stripe, regardless of the read path policy. Flushes write to
//! planes of other groups instead, to a different one from stripe to stripe. Lost units are
//! rewritten, a few stripes at a time and beside the write buffer, until none is left. Collections
//! of the plane end without moving the units that were left, and wear levelling stops.

use crate::address::{Lpn, Ppa};
use crate::containers::NONE;
use crate::device::capacity::room_of;
use crate::device::drive::Device;
use crate::device::medium::Medium;
use crate::ftl::map::Place;
use crate::observer::Observer;
use serde::{Deserialize, Serialize};

/// Largest number of stripes rewritten at once.
pub(in crate::device) const MOST_REWRITTEN: u32 = 8;

/// The plane that failed.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(in crate::device) struct Failure {
    /// The lane of the plane, or `NONE`.
    pub lane: u32,
    /// When it failed, ns.
    pub at: u64,
    /// The lanes that replace the failed one, in turn.
    substitutes: Vec<u32>,
    /// Unit of the lane at which the search for the next lost unit continues.
    cursor: u32,
    /// Number of stripes being rewritten.
    pub under_way: u32,
}

impl Failure {
    pub const NONE: Failure = Failure { lane: NONE, at: 0, substitutes: Vec::new(), cursor: 0, under_way: 0 };

    /// Whether a restored value fits a drive with `lanes` lanes of `units` units.
    pub fn fits(&self, lanes: u32, units: u32) -> bool {
        let inside = self.substitutes.iter().all(|&lane| lane < lanes) && self.cursor < units.max(1);
        self.lane == NONE && self.under_way == 0
            || self.lane < lanes && !self.substitutes.is_empty() && inside
    }
}

impl<O: Observer, M: Medium> Device<O, M> {
    /// Let a plane fail now: the `plane`-th of the drive, counted by channel, die and plane.
    ///
    /// # Errors
    /// If there is no such plane, or the drive cannot continue without losing data: it has no
    /// parity, its read path never reconstructs units, another plane has failed, or the planes of
    /// other groups have no room for the units of this plane.
    pub fn fail_plane(&mut self, plane: u32) -> Result<(), String> {
        let Some(stripes) = &self.shape.stripes else {
            return Err(
                "without parity the data of a failed plane are lost: set policy.redundancy to rain".into()
            );
        };
        if !self.fixed.rebuilds_reads {
            return Err("policy.read_path `wait` rebuilds no unit: set it to gc-tolerant".into());
        }
        let layout = &self.shape.layout;
        if plane >= layout.lanes {
            return Err(format!("there is no plane {plane}: the drive has {}", layout.lanes));
        }
        if self.state.parity.failure.lane != NONE {
            return Err(format!(
                "plane {} has failed already: one parity replaces only one plane",
                self.state.parity.failure.lane
            ));
        }
        let group = stripes.group_of_lane(plane);
        let substitutes: Vec<u32> =
            (0..layout.lanes).filter(|&l| stripes.group_of_lane(l) != group).collect();
        self.check_substitutes(plane, &substitutes)?;
        let first = stripes.lane(group, 0);
        self.state.parity.failure = Failure { lane: plane, at: self.state.now, substitutes, ..Failure::NONE };
        self.stop_collecting(plane);
        self.resume_stalled_stripes(first);
        self.relocate(MOST_REWRITTEN);
        self.run_deferred();
        Ok(())
    }

    /// Check that the lanes that replace a failed one have room for the units that they may get.
    fn check_substitutes(&self, plane: u32, substitutes: &[u32]) -> Result<(), String> {
        let stripes = self.shape.striped();
        if substitutes.is_empty() {
            return Err("no plane is outside its group, so none can replace it".into());
        }
        let mut more = vec![0u64; substitutes.len()];
        for stripe in 0..stripes.count {
            let on = |unit| self.state.parity.places.lane(stripes, unit) == plane;
            if stripes.members(stripe).any(on) {
                more[(stripe / stripes.groups) as usize % substitutes.len()] += 1;
            }
        }
        let held = |group: u32| {
            let own = stripes.count.div_ceil(stripes.groups);
            u64::from(self.state.parity.places.held().get(group as usize).copied().unwrap_or(0).max(own))
        };
        for (&lane, more) in substitutes.iter().zip(more) {
            let own = held(stripes.group_of_lane(lane));
            let room = room_of(&self.shape.layout, lane, self.shape.reserve);
            if own + more >= room {
                return Err(format!(
                    "plane {lane} would have to hold {} units and has room for less than {room}: raise ftl.over_provisioning",
                    own + more
                ));
            }
        }
        Ok(())
    }

    /// Number of units that are still on a failed plane.
    pub fn lost_units(&self) -> u64 {
        match self.state.parity.failure.lane {
            NONE => 0,
            lane => self.valid_units(lane),
        }
    }

    fn valid_units(&self, lane: u32) -> u64 {
        let layout = &self.shape.layout;
        let extents = lane * layout.stride..lane * layout.stride + layout.usable[lane as usize];
        extents.map(|x| u64::from(self.state.extents.valid(x))).sum()
    }

    /// Whether a lane is the failed plane.
    #[inline]
    pub(in crate::device) fn has_failed(&self, lane: u32) -> bool {
        self.state.parity.failure.lane == lane
    }

    /// Whether this address is on a failed plane.
    #[inline]
    pub(in crate::device) fn is_lost(&self, ppa: Ppa) -> bool {
        self.state.parity.failure.lane != NONE && self.has_failed(self.shape.layout.lane_at(ppa))
    }

    /// The lane to which a stripe's unit for `lane` is written: `lane` itself unless it has failed.
    #[inline]
    pub(in crate::device) fn substitute_for(&self, lane: u32, stripe: u32) -> u32 {
        if self.state.parity.failure.lane != lane {
            return lane;
        }
        let substitutes = &self.state.parity.failure.substitutes;
        substitutes[(stripe / self.shape.striped().groups) as usize % substitutes.len()]
    }

    /// Rewrite lost units, while fewer than `most` stripes are being rewritten.
    pub(in crate::device) fn relocate(&mut self, most: u32) {
        if self.state.parity.failure.lane == NONE {
            return;
        }
        // Stripes that were moving when the plane failed may still hold slots beside the buffer.
        while self.state.parity.failure.under_way < most
            && self.state.write.buffer.room_aside() > 0
            && !self.state.parity.stripes.jobs.is_exhausted()
        {
            let Some((unit, stripe)) = self.next_lost() else { return };
            self.rewrite(unit, stripe);
        }
    }

    /// The next lost unit whose stripe is not being flushed, and the stripe.
    fn next_lost(&mut self) -> Option<(Lpn, u32)> {
        let layout = &self.shape.layout;
        let each = layout.units_per_extent;
        let first = Ppa(self.state.parity.failure.lane * layout.stride * each);
        let units = layout.stride * each;
        let mut left = units;
        while left > 0 {
            let at = self.state.parity.failure.cursor;
            // Extents without valid units are skipped.
            let empty =
                at.is_multiple_of(each) && self.state.extents.valid(layout.extent_of(first + at).0) == 0;
            let step = if empty { each } else { 1 };
            self.state.parity.failure.cursor = if at + step >= units { 0 } else { at + step };
            left = left.saturating_sub(step);
            if empty || !self.map.is_valid(first + at) {
                continue;
            }
            let unit = self.map.owner(first + at);
            let stripe = self.shape.striped().stripe_of(unit);
            if self.job_of(stripe) == NONE {
                return Some((unit, stripe));
            }
        }
        None
    }

    /// Flush a stripe such that this unit of it is rewritten.
    fn rewrite(&mut self, unit: Lpn, stripe: u32) {
        let stripes = self.shape.striped();
        let parity = stripes.parity(stripe);
        let on_flash = |&u: &Lpn| matches!(self.map.lookup(u), Place::Flash(_));
        // Parity is written with any unit, and the flush includes dirty units.
        let with = match (unit == parity, self.map.lookup(parity)) {
            (true, Place::Buffer(_)) => None,
            (true, _) => stripes.members(stripe).find(on_flash),
            (false, _) => Some(unit).filter(on_flash),
        };
        let entry = self.entry_of(stripes.first_of(stripe));
        self.state.parity.failure.under_way += 1;
        self.state.counters.stripes_rewritten += 1;
        self.flush_with(entry, with);
        let job = self.state.parity.stripes.dirty.entry(entry).job;
        self.state.parity.stripes.jobs[job].rewrites = true;
    }
}
