//! Blocks that have grown bad. Each is replaced by a spare block of its plane; without one, its extent is retired.

use crate::address::Extent;
use crate::device::capacity::{LaneSize, room_of};
use crate::device::copies::Copies;
use crate::device::drive::Device;
use crate::device::faults::state::FaultState;
use crate::device::shape::Shape;
use crate::figures::{BlockReport, FaultReport};
use crate::ftl::extents::Extents;
use crate::ftl::layout::Layout;
use crate::medium::Medium;
use crate::nand::blocks::Blocks;
use crate::observer::Observer;
use tailcut_units::ReadOnlyReason;

impl FaultState {
    /// Whether a part of an extent of a lane is unusable: it is a hole, or (on a drive whose extents can have holes)
    /// its planes are dead.
    pub(in crate::device) fn is_gap(
        &self,
        layout: &Layout,
        extents: &Extents,
        extent: u32,
        lane: u32,
        part: u32,
    ) -> bool {
        extents.is_hole(layout, extent, part) || self.dead_parts.contains(&(lane, part))
    }

    /// A closed extent of a lane that must be emptied because one of its blocks has grown bad; `None` if there is none,
    /// or no room to empty it.
    pub(in crate::device) fn failing_in(&self, shape: &Shape, extents: &Extents, lane: u32) -> Option<u32> {
        let own = lane * shape.layout.stride..(lane + 1) * shape.layout.stride;
        // The moves take free rows, and no erase gives them back.
        let fits = extents.free(&shape.layout, lane) > shape.reserve;
        self.failing.range(own).copied().find(|&extent| fits && extents.is_closed(extent))
    }

    /// The planes of a die, as a mask, on which the erase of an extent skips the block. The block is bad or in a hole,
    /// or (on a drive whose extents can have holes) its plane is dead.
    pub(in crate::device) fn planes_not_erased(
        &self,
        layout: &Layout,
        extents: &Extents,
        blocks: &Blocks,
        extent: u32,
        die: u32,
    ) -> u32 {
        let (lane, index) = layout.lane_of(extent);
        let planes = layout.planes;
        let of_die = die * planes..(die + 1) * planes;
        let spared = |plane: &u32| {
            let (_, part) = layout.part_of_plane(*plane);
            let bad = || blocks.has(*plane, index) && blocks.is_bad(blocks.id(*plane, index));
            of_die.contains(plane) && (self.is_gap(layout, extents, extent, lane, part) || bad())
        };
        layout.planes_of(lane).filter(spared).map(|plane| 1 << (plane % planes)).sum()
    }

    /// Number of blocks that the erase of an extent skips.
    pub(in crate::device) fn blocks_not_erased(
        &self,
        layout: &Layout,
        extents: &Extents,
        blocks: &Blocks,
        Extent(extent): Extent,
    ) -> u64 {
        let first = layout.first_die(layout.lane_of(extent).0);
        let of_die = |die| self.planes_not_erased(layout, extents, blocks, extent, die).count_ones();
        (first..first + layout.luns).map(|die| u64::from(of_die(die))).sum()
    }

    /// Turn each part of an emptied extent that has a bad block or dead planes into a hole. Returns false if no usable
    /// part is left.
    fn leave_holes(&mut self, layout: &Layout, extents: &mut Extents, blocks: &Blocks, extent: u32) -> bool {
        let (lane, index) = layout.lane_of(extent);
        self.failing.remove(&extent);
        let is_bad = |plane: u32| blocks.is_bad(blocks.id(plane, index));
        for part in 0..layout.parts {
            let dead = self.dead_parts.contains(&(lane, part));
            if dead || layout.planes_of_part(lane, part).any(is_bad) {
                extents.add_hole(layout, extent, part);
            }
        }
        extents.rows_of(layout, extent) > 0
    }
}

