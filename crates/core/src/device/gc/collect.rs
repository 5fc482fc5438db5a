//! A collection: it moves the valid units out of a victim extent, and erases the extent, which is then free.
//!
//! Its steps: `check_collection` asks the schedule whether a lane starts to collect, and picks the victim.
//! `begin_collection` sets the state. `pump_collection` starts moves (`moves`), and is called again when one ends.
//! After the last move, `all_moved` erases the victim (`erase`), or first waits for reads of it (`drain`).
//! `victim_erased` makes the extent available, and checks whether the lane must collect again.
//!
//! Wear levelling, refreshing and folds of the SLC region use the same steps with another choice of the victim.

use crate::address::{BusyUnit, Extent, Lane, Lpn, Ppa};
use crate::containers::NONE;
use crate::device::drive::Device;
use crate::device::gc::gain::Gain;
use crate::device::gc::state::Gc;
use crate::device::shape::Shape;
use crate::figures::Counters;
use crate::flash::Flash;
use crate::ftl::extents::Extents;
use crate::medium::Medium;
use crate::observer::Observer;
use crate::policy::gc_schedule::TOKEN;
use crate::policy::gc_victim::VictimView;
use serde::{Deserialize, Serialize};

/// The stage of a lane's collection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::device) enum Stage {
    Idle,
    /// Valid units are being moved.
    Copying,
    /// All valid units are moved, but reads under way still need the victim's data.
    Draining,
    Erasing,
}

/// The reason for a collection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum Reason {
    /// To free space, or to empty an extent in which a block has grown bad.
    Space,
    /// Static wear levelling within the lane.
    Wear,
    /// To rewrite data whose retention age is high.
    Refresh,
    /// To move data from an extent of the SLC region to the other extents of the lane.
    Fold,
}

/// The collection of one lane.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(in crate::device) struct Collection {
    pub stage: Stage,
    pub victim: u32,
    /// The reason for the collection.
    reason: Reason,
    /// Offset in the victim of the next unit to look at.
    pub(super) cursor: u32,
    /// Reads of segments (or copybacks) under way.
    pub reads: u32,
    /// Programs under way.
    pub programs: u32,
    /// Erases under way. Deferred last loops are not counted.
    pub(super) erases: u32,
    /// Reads that still need the victim's data, in stage `Draining`. A read needs them until it has been sensed, or
    /// until its result is known if reads can fail.
    pub(super) readers: u32,
    /// Units read into the controller that wait until they fill a write unit: (logical address, old physical address).
    pub staged: Vec<(Lpn, Ppa)>,
    /// Whether a collection in zero time is pending for the end of this event.
    pub instant_pending: bool,
    /// When the collection began, ns.
    begun: u64,
    /// Net units that the collection frees: those of the victim that are neither moved nor in holes or dead parts.
    frees: u32,
    /// Valid units of the victim when the collection began.
    valid: u32,
    /// Tokens of the collection, in 1/[`TOKEN`] (`gc_schedule = "tokens"`).
    pub(super) tokens: i64,
    /// The net gain of the latest collections of the lane, in free rows.
    pub(in crate::device) gain: Gain,
    /// When the collection will end, ns, as predicted at its start.
    pub ends: u64,
    /// Whether the collection waits: for the end of host activity, for another collection, or for a
    /// victim.
    pub waiting: bool,
    /// The number of its last wait. The waits of all collections of the drive are numbered in the order in which they
    /// begin.
    pub(super) wait: u64,
    /// Whether the collection closes its scope to host operations. The scope is open while the collection yields to
    /// them or drains.
    pub closes: bool,
    /// Whether the collection closes its scope to host programs, even while it yields.
    pub closes_programs: bool,
    /// The state of which the busy units of its lane were last notified ([`Gc::notice_of`]).
    notified: [bool; 2],
}

