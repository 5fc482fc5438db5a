//! Dead planes, on which every operation fails. The controller knows of a death at once. It computes data that parity
//! covers from other planes, and writes to other planes.

use super::state::LaneLife;
use crate::address::Ppa;
use crate::containers::NONE;
use crate::device::copies::Copies;
use crate::device::drive::Device;
use crate::device::faults::state::FaultState;
use crate::device::gc::gain::Gain;
use crate::device::parity::rewrite::MOST_REWRITTEN;
use crate::device::shape::Shape;
use crate::ftl::extents::Extents;
use crate::ftl::layout::Layout;
use crate::intervention::{Intervention, InterventionError, REBUILD_RATE};
use crate::medium::Medium;
use crate::observer::{Change, Observer};
use std::ops::Range;
use tailcut_units::{SimTime, Span};

impl FaultState {
    /// Whether a lane is dead: one of its planes is dead or, if extents can have holes, all of them are.
    #[inline]
    pub(in crate::device) fn is_dead(&self, lane: u32) -> bool {
        let life = &self.life;
        !life.is_empty() && life[lane as usize] == LaneLife::Dead
    }

    /// Whether no collection may start or continue in a lane, because it is dead or full.
    #[inline]
    pub(in crate::device) fn has_given_up(&self, lane: u32) -> bool {
        self.is_dead(lane) || self.full.contains(&lane)
    }

    /// Whether the unit at this address is on a dead plane or in a dead lane, so that no read of it can succeed.
    #[inline]
    pub(in crate::device) fn is_dead_at(&self, layout: &Layout, ppa: Ppa) -> bool {
        if self.life.is_empty() {
            return false;
        }
        let lane = layout.lane_at(ppa);
        match self.life[lane as usize] {
            LaneLife::Live => false,
            LaneLife::Partial => self.dead_parts.contains(&(lane, layout.part_at(ppa))),
            LaneLife::Dead => true,
        }
    }

    fn lanes_that_are(&self, is: impl Fn(LaneLife) -> bool) -> impl Iterator<Item = u32> {
        (0..).zip(&self.life).filter(move |(_, life)| is(**life)).map(|(lane, _)| lane)
    }

    /// The dead lanes, in order.
    pub(in crate::device) fn dead_lanes(&self) -> impl Iterator<Item = u32> + '_ {
        self.lanes_that_are(|life| life == LaneLife::Dead)
    }

    /// The lanes with a dead plane, in order.
    pub(in crate::device) fn hurt_lanes(&self) -> impl Iterator<Item = u32> + '_ {
        self.lanes_that_are(|life| life != LaneLife::Live)
    }

    /// When the next planes die, ns.
    pub(in crate::device) fn next_death(&self, shape: &Shape) -> Option<u64> {
        shape.deaths.get(self.deaths as usize).map(|death| death.at)
    }

    /// The lane for a host write unit whose lane is dead: the live lane with the most free extents.
    pub(in crate::device) fn lane_instead(&mut self, layout: &Layout, extents: &Extents, lane: u32) -> u32 {
        let lanes = layout.lanes;
        self.turn = (self.turn + 1) % lanes;
        let turn = self.turn;
        let live =
            (0..lanes).map(|i| (turn + i) % lanes).filter(|&l| self.life[l as usize] != LaneLife::Dead);
        let free = |&lane: &u32| (extents.free(layout, lane), lanes - (lane + lanes - turn) % lanes);
        live.max_by_key(free).unwrap_or(lane)
    }

    /// Whether a pool of lanes has a live one.
    pub(in crate::device) fn pool_lives(&self, shape: &Shape, pool: u32) -> bool {
        let mut lanes = shape.lanes_of_pool(pool).map(|lane| lane as u32);
        debug_assert_ne!(pool, NONE);
        lanes.any(|lane| !self.is_dead(lane))
    }

    /// The substitute of a dead lane for stripe number `turn` of its group: a live lane of `others`, the lanes of other
    /// groups. Each lane of a group has its own candidates among them (every `width`-th lane), because two members of a
    /// stripe on one lane would be lost together. If a lane has no live candidate, any live lane replaces it.
    pub(in crate::device) fn substitute_at(
        &self,
        shape: &Shape,
        others: &[u32],
        lane: u32,
        turn: usize,
    ) -> Option<u32> {
        let stripes = shape.striped();
        let first = turn + stripes.offset_of_lane(lane) as usize;
        // The number of lanes of other groups is a multiple of the width.
        let own = (0..others.len()).step_by(stripes.width as usize);
        let live = |i: usize| Some(others[(first + i) % others.len()]).filter(|&l| !self.is_dead(l));
        own.chain(0..others.len()).find_map(live)
    }

    #[cold]
    pub(in crate::device) fn live_substitute(&self, shape: &Shape, lane: u32, stripe: u32) -> u32 {
        let stripes = shape.striped();
        let others = stripes.lanes_beside(stripes.group_of_lane(lane));
        self.substitute_at(shape, &others, lane, (stripe / stripes.groups) as usize).unwrap_or(lane)
    }

    /// The lane to which the stripe's unit for `lane` is written: `lane` itself, or a substitute if it is dead. A
    /// stripe keeps its substitute as long as that lane is alive.
    #[inline]
    pub(in crate::device) fn substitute_for(&self, shape: &Shape, lane: u32, stripe: u32) -> u32 {
        if self.is_dead(lane) { self.live_substitute(shape, lane, stripe) } else { lane }
    }
}