impl Copies<'_> {
    /// The usable size of a lane.
    fn lane_size(&self, lane: u32) -> LaneSize {
        let (layout, extents) = (&self.shape.layout, self.extents);
        let usable = layout.usable[lane as usize];
        if extents.holes().is_none() {
            return LaneSize::whole(layout, usable - extents.retired_in(layout, lane));
        }
        let first = lane * layout.stride;
        let of = |extent| {
            (0..layout.parts)
                .filter(|&part| !self.faults.is_gap(&self.shape.layout, self.extents, extent, lane, part))
                .count() as u64
        };
        let parts = (first..first + usable).map(of).filter(|&parts| parts > 0);
        let (count, parts) = parts.fold((0, 0), |(count, sum), parts| (count + 1, sum + parts));
        LaneSize { extents: count, units: parts * u64::from(layout.units_per_part()) }
    }

    /// Number of extents that a lane can still lose while holding `share` units; `None` if it has lost too many
    /// already.
    fn spare_extents_of(&self, lane: u32, share: u64) -> Option<u32> {
        let layout = &self.shape.layout;
        let size = self.lane_size(lane);
        let fits = |&lost: &u32| room_of(layout, size.without(layout, lost), self.shape.reserve) > share;
        (0..=size.extents).take_while(fits).last()
    }

    /// Spread the units that do not fit into lanes with dead parts over the other live lanes, in proportion to their
    /// room. The writes of such a lane go to other lanes when it has no free row.
    fn spread_excess(&self, shares: &mut [u64]) {
        let room =
            |lane: u32| room_of(&self.shape.layout, self.lane_size(lane), self.shape.reserve).max(1) - 1;
        let mut excess = 0;
        for lane in self.faults.hurt_lanes().filter(|&lane| !self.faults.is_dead(lane)) {
            let share = &mut shares[lane as usize];
            let over = share.saturating_sub(room(lane));
            *share -= over;
            excess += over;
        }
        if excess == 0 {
            return;
        }
        let lanes = (0..self.shape.layout.lanes).filter(|&lane| !self.faults.is_dead(lane));
        let free: Vec<(u32, u64)> =
            lanes.map(|lane| (lane, room(lane).saturating_sub(shares[lane as usize]))).collect();
        let mut left: u64 = free.iter().map(|(_, free)| free).sum();
        for (i, &(lane, own)) in free.iter().enumerate() {
            // Units that fit nowhere go to the last lane, which is then too full.
            let last = i + 1 == free.len();
            let part = (u128::from(excess) * u128::from(own)).div_ceil(u128::from(left.max(1))) as u64;
            let part = if last { excess } else { part.min(excess) };
            shares[lane as usize] += part;
            excess -= part;
            left -= own;
        }
    }

    /// By lane: the number of units that it must be able to hold, including its part of those of dead lanes; 0 for dead
    /// lanes. Empty if the live lanes cannot replace the dead ones.
    fn shares(&self) -> Vec<u64> {
        let (fill, lanes) = (&self.shape.fill, self.shape.layout.lanes);
        let mut shares: Vec<u64> =
            fill.units_by_lane(fill.end(self.shape.layout.host_units)).into_iter().map(u64::from).collect();
        if let Some(stripes) = &self.shape.stripes {
            for (lane, share) in (0..).zip(&mut shares) {
                let group = stripes.group_of_lane(lane);
                *share = (*share)
                    .max(u64::from(self.parity.places.most().get(group as usize).copied().unwrap_or(0)));
            }
        }
        for dead in self.faults.dead_lanes().collect::<Vec<_>>() {
            let share = std::mem::take(&mut shares[dead as usize]);
            let others: Vec<u32> = match &self.shape.stripes {
                Some(stripes) => stripes.lanes_beside(stripes.group_of_lane(dead)),
                None => (0..lanes).filter(|&lane| !self.faults.is_dead(lane)).collect(),
            };
            for turn in 0..others.len() {
                let lane = match &self.shape.stripes {
                    Some(_) => self.faults.substitute_at(self.shape, &others, dead, turn),
                    None => Some(others[turn]),
                };
                let Some(lane) = lane else { return Vec::new() };
                shares[lane as usize] += share.div_ceil(others.len() as u64);
            }
            if others.is_empty() {
                return Vec::new();
            }
        }
        if self.shape.stripes.is_none() {
            self.spread_excess(&mut shares);
        }
        shares
    }

    /// Number of good blocks in the holes of extents.
    fn blocks_in_holes(&self, blocks: &Blocks) -> u64 {
        let layout = &self.shape.layout;
        let Some(holes) = self.extents.holes() else { return 0 };
        let good = |(extent, part): (u32, u32)| {
            let (lane, index) = layout.lane_of(extent);
            let planes = layout.planes_of_part(lane, part);
            planes.filter(|&plane| !blocks.is_bad(blocks.id(plane, index))).count() as u64
        };
        holes.all(layout).map(good).sum()
    }
}