impl Collection {
    pub fn new(most_staged: u32) -> Collection {
        Collection {
            stage: Stage::Idle,
            victim: NONE,
            reason: Reason::Space,
            cursor: 0,
            reads: 0,
            programs: 0,
            erases: 0,
            readers: 0,
            staged: Vec::with_capacity(most_staged as usize),
            instant_pending: false,
            begun: 0,
            frees: 0,
            valid: 0,
            tokens: 0,
            gain: Gain::default(),
            ends: 0,
            waiting: false,
            wait: 0,
            closes: false,
            closes_programs: false,
            notified: [false; 2],
        }
    }

    /// The victim; whether all of its `units` units have been read; and whether it is being erased.
    pub fn progress(&self, units: u32) -> (u32, bool, bool) {
        (self.victim, self.cursor == units && self.reads == 0, self.stage == Stage::Erasing)
    }

    /// The victim of an active collection.
    pub fn target(&self) -> Option<u32> {
        self.is_active().then_some(self.victim)
    }

    /// Whether the collection, if one is active, folds an extent of the SLC region.
    pub fn folds(&self) -> bool {
        self.reason == Reason::Fold
    }

    pub fn is_active(&self) -> bool {
        self.stage != Stage::Idle
    }

    /// Add the tokens that `units` copied units earn. A write unit of `per_row` units earns as many tokens as the
    /// collection frees units for each valid unit of the victim. The tokens are limited to `most`. A fold earns none.
    #[cold]
    fn earn_tokens(&mut self, units: u32, per_row: u32, most: u32) {
        if self.folds() {
            return;
        }
        let per = i64::from(per_row);
        let earned = i64::from(units) * i64::from(self.frees) * TOKEN / (i64::from(self.valid.max(1)) * per);
        self.tokens = (self.tokens + earned).min(i64::from(most) * TOKEN);
    }

    /// Describe the collection for the diagnosis of a drive that does not become idle.
    pub fn describe(&self) -> String {
        format!(
            "{:?} extent {} at unit {}, {} reads, {} programs, {} erases under way, {} units staged{}",
            self.stage,
            self.victim,
            self.cursor,
            self.reads,
            self.programs,
            self.erases,
            self.staged.len(),
            if self.waiting { ", waiting" } else { "" }
        )
    }
}

impl Gc {
    /// Count the start or the end of a lane's collection.
    pub(in crate::device) fn count_collection(
        &mut self,
        shape: &Shape,
        counters: &mut Counters,
        now: u64,
        lane: u32,
        begins: bool,
    ) {
        debug_assert!(
            self.collections[lane as usize].is_active(),
            "a collection of lane {lane} that is not under way is counted"
        );
        self.under_way = if begins { self.under_way + 1 } else { self.under_way - 1 };
        if let Some(stripes) = &shape.stripes {
            let group = stripes.group_of_lane(lane);
            self.groups.count(group, begins, now);
            let collecting = self.groups.collecting(group);
            counters.rotation_broken += u64::from(begins && shape.fixed.rotates && collecting > 1);
            counters.most_in_group = counters.most_in_group.max(u64::from(collecting));
        }
    }

    /// What the busy units of a lane must know of its collection to order their operations: whether it is under way and
    /// does not wait, and whether it is also still moving data. (The second is always false if last loops of erases are
    /// deferred. Programs of a collection may then wait for an erase, so no erase may wait for the end of the moves.)
    pub(in crate::device) fn notice_of(&self, shape: &Shape, lane: u32) -> [bool; 2] {
        let c = &self.collections[lane as usize];
        let collects = c.is_active() && !c.waiting && !shape.fixed.collects_instantly;
        [collects, collects && c.stage == Stage::Copying && !shape.fixed.defers_last_loop]
    }

    /// Notify the busy units of a lane if the state of its collection has changed ([`Gc::notice_of`]).
    pub(super) fn tell_units<O: Observer>(&mut self, shape: &Shape, flash: &mut Flash<O>, lane: u32) {
        let now = self.notice_of(shape, lane);
        let before = std::mem::replace(&mut self.collections[lane as usize].notified, now);
        if before != now {
            for unit in BusyUnit::each(shape.units_of_lane(lane)) {
                flash.collection_changes(unit, before, now);
            }
        }
    }

