//! Blocks that have grown bad: a spare block of the plane takes the place of each, or the extent is
//! retired.

use crate::device::capacity::room_of;
use crate::device::drive::Device;
use crate::device::medium::Medium;
use crate::nand::blocks::BlockCounts;
use crate::observer::Observer;

/// The blocks of a drive that can fail.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BlockReport {
    /// Numbers of blocks by health.
    pub blocks: BlockCounts,
    /// Extents retired since the drive was made.
    pub retired_extents: u64,
    /// Extents that the lane which can spare the fewest can lose before the drive becomes read-only.
    pub spare_extents: u64,
}

impl<O: Observer, M: Medium> Device<O, M> {
    /// The closed extent of a lane that is to be emptied because a block of it has grown bad.
    pub(in crate::device) fn failing_in(&self, lane: u32) -> Option<u32> {
        let s = &self.state;
        let own = lane * self.shape.layout.stride..(lane + 1) * self.shape.layout.stride;
        // What is moved takes rows that no erase gives back.
        let fits = s.extents.free(lane) > self.shape.reserve;
        s.faults.failing.range(own).copied().find(|&extent| fits && s.extents.is_closed(extent))
    }

    /// Start to empty an extent that has just been closed, if a block of it has grown bad.
    #[cold]
    pub(in crate::device) fn check_failing(&mut self, extent: u32) {
        if self.state.faults.failing.contains(&extent) {
            let (lane, _) = self.shape.layout.lane_of(extent);
            self.check_collection(lane);
        }
    }

    /// Start to empty every closed extent of which a block has grown bad.
    #[cold]
    pub(in crate::device) fn check_all_failing(&mut self) {
        for extent in self.state.faults.failing.iter().copied().collect::<Vec<_>>() {
            self.check_failing(extent);
        }
    }

    /// The planes of a die, as a mask, on which the block of an extent is bad.
    pub(in crate::device) fn bad_planes(&self, extent: u32, die: u32) -> u32 {
        let (lane, index) = self.shape.layout.lane_of(extent);
        let blocks = self.flash.blocks();
        let planes = self.shape.layout.planes;
        let of_die = die * planes..(die + 1) * planes;
        let bad = |plane: &u32| {
            of_die.contains(plane) && blocks.has(*plane, index) && blocks.is_bad(blocks.id(*plane, index))
        };
        self.shape.layout.planes_of(lane).filter(bad).map(|plane| 1 << (plane % planes)).sum()
    }

    /// Replace the bad blocks of an emptied extent by spare blocks. Returns false if a plane has no
    /// spare block: the extent is then retired, and its good blocks become spares.
    pub(in crate::device) fn replace_bad_blocks(&mut self, extent: u32) -> bool {
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

    /// Take an emptied extent out of use. If its lane has too little room then, the drive becomes
    /// read-only.
    pub(in crate::device) fn retire_extent(&mut self, extent: u32) {
        let (lane, _) = self.shape.layout.lane_of(extent);
        self.state.extents.retire(extent);
        self.readable_again(extent);
        self.data_erased(extent);
        debug_assert!(self.state.extents.retired_in(&self.shape.layout, lane) > 0);
        self.check_room();
    }

    /// Make the drive read-only if a live lane has too little room left for the units that it must be
    /// able to hold.
    pub(in crate::device) fn check_room(&mut self) {
        let shares = self.shares();
        let fits = |(lane, &share): (u32, &u64)| share == 0 || self.spare_extents_of(lane, share).is_some();
        if shares.is_empty() || !(0..).zip(&shares).all(fits) {
            self.become_read_only();
        }
    }

    /// By lane: the units that it must be able to hold, with those of the dead lanes that it replaces;
    /// 0 for dead lanes. Empty if the live lanes cannot replace the dead ones.
    fn shares(&self) -> Vec<u64> {
        let (fill, lanes) = (&self.shape.fill, self.shape.layout.lanes);
        let mut shares: Vec<u64> =
            fill.units_by_lane(fill.end(self.shape.layout.host_units)).into_iter().map(u64::from).collect();
        if let Some(stripes) = &self.shape.stripes {
            for (lane, share) in (0..).zip(&mut shares) {
                let group = stripes.group_of_lane(lane);
                *share = (*share).max(u64::from(
                    self.state.parity.places.most().get(group as usize).copied().unwrap_or(0),
                ));
            }
        }
        for dead in self.dead_lanes().collect::<Vec<_>>() {
            let share = std::mem::take(&mut shares[dead as usize]);
            let others: Vec<u32> = match &self.shape.stripes {
                Some(stripes) => {
                    let group = stripes.group_of_lane(dead);
                    (0..lanes).filter(|&lane| stripes.group_of_lane(lane) != group).collect()
                }
                None => (0..lanes).filter(|&lane| !self.is_dead(lane)).collect(),
            };
            for first in 0..others.len() {
                let live = |i: usize| Some(others[(first + i) % others.len()]).filter(|&l| !self.is_dead(l));
                let Some(lane) = (0..others.len()).find_map(live) else { return Vec::new() };
                shares[lane as usize] += share.div_ceil(others.len() as u64);
            }
            if others.is_empty() {
                return Vec::new();
            }
        }
        shares
    }

    /// Extents that a lane can lose and still hold `share` units; `None` if it has lost too many.
    fn spare_extents_of(&self, lane: u32, share: u64) -> Option<u32> {
        let layout = &self.shape.layout;
        let usable = layout.usable[lane as usize] - self.state.extents.retired_in(layout, lane);
        let fits = |&lost: &u32| room_of(layout, usable - lost, self.shape.reserve) > share;
        (0..=usable).take_while(fits).last()
    }

    /// The blocks of the drive; `None` if none can fail.
    pub fn block_report(&self) -> Option<BlockReport> {
        let shares = self.shares();
        let spare = |(lane, &share): (u32, &u64)| {
            (share > 0).then(|| self.spare_extents_of(lane, share).unwrap_or(0))
        };
        Some(BlockReport {
            blocks: self.flash.blocks().counts()?,
            retired_extents: self.state.extents.retired().len() as u64,
            spare_extents: u64::from((0..).zip(&shares).filter_map(spare).min().unwrap_or(0)),
        })
    }
}