impl<O: Observer, M: Medium> Device<O, M> {
    /// Start to empty an extent that has just been closed, if one of its blocks has grown bad.
    #[cold]
    pub(in crate::device) fn check_failing(&mut self, extent: u32) {
        if self.state.faults.failing.contains(&extent) {
            let (lane, _) = self.shape.layout.lane_of(extent);
            self.check_collection(lane);
        }
    }

    /// Start to empty every closed extent with a block that has grown bad.
    #[cold]
    pub(in crate::device) fn check_all_failing(&mut self) {
        for extent in self.state.faults.failing.iter().copied().collect::<Vec<_>>() {
            self.check_failing(extent);
        }
    }

    /// Replace the bad blocks of an emptied extent by spare blocks. Returns false if the extent must be retired,
    /// because a plane has no spare block; the good blocks of the extent then become spares. On a drive whose extents
    /// can have holes, the parts with bad blocks become holes instead, and the extent must be retired if no part is
    /// left.
    pub(in crate::device) fn replace_bad_blocks(&mut self, extent: u32) -> bool {
        if self.state.extents.holes().is_some() {
            let rows = self.state.extents.rows_of(&self.shape.layout, extent);
            let lives = self.state.faults.leave_holes(
                &self.shape.layout,
                &mut self.state.extents,
                self.flash.blocks(),
                extent,
            );
            if self.state.extents.rows_of(&self.shape.layout, extent) < rows {
                self.check_room();
            }
            return lives;
        }
        let (lane, index) = self.shape.layout.lane_of(extent);
        self.state.faults.failing.remove(&extent);
        let blocks = self.flash.blocks_mut();
        let planes = self.shape.layout.planes_of(lane);
        let bad: Vec<u32> = planes.clone().filter(|&p| blocks.is_bad(blocks.id(p, index))).collect();
        if bad.is_empty() {
            return true;
        }
        let replaceable = bad.iter().all(|&plane| blocks.has_spare(plane));
        for plane in if replaceable { bad } else { planes.collect() } {
            if replaceable {
                blocks.replace(plane, index);
            } else {
                blocks.retire(plane, index);
            }
        }
        self.state.counters.blocks_replaced += u64::from(replaceable);
        replaceable
    }

    /// Take an emptied extent out of use. If its lane then has too little room, the drive becomes read-only.
    pub(in crate::device) fn retire_extent(&mut self, extent: u32) {
        let (lane, _) = self.shape.layout.lane_of(extent);
        self.state.extents.retire(extent);
        self.state.faults.readable_again(&self.shape.layout, extent);
        self.data.erased(extent);
        debug_assert!(self.state.extents.retired_in(&self.shape.layout, lane) > 0);
        self.check_room();
    }

    /// Make the drive read-only if a live lane no longer has room for the units that it must be able to hold.
    pub(in crate::device) fn check_room(&mut self) {
        let shares = self.copies().shares();
        let fits =
            |(lane, &share): (u32, &u64)| share == 0 || self.copies().spare_extents_of(lane, share).is_some();
        if shares.is_empty() || !(0..).zip(&shares).all(fits) {
            self.state.faults.become_read_only(
                &mut self.flash,
                &mut self.state.deferred,
                self.state.now,
                ReadOnlyReason::FewGoodBlocks,
            );
        }
    }

    /// The report on the blocks of the drive; `None` if blocks cannot fail and the configuration names no bad block.
    pub fn block_report(&self) -> Option<BlockReport> {
        let named =
            (!self.shape.fixed.may_fail && self.shape.names_bad).then(|| self.shape.fallible_blocks());
        let blocks = named.as_ref().unwrap_or(self.flash.blocks());
        let counts = blocks.counts()?;
        let shares = self.copies().shares();
        let spare = |(lane, &share): (u32, &u64)| {
            (share > 0).then(|| self.copies().spare_extents_of(lane, share).unwrap_or(0))
        };
        Some(BlockReport {
            blocks: counts,
            in_holes: self.copies().blocks_in_holes(blocks),
            retired_extents: self.state.extents.retired().len() as u64,
            spare_extents: u64::from((0..).zip(&shares).filter_map(spare).min().unwrap_or(0)),
        })
    }

    /// The report on all failures of the drive; `None` if the drive cannot fail.
    pub fn fault_report(&self) -> Option<FaultReport> {
        Some(FaultReport {
            blocks: self.block_report()?,
            lost: self.lost_ranges(),
            lost_units: self.copies().lost_units(),
            dead_planes: self.copies().dead_planes(),
            read_only: self.read_only(),
        })
    }
}