    pub(in crate::device) fn set_waiting<O: Observer>(
        &mut self,
        shape: &Shape,
        flash: &mut Flash<O>,
        lane: u32,
        waiting: bool,
    ) {
        let c = &mut self.collections[lane as usize];
        if c.waiting != waiting {
            debug_assert!(
                !waiting || matches!(c.stage, Stage::Idle | Stage::Copying),
                "the collection of lane {lane} waits in stage {:?}",
                c.stage
            );
            c.waiting = waiting;
            if waiting {
                self.waiting += 1;
                self.waits += 1;
                c.wait = self.waits;
            } else {
                self.waiting -= 1;
            }
            self.tell_units(shape, flash, lane);
        }
    }

    /// Count units that the collection of a lane has programmed, by the reason for the collection.
    #[inline]
    pub(in crate::device) fn count_moved(
        &mut self,
        shape: &Shape,
        counters: &mut Counters,
        lane: u32,
        units: u32,
    ) {
        let counted = match self.collections[lane as usize].reason {
            Reason::Space => &mut counters.programs_gc,
            Reason::Wear => &mut counters.programs_wear,
            Reason::Refresh => &mut counters.programs_refresh,
            Reason::Fold => &mut counters.programs_fold,
        };
        *counted += u64::from(units);
        if shape.fixed.most_tokens > 0 {
            let c = &mut self.collections[lane as usize];
            c.earn_tokens(units, shape.layout.units_per_row, shape.fixed.most_tokens);
        }
    }
}

impl Shape {
    /// Apply an erase without duration to each block of an extent.
    pub(in crate::device) fn count_erases_of<O: Observer>(
        &self,
        flash: &mut Flash<O>,
        extents: &Extents,
        extent: u32,
    ) {
        let (lane, index) = self.layout.lane_of(extent);
        for plane in self.layout.planes_of(lane) {
            let (_, part) = self.layout.part_of_plane(plane);
            if !extents.is_hole(&self.layout, extent, part) {
                flash.erase_at_once(plane, index);
            }
        }
    }
}

impl<O: Observer, M: Medium> Device<O, M> {
    /// Start a collection in this lane if the schedule asks for one and nothing prevents it.
    pub(in crate::device) fn check_collection(&mut self, lane: u32) {
        let view = self.note_space(lane);
        if self.state.faults.has_given_up(lane) {
            return;
        }
        let c = &self.state.gc.collections[lane as usize];
        if c.is_active() {
            // A collection that has yielded must continue when free space falls to the hard limit.
            if c.waiting {
                self.pump_collection(lane);
            }
            return;
        }
        let due = self.due_extent(lane).is_some();
        if !due && !self.state.policies.gc_schedule.start(&view) {
            if self.shape.folds.is_some() && self.fold(Lane(lane)) {
                return;
            }
            // The lane waits if it would start to collect without the host operations and other collections of now.
            let quiet = super::space::quiet(view);
            let later = self.state.policies.gc_schedule.start(&quiet);
            return self.state.gc.set_waiting(&self.shape, &mut self.flash, lane, later);
        }
        if self.shape.fixed.may_fail && !due && self.gains_nothing(lane) {
            return;
        }
        if self.state.gc.scope_is_taken(&self.shape, lane) {
            return self.state.gc.set_waiting(&self.shape, &mut self.flash, lane, true);
        }
        if self.shape.fixed.collects_instantly {
            return self.state.collect_soon(Lane(lane));
        }
        if let Some(victim) = self.pick_victim(lane) {
            self.begin_collection(lane, victim);
            self.state.gc.close_scope(&self.shape, &mut self.flash, &mut self.state.deferred, lane, true);
            self.pump_collection(lane);
        } else if self.shape.folds.is_some() {
            self.fold(Lane(lane));
        }
    }

    /// Return the victim for a collection of this lane. If there is none, the lane waits until an extent becomes a
    /// possible victim ([`Device::wake_for_victim`]).
    pub(in crate::device) fn pick_victim(&mut self, lane: u32) -> Option<u32> {
        let victim = self.best_victim(lane);
        if victim.is_none() {
            self.state.gc.set_waiting(&self.shape, &mut self.flash, lane, true);
            self.state.gc.lacks_victim = true;
        }
        victim
    }