impl Copies<'_> {
    /// The units of the dead parts of an extent that are not holes yet, and how many of them are valid
    /// and dropped by its collection.
    #[cold]
    pub(in crate::device) fn dead_units_of(&self, extent: u32) -> (u32, u32) {
        let layout = &self.shape.layout;
        let (lane, _) = layout.lane_of(extent);
        let dead = self.faults.dead_parts.range((lane, 0)..(lane + 1, 0)).map(|&(_, part)| part);
        let row = layout.units_per_row;
        let first = Ppa(extent * layout.units_per_extent);
        let valid_in = |part: u32| {
            let rows = (part..layout.rows_per_extent).step_by(layout.parts as usize);
            let all = rows.flat_map(|at| (first + at * row).run(row));
            all.filter(|&ppa| self.map.is_valid(ppa)).count() as u32
        };
        let (mut units, mut dropped) = (0, 0);
        for part in dead.filter(|&part| !self.extents.is_hole(layout, extent, part)) {
            units += layout.units_per_part();
            dropped += if self.shape.has_parity() { 0 } else { valid_in(part) };
        }
        (units, dropped)
    }

    /// For a lane with dead parts, by extent: the units that a collection would not free, and the units in holes, as if
    /// the dead part of every extent were a hole. Units in the dead part that cannot be computed are dropped, so they
    /// are not moved. `None` for other lanes.
    pub(in crate::device) fn not_freed_in_partial(&self, lane: u32) -> Option<(Vec<u32>, Vec<u32>)> {
        let f = self.faults;
        if f.life.is_empty() || f.life[lane as usize] != LaneLife::Partial {
            return None;
        }
        let (layout, extents) = (&self.shape.layout, self.extents);
        let (valid, _) = extents.lane_slices(layout, lane);
        let (mut valid, mut holes) = (valid.to_vec(), extents.hole_slice(layout, lane).to_vec());
        for (extent, (valid, holes)) in (lane * layout.stride..).zip(valid.iter_mut().zip(&mut holes)) {
            // Other extents would free nothing, so their dead parts need not be counted.
            if *valid <= layout.most_valid() {
                let (units, dropped) = self.dead_units_of(extent);
                *valid += units - dropped;
                *holes += units;
            }
        }
        Some((valid, holes))
    }

    /// Number of planes that are dead.
    pub fn dead_planes(&self) -> u32 {
        let layout = &self.shape.layout;
        if self.extents.holes().is_some() {
            return self.faults.dead_parts.len() as u32 * layout.write_planes;
        }
        self.faults.dead_lanes().count() as u32 * layout.blocks_per_extent()
    }

    /// Number of lanes that continue to work with a dead plane.
    pub fn partial_lanes(&self) -> usize {
        self.faults.lanes_that_are(|life| life == LaneLife::Partial).count()
    }
}

