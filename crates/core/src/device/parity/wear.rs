//! Wear levelling over lanes: it counts programs by lane, and moves stripes to lanes with fewer programs.

use crate::address::{Lpn, Ppa};
use crate::containers::NONE;
use crate::device::copies::Copies;
use crate::device::drive::Device;
use crate::device::parity::stripes::Member;
use crate::device::write::programs::Programs;
use crate::ftl::buffer::DirtyList;
use crate::ftl::map::Mapping;
use crate::ftl::stripe_places::rotated;
use crate::ftl::stripes::Stripes;
use crate::medium::Medium;
use crate::observer::Observer;
use crate::policy::wear::{WearVerdict, WearView};

/// Largest number of stripes that move at once, with their units in slots beside the buffer. Moves are rare compared
/// with writes, so a few suffice; a stripe that finds no room is tried again at a later flush.
pub(in crate::device) const MOVES: u32 = 4;

/// A stripe that is about to be flushed.
struct Flushed {
    stripe: u32,
    /// The dirty units by position (a mask), and the number of units written with the parity.
    dirty: u64,
    writes: u64,
}

impl Copies<'_> {
    /// Sum of the programs of the lanes that the flush writes if the stripe does not move.
    fn programs_at_home(&self, it: &Flushed) -> u64 {
        let stripes = self.shape.striped();
        let programs = self.write.programs.lanes();
        let members = stripes.members(it.stripe).enumerate();
        // Parity is last, after the positions of the data.
        let written = it.dirty | 1 << (stripes.width - 1);
        members
            .filter(|&(position, _)| written >> position & 1 != 0)
            .map(|(_, unit)| programs[self.target_lane(unit) as usize])
            .sum()
    }
}

impl Programs {
    /// Return the offset of the parity in a group for which the lanes that the flush writes have
    /// the fewest programs, and the sum of these programs.
    fn best_rotation(&self, stripes: &Stripes, it: &Flushed, group: u32) -> (u32, u64) {
        let programs = self.lanes();
        let at = |offset: u32| programs[stripes.lane(group, offset) as usize];
        let sum = |parity: u32| {
            let (mut sum, mut left) = (at(parity), it.dirty);
            while left != 0 {
                sum += at(rotated(stripes.width, parity, left.trailing_zeros()));
                left &= left - 1;
            }
            sum
        };
        let all = (0..stripes.width).map(|parity| (parity, sum(parity)));
        all.min_by_key(|&(_, sum)| sum).expect("a stripe has members")
    }
}

impl<O: Observer, M: Medium> Device<O, M> {
    /// Rows programmed by lane since the drive was made; those of its ageing are not counted.
    pub fn programs_by_lane(&self) -> &[u64] {
        self.state.write.programs.lanes()
    }

    /// Decide whether a stripe that is about to be flushed moves. Returns whether it does, and the
    /// group that it leaves, or `NONE`.
    ///
    /// Collections do not prevent a move: on a busy drive with rotating collection one lane of each group nearly always
    /// collects. The flush waits for a collection, or computes the units that the collection blocks, like any other
    /// flush.
    pub(in crate::device) fn move_stripe(&mut self, entry: u32) -> (bool, u32) {
        let stripe = self.state.parity.stripes.dirty.entry(entry).stripe;
        let stripes = self.shape.striped();
        let (mut dirty, mut clean) = (0u64, 0);
        for (position, unit) in stripes.members(stripe).take(stripes.width as usize - 1).enumerate() {
            match self.map.lookup(unit) {
                Mapping::Buffer(_) => dirty |= 1 << position,
                Mapping::Flash(_) => clean += 1,
                Mapping::Unmapped => {}
            }
        }
        if clean > self.state.write.buffer.room_aside() {
            return (false, NONE);
        }
        let group = self.state.parity.places.group_of(stripes, stripe);
        let it = Flushed { stripe, dirty, writes: u64::from(dirty.count_ones()) + 1 };
        let width = u64::from(stripes.width);
        let groups = self.state.write.programs.groups();
        let others = (0..stripes.groups).filter(|&g| g != group && self.state.parity.places.has_room(g));
        let coldest = others.min_by_key(|&g| groups[g as usize]).unwrap_or(group);
        let (parity, best) = self.state.write.programs.best_rotation(stripes, &it, group);
        let view = WearView {
            own: self.copies().programs_at_home(&it) / it.writes,
            best_rotation: best / it.writes,
            group: groups[group as usize] / width,
            coldest: groups[coldest as usize] / width,
        };
        let (to, parity) = match self.state.policies.wear.decide(&view) {
            WearVerdict::Stay => return (false, NONE),
            WearVerdict::Shift => (group, parity),
            WearVerdict::Migrate if coldest == group => return (false, NONE),
            WearVerdict::Migrate => {
                (coldest, self.state.write.programs.best_rotation(stripes, &it, coldest).0)
            }
        };
        let s = &mut self.state;
        s.counters.shifts += u64::from(to == group);
        s.counters.migrations += u64::from(to != group);
        (true, s.parity.places.set(self.shape.striped(), stripe, to, parity))
    }

    /// Add the clean units of a moving stripe to its job, after its `members` members. Each takes a slot beside the
    /// buffer, which is filled like a slot that is written in part. Returns the new number of members.
    pub(in crate::device) fn join_clean_units(
        &mut self,
        entry: u32,
        first: usize,
        mut members: usize,
    ) -> usize {
        let stripes = self.shape.striped();
        let stripe = self.state.parity.stripes.dirty.entry(entry).stripe;
        let data = stripes.first_of(stripe).run(stripes.width - 1);
        for unit in data {
            members += usize::from(self.join_clean_unit(entry, unit, first + members));
        }
        members
    }

    /// Add a unit that is on flash to a job as its member `at`. Returns false if it is not on
    /// flash.
    pub(in crate::device) fn join_clean_unit(&mut self, entry: u32, unit: Lpn, at: usize) -> bool {
        let place = self.map.lookup(unit);
        let Mapping::Flash(old_ppa) = place else { return false };
        let slot = self.state.write.buffer.take_moving(unit, DirtyList::of_stripe(entry));
        self.map.set_buffer(unit, slot);
        self.data.below(&self.state.write.buffer, slot, place, old_ppa);
        self.state.parity.stripes.members[at] =
            Member { unit, slot, old_ppa, ppa: Ppa::NONE, done: false, short: true };
        if self.shape.fixed.may_fail {
            self.state.faults.lacks(unit, self.state.write.buffer.full(), NONE);
        }
        true
    }
}