    /// An extent of a lane that must be emptied, however many valid units it has: a block has grown bad, or its blocks
    /// have too few erases, or its data are too old.
    pub(super) fn due_extent(&self, lane: u32) -> Option<u32> {
        let failing = if self.shape.fixed.may_fail {
            self.state.faults.failing_in(&self.shape, &self.state.extents, lane)
        } else {
            None
        };
        let levels = failing.is_none() && self.shape.fixed.erase_gap.is_some();
        let due = if levels {
            self.state.gc.coldest_in(&self.shape, &self.state.extents, &self.state.counters, lane)
        } else {
            failing
        };
        if due.is_none() && self.shape.fixed.refreshes {
            self.state.refresh.old_in(&self.shape, &self.state.extents, lane)
        } else {
            due
        }
    }

    /// The victim for a collection of this lane: an extent that must be emptied, or the choice of the victim policy.
    pub(in crate::device) fn best_victim(&self, lane: u32) -> Option<u32> {
        if let Some(extent) = self.due_extent(lane) {
            return Some(extent);
        }
        let s = &self.state;
        let (mut valid, closed) = s.extents.lane_slices(&self.shape.layout, lane);
        let mut holes = s.extents.hole_slice(&self.shape.layout, lane);
        // In a lane with a dead plane, the dead part of each extent counts as a hole.
        let partial = self.copies().not_freed_in_partial(lane);
        if let Some((not_freed, gaps)) = &partial {
            (valid, holes) = (not_freed, gaps);
        }
        let view = VictimView {
            choice: s.extents.choice(&self.shape.layout, lane),
            valid,
            holes,
            closed,
            now: s.extents.serial,
            units_per_extent: self.shape.layout.units_per_extent,
            most_valid: self.shape.layout.most_valid(),
        };
        s.policies.gc_victim.pick(&view).map(|index| lane * self.shape.layout.stride + index)
    }

    /// Take a token from the collection of a lane, because a host program of the lane has ended. Only a collection that
    /// moves data has tokens, and a fold has none.
    #[cold]
    pub(in crate::device) fn pay_token(&mut self, lane: u32) {
        let c = &mut self.state.gc.collections[lane as usize];
        if c.stage != Stage::Copying || c.folds() {
            return;
        }
        c.tokens -= TOKEN;
        let all_begun = c.cursor == self.shape.layout.units_per_extent;
        if !all_begun {
            self.state.update_program_gate(&self.shape, &mut self.flash, lane);
        }
    }

    /// Begin a collection, without starting an operation.
    pub(in crate::device) fn begin_collection(&mut self, lane: u32, victim: u32) {
        self.state.gc.set_waiting(&self.shape, &mut self.flash, lane, false);
        let ends = self.state.now + self.shape.collection_ns(self.state.extents.valid(victim));
        let refreshes = self.shape.fixed.refreshes && self.state.leaves_refresh(lane, victim);
        let dead = !self.state.faults.dead_parts.is_empty();
        let (dead, dropped) = if dead { self.copies().dead_units_of(victim) } else { (0, 0) };
        let units = self.shape.layout.units_per_extent;
        self.map.fetch_owners(Ppa(victim * units), units);
        let folds = self.shape.layout.is_slc(Extent(victim));
        let s = &mut self.state;
        if folds {
            s.slc.region.of_mut(Lane(lane)).begin_fold(Extent(victim));
        } else {
            s.extents.begin_collection(victim);
        }
        let valid = s.extents.valid(victim);
        let c = &mut s.gc.collections[lane as usize];
        debug_assert!(c.staged.is_empty() && c.reads == 0 && c.programs == 0);
        debug_assert_eq!(c.stage, Stage::Idle, "lane {lane} collects extent {} already", c.victim);
        debug_assert_eq!(
            self.shape.layout.lane_of(victim).0,
            lane,
            "lane {lane} collects extent {victim} of another lane"
        );
        c.stage = Stage::Copying;
        c.victim = victim;
        c.reason = Reason::Space;
        if s.gc.coldest.get(lane as usize) == Some(&victim) {
            c.reason = Reason::Wear;
            s.counters.collections_for_wear += 1;
            s.gc.levelled_at[lane as usize] = s.counters.programs_user;
        } else if refreshes {
            c.reason = Reason::Refresh;
            s.counters.collections_for_refresh += 1;
        } else if folds {
            c.reason = Reason::Fold;
        }
        c.cursor = 0;
        (c.begun, c.ends) = (s.now, ends);
        c.frees =
            (self.shape.layout.units_per_extent + dropped).saturating_sub(s.extents.not_freed(victim) + dead);
        c.valid = valid;
        c.tokens = i64::from(self.shape.fixed.most_tokens) * TOKEN;
        c.gain.begins();
        self.state.gc.count_collection(&self.shape, &mut self.state.counters, self.state.now, lane, true);
        self.state.gc.tell_units(&self.shape, &mut self.flash, lane);
    }