impl<O: Observer, M: Medium> Device<O, M> {
    /// Handle the fault timer: planes die, or the next lost units may be rewritten.
    #[cold]
    pub(in crate::device) fn fault_timer(&mut self) {
        while self.state.faults.next_death(&self.shape).is_some_and(|at| at <= self.state.now) {
            let planes = self.shape.deaths[self.state.faults.deaths as usize].planes.clone();
            self.state.faults.deaths += 1;
            self.kill(planes);
        }
        self.state.set_fault_timer(&self.shape);
        self.relocate(MOST_REWRITTEN);
    }

    /// Apply a change from outside to the drive now: see [`Intervention`].
    ///
    /// # Errors
    /// If the drive does not support the change, or the address does not exist.
    pub fn intervene(&mut self, at: SimTime, what: &Intervention) -> Result<(), InterventionError> {
        // A refused change must leave the drive unchanged, so time advances only after the checks.
        match what {
            Intervention::Fault(fault) => {
                let planes = self.flash.inject(fault, at)?;
                self.pass(at.0);
                planes.into_iter().for_each(|planes| self.kill(planes));
            }
            Intervention::RebuildRate(_) if self.shape.stripes.is_none() => {
                return Err(InterventionError::without(REBUILD_RATE, "parity that rewrites"));
            }
            Intervention::RebuildRate(rate) => {
                self.pass(at.0);
                let unit = self.shape.layout.unit_bytes;
                let s = &mut self.state;
                s.faults.rewrite_ns = rate.map_or(0, |rate| Span::transfer(unit, rate).0);
                s.parity.rewriting.next = s.parity.rewriting.next.min(s.now + s.faults.rewrite_ns);
            }
            Intervention::EraseTimeout(after) => {
                self.flash.change_erase_timeout(*after)?;
                self.pass(at.0);
            }
        }
        self.relocate(MOST_REWRITTEN);
        self.run_deferred();
        Ok(())
    }

    /// Let planes die now. They are numbered over the drive by channel, die and plane. Operations under way there fail
    /// at their end. A `[[fault]]` does the same at a given time.
    ///
    /// # Errors
    /// If the planes do not exist, or the drive was created without support for faults.
    pub fn kill_planes(&mut self, planes: Range<u32>) -> Result<(), String> {
        let all = self.shape.bad.len() as u32;
        if planes.is_empty() || planes.end > all {
            return Err(format!("there are no planes {planes:?}: the drive has {all}"));
        }
        if !self.shape.fixed.may_fail {
            return Err("the drive was made without faults: give it a key of faults, or a fault".to_string());
        }
        self.kill(planes);
        self.relocate(MOST_REWRITTEN);
        self.run_deferred();
        Ok(())
    }

    fn kill(&mut self, planes: Range<u32>) {
        let layout = &self.shape.layout;
        let holes = self.state.extents.holes().is_some();
        let s = &mut self.state;
        s.faults.life.resize(layout.lanes as usize, LaneLife::Live);
        let mut lanes: Vec<u32> = Vec::new();
        for plane in planes.clone() {
            self.flash.kill_plane(plane);
            let (lane, part) = layout.part_of_plane(plane);
            if (!holes || s.faults.dead_parts.insert((lane, part))) && lanes.last() != Some(&lane) {
                lanes.push(lane);
            }
        }
        let dead_parts = &s.faults.dead_parts;
        let parts_of = |lane: u32| dead_parts.range((lane, 0)..(lane + 1, 0)).map(|&(_, part)| part);
        let lasts = |lane: &u32| holes && parts_of(*lane).count() < layout.parts as usize;
        let (hurt, died): (Vec<u32>, Vec<u32>) = lanes.into_iter().partition(lasts);
        for &lane in &hurt {
            s.faults.life[lane as usize] = LaneLife::Partial;
            s.gc.collections[lane as usize].gain = Gain::default();
            s.extents.shut_lane(layout, lane);
            for part in parts_of(lane) {
                s.extents.add_hole_to_free(layout, lane, part);
            }
        }
        let dies = |lane: &u32| {
            std::mem::replace(&mut s.faults.life[*lane as usize], LaneLife::Dead) != LaneLife::Dead
        };
        let died: Vec<u32> = died.into_iter().filter(dies).collect();
        s.faults.some_lost = true;
        s.faults.died_at = s.now;
        let (first, count) = (planes.start, planes.end - planes.start);
        self.flash.observer_mut().changes(SimTime(s.now), Change::PlanesDie { first, count });
        self.state.parity.rewriting.look_on_dead_planes();
        for &lane in &died {
            self.stop_collecting(lane);
        }
        self.check_room();
        for lane in died {
            self.replace_lane(lane);
        }
        let some_hurt = !hurt.is_empty();
        for lane in hurt {
            self.check_collection(lane);
        }
        if some_hurt && self.shape.stripes.is_none() {
            self.place_stalled_again();
        }
    }

    /// Send writes that wait for free extents of a dead lane to other lanes.
    fn replace_lane(&mut self, lane: u32) {
        if self.shape.stripes.is_some() {
            self.replace_waiting_members(lane);
            return self.resume_stalled_stripes(lane);
        }
        self.place_stalled_again();
    }

    /// Place all write units that wait for a row again, because from now on those of every pool may go to any live
    /// lane.
    fn place_stalled_again(&mut self) {
        let mut waiting = Vec::new();
        for list in 0..self.shape.layout.lanes / self.shape.pool_lanes {
            while let Some(write_unit) = self.state.write.stalled.first(list) {
                self.state.write.end_stall(&self.shape, &mut self.flash, self.state.now, write_unit);
                self.state.write.stalled.pop(list, write_unit);
                waiting.push(write_unit);
            }
        }
        for write_unit in waiting {
            self.find_row(write_unit);
        }
    }

    /// Program a write unit whose pool has no free row in the live lane of another pool with the most free extents.
    /// Returns false if no lane has a row. This is needed because the live lanes of a pool with a dead lane may be full
    /// of valid data. The room for their data, and for data that they displace in turn, is only in all live lanes
    /// together.
    #[cold]
    pub(in crate::device) fn go_elsewhere(&mut self, write_unit: u32) -> bool {
        let mut live: Vec<u32> =
            (0..self.shape.layout.lanes).filter(|&lane| !self.state.faults.is_dead(lane)).collect();
        live.sort_by_key(|&lane| std::cmp::Reverse(self.state.extents.free(&self.shape.layout, lane)));
        live.into_iter().any(|lane| self.program_write_unit(write_unit, lane))
    }

    /// Resume write units of other pools, those that have waited longest first, in a lane that has rows
    /// again.
    #[cold]
    pub(in crate::device) fn resume_stalled_elsewhere(&mut self, lane: u32) {
        loop {
            let s = &self.state.write;
            let lists = 0..self.shape.layout.lanes / self.shape.pool_lanes;
            let first =
                lists.filter_map(|list| s.stalled.first(list).map(|unit| (s.units[unit].ready, list, unit)));
            let Some((_, list, write_unit)) = first.min() else { return };
            let from = s.units[write_unit].lane;
            if !self.program_write_unit(write_unit, lane) {
                return;
            }
            let to = std::mem::replace(&mut self.state.write.units[write_unit].lane, from);
            self.state.write.end_stall(&self.shape, &mut self.flash, self.state.now, write_unit);
            self.state.write.units[write_unit].lane = to;
            self.state.write.stalled.pop(list, write_unit);
        }
    }

    /// When planes last died.
    pub fn last_death(&self) -> Option<SimTime> {
        (!self.state.faults.life.is_empty()).then_some(SimTime(self.state.faults.died_at))
    }
}