    /// Start moves until `gc_in_flight` are under way, the schedule makes the collection yield, or another collection
    /// has its scope. After the last read has ended, program the staged units that do not fill a write unit. After the
    /// last program, erase the victim.
    pub(in crate::device) fn pump_collection(&mut self, lane: u32) {
        if self.state.gc.collections[lane as usize].stage != Stage::Copying {
            return;
        }
        if self.state.faults.has_given_up(lane) {
            return self.stop_collecting(lane);
        }
        let end = self.shape.layout.units_per_extent;
        loop {
            let c = &self.state.gc.collections[lane as usize];
            if c.cursor == end || c.reads + c.programs >= self.shape.gc_in_flight {
                break;
            }
            let view = self.state.update_program_gate(&self.shape, &mut self.flash, lane);
            if !self.state.policies.gc_schedule.proceed(&view) {
                return self.yield_scope(lane);
            }
            if !self.state.gc.collections[lane as usize].closes
                && self.state.gc.scope_is_taken(&self.shape, lane)
            {
                return self.state.gc.set_waiting(&self.shape, &mut self.flash, lane, true);
            }
            self.state.gc.close_scope(&self.shape, &mut self.flash, &mut self.state.deferred, lane, true);
            self.next_move(lane);
            if self.shape.fixed.may_fail && self.state.faults.has_given_up(lane) {
                return self.stop_collecting(lane);
            }
        }
        self.state.gc.set_waiting(&self.shape, &mut self.flash, lane, false);
        let c = &self.state.gc.collections[lane as usize];
        if c.cursor == end && c.reads == 0 {
            if !c.staged.is_empty() {
                self.program_staged(lane);
            } else if c.programs == 0 {
                self.all_moved(lane);
            }
        }
    }

    /// Stop the collection of a lane that is dead or full. It starts no further move, and ends when its operations
    /// under way have ended. A collection that has already moved all units still erases its victim.
    pub(in crate::device) fn stop_collecting(&mut self, lane: u32) {
        self.state.gc.set_waiting(&self.shape, &mut self.flash, lane, false);
        self.note_space(lane);
        let c = &mut self.state.gc.collections[lane as usize];
        c.staged.clear();
        if c.stage != Stage::Copying || c.reads + c.programs > 0 {
            return;
        }
        let victim = c.victim;
        debug_assert_eq!(
            c.erases, 0,
            "lane {lane} stops to move data out of extent {victim}, which is being erased"
        );
        self.state.gc.set_closes_programs(&self.shape, &mut self.flash, lane, false);
        self.state.gc.close_scope(&self.shape, &mut self.flash, &mut self.state.deferred, lane, false);
        self.state.gc.count_collection(&self.shape, &mut self.state.counters, self.state.now, lane, false);
        self.state.gc.collections[lane as usize].stage = Stage::Idle;
        self.state.extents.abandon_collection(victim);
        self.state.gc.tell_units(&self.shape, &mut self.flash, lane);
        if self.state.gc.waiting > 0 {
            self.wake_waiting();
        }
    }

    fn all_moved(&mut self, lane: u32) {
        if self.shape.fixed.most_tokens > 0 {
            // No further move will earn tokens, so programs need not be held back.
            self.state.gc.set_closes_programs(&self.shape, &mut self.flash, lane, false);
        }
        if self.state.must_drain(Lane(lane)) {
            // The closed scope may hold back the very host reads of the victim for which the collection waits.
            self.state.gc.close_scope(&self.shape, &mut self.flash, &mut self.state.deferred, lane, false);
            self.state.gc.tell_units(&self.shape, &mut self.flash, lane);
        } else {
            self.erase_victim(lane);
        }
    }

    /// Make an erased extent available for writes.
    pub(in crate::device) fn extent_erased(&mut self, extent: u32) {
        if self.shape.fixed.may_fail {
            self.state.faults.full.remove(&self.shape.layout.lane_of(extent).0);
            self.state.faults.readable_again(&self.shape.layout, extent);
        }
        self.state.extents.erased(&self.shape.layout, extent);
        self.data.erased(extent);
    }

    /// End a collection: the victim has been erased and is free again. (With deferred last loops, its last loop is
    /// still missing.)
    pub(in crate::device) fn victim_erased(&mut self, lane: u32) {
        self.state.gc.set_closes_programs(&self.shape, &mut self.flash, lane, false);
        self.state.gc.close_scope(&self.shape, &mut self.flash, &mut self.state.deferred, lane, false);
        self.state.gc.count_collection(&self.shape, &mut self.state.counters, self.state.now, lane, false);
        let s = &mut self.state;
        let c = &mut s.gc.collections[lane as usize];
        c.stage = Stage::Idle;
        let took = s.now - c.begun;
        let (victim, reason) = (c.victim, c.reason);
        debug_assert!(
            c.erases == 0 && c.reads + c.programs == 0 && c.staged.is_empty(),
            "the collection of lane {lane} ends: {}",
            c.describe()
        );
        debug_assert_eq!(s.extents.valid(victim), 0, "extent {victim} is erased, and has valid units");
        match self.shape.folds {
            Some(rule) if reason == Reason::Fold => {
                s.folded(rule, Lane(lane));
                if self.shape.fixed.may_fail {
                    self.state.faults.readable_again(&self.shape.layout, victim);
                }
                self.data.erased(victim);
            }
            _ => self.free_victim(Lane(lane), took),
        }
        self.note_space(lane);
        self.resume_stalled(lane);
        if self.state.gc.waiting > 0 {
            self.wake_before(lane);
        }
        self.check_collection(lane);
        if self.state.gc.waiting > 0 {
            self.wake_waiting();
        }
        // Notify only now, because another collection may have begun.
        self.state.gc.tell_units(&self.shape, &mut self.flash, lane);
    }

    /// Count a collection that took `took` ns, and make its erased victim available for writes.
    fn free_victim(&mut self, Lane(lane): Lane, took: u64) {
        let s = &mut self.state;
        let Collection { victim, reason, frees, .. } = s.gc.collections[lane as usize];
        s.gc.pace.collected(took, frees);
        s.counters.collecting_ns += took;
        s.counters.longest_collection_ns = s.counters.longest_collection_ns.max(took);
        s.counters.collections += 1;
        s.counters.erases += 1;
        s.scrub.forget(&self.shape.layout, victim);
        let (layout, blocks) = (&self.shape.layout, self.flash.blocks());
        if self.shape.fixed.may_fail || self.shape.holes.is_some() {
            s.counters.blocks_spared +=
                s.faults.blocks_not_erased(layout, &s.extents, blocks, Extent(victim));
        }
        if self.shape.fixed.may_fail && !self.replace_bad_blocks(victim) {
            self.retire_extent(victim);
        } else {
            let s = &mut self.state;
            if self.shape.fixed.may_fail {
                s.gc.note_gain(
                    &self.shape.layout,
                    &s.extents,
                    &s.write.programs,
                    lane,
                    victim,
                    reason == Reason::Space,
                );
            }
            self.extent_erased(victim);
            self.state.gc.defer_last_loop(&self.shape, victim);
        }
        if let Some(gap) = self.shape.fixed.erase_gap {
            let s = &mut self.state;
            s.gc.note_coldest(&self.shape.layout, &s.extents, self.flash.blocks(), lane, gap);
        }
    }
}
