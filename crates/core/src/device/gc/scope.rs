//! The scope of a collection: the busy units that it closes to host operations, and in which no other collection may
//! run.

use crate::address::BusyUnit;
use crate::device::drive::{Deferred, Device, State};
use crate::device::gc::collect::Stage;
use crate::device::gc::state::Gc;
use crate::device::shape::Shape;
use crate::flash::Flash;
use crate::medium::Medium;
use crate::observer::Observer;
use crate::policy::gc_schedule::SpaceView;
use crate::policy::gc_scope::Scope;
use std::ops::Range;
use tailcut_units::Occupant;

impl Shape {
    /// The busy units on the channels of a lane.
    pub(in crate::device) fn units_of_channel(&self, lane: u32) -> Range<BusyUnit> {
        let own = self.units_of_lane(lane);
        let per_channel = self.units / self.channels;
        let first = own.start.0 / per_channel * per_channel;
        let last = (own.end.0 - 1) / per_channel * per_channel;
        BusyUnit(first)..BusyUnit(last + per_channel)
    }

    /// The busy units that a collection of this lane closes to host operations.
    pub(in crate::device) fn scope_units(&self, lane: u32) -> Range<BusyUnit> {
        match self.fixed.gc_scope {
            Scope::Operation => BusyUnit(0)..BusyUnit(0),
            Scope::Unit { .. } => self.units_of_lane(lane),
            Scope::Controller => BusyUnit(0)..BusyUnit(self.units),
            Scope::Channel => self.units_of_channel(lane),
        }
    }

    /// Whether only one collection at a time may run in a scope.
    pub(in crate::device) fn one_at_a_time(&self) -> bool {
        matches!(self.fixed.gc_scope, Scope::Channel | Scope::Controller | Scope::Unit { alone: true })
    }

    /// The busy units in which no other collection may run, if [`Shape::one_at_a_time`]. A collection that closes only
    /// its lane still excludes others from the whole channel.
    pub(in crate::device) fn exclusive_units(&self, lane: u32) -> Range<BusyUnit> {
        match self.fixed.gc_scope {
            Scope::Unit { .. } => self.units_of_channel(lane),
            _ => self.scope_units(lane),
        }
    }

    /// Whether the collection of a lane closes this unit to host operations.
    pub(in crate::device) fn scope_covers(&self, lane: u32, unit: BusyUnit) -> bool {
        self.scope_units(lane).contains(&unit)
    }

    /// The busy units to whose host operations a collection of this lane may yield. It may also hold back host programs
    /// there.
    pub(in crate::device) fn heeded_units(&self, lane: u32) -> Range<BusyUnit> {
        match self.fixed.gc_scope {
            Scope::Operation | Scope::Unit { .. } => self.units_of_lane(lane),
            Scope::Channel | Scope::Controller => self.scope_units(lane),
        }
    }

    /// Whether the collection of a lane may hold back programs of this unit.
    pub(in crate::device) fn may_close_to_programs(&self, lane: u32, unit: BusyUnit) -> bool {
        self.heeded_units(lane).contains(&unit)
    }
}

impl Gc {
    /// Whether another collection prevents one in this lane, because only one may run in its scope. A collection that
    /// has yielded does not count.
    pub(in crate::device) fn scope_is_taken(&self, shape: &Shape, lane: u32) -> bool {
        if !shape.one_at_a_time() {
            return false;
        }
        let own = shape.exclusive_units(lane);
        (0..shape.layout.lanes).filter(|&other| other != lane).any(|other| {
            let c = &self.collections[other as usize];
            let keeps = c.is_active() && (c.closes || !c.waiting);
            let scope = shape.exclusive_units(other);
            keeps && scope.start < own.end && own.start < scope.end
        })
    }

    /// Close (or reopen) the scope of this lane's collection to host operations.
    pub(in crate::device) fn close_scope<O: Observer>(
        &mut self,
        shape: &Shape,
        flash: &mut Flash<O>,
        deferred: &mut Vec<Deferred>,
        lane: u32,
        close: bool,
    ) {
        let c = &mut self.collections[lane as usize];
        debug_assert!(!close || c.is_active(), "lane {lane} closes its scope without a collection");
        if c.closes == close {
            return;
        }
        c.closes = close;
        let erases = c.stage == Stage::Erasing;
        // Host reads that wait there may now be replaced by reconstruction from parity.
        let tell = close && shape.fixed.rebuilds_reads;
        for unit in BusyUnit::each(shape.scope_units(lane)) {
            if close {
                flash.close(unit, erases);
            } else {
                flash.open(unit, erases);
            }
            if tell {
                deferred.push(Deferred::RebuildQueued { unit });
            }
        }
    }

    /// Note that the collection of a lane proceeds from moving data to erasing, and close its scope for the erase. If
    /// reads can interrupt erases, open the scope instead.
    pub(in crate::device) fn close_to_erase<O: Observer>(
        &mut self,
        shape: &Shape,
        flash: &mut Flash<O>,
        deferred: &mut Vec<Deferred>,
        lane: u32,
    ) {
        let c = &self.collections[lane as usize];
        debug_assert!(
            matches!(c.stage, Stage::Copying | Stage::Draining),
            "lane {lane} goes on to erase in stage {:?}",
            c.stage
        );
        if flash.interrupts(Occupant::Erase) {
            // Reads can interrupt the erase, so they need not be held back.
            return self.close_scope(shape, flash, deferred, lane, false);
        }
        if !self.collections[lane as usize].closes {
            self.collections[lane as usize].stage = Stage::Erasing;
            return self.close_scope(shape, flash, deferred, lane, true);
        }
        self.collections[lane as usize].stage = Stage::Erasing;
        for unit in BusyUnit::each(shape.scope_units(lane)) {
            flash.close_to_erase(unit);
        }
    }

    /// Hold back (`bars`) or release host programs on the busy units of a lane's collection.
    pub(in crate::device) fn set_closes_programs<O: Observer>(
        &mut self,
        shape: &Shape,
        flash: &mut Flash<O>,
        lane: u32,
        bars: bool,
    ) {
        debug_assert!(
            !bars || self.collections[lane as usize].stage == Stage::Copying,
            "lane {lane} holds back programs in stage {:?}",
            self.collections[lane as usize].stage
        );
        if std::mem::replace(&mut self.collections[lane as usize].closes_programs, bars) == bars {
            return;
        }
        for unit in BusyUnit::each(shape.heeded_units(lane)) {
            if bars {
                flash.close_to_programs(unit);
            } else {
                flash.open_to_programs(unit);
            }
        }
    }
}

impl State {
    /// Hold back or release host programs for a lane's collection, as the schedule decides now. Returns the view of the
    /// lane.
    #[inline]
    pub(in crate::device) fn update_program_gate<O: Observer>(
        &mut self,
        shape: &Shape,
        flash: &mut Flash<O>,
        lane: u32,
    ) -> SpaceView {
        let view = self.space(shape, flash, lane);
        if shape.fixed.may_close_programs {
            let bars = self.policies.gc_schedule.closes_programs(&view);
            self.gc.set_closes_programs(shape, flash, lane, bars);
        }
        view
    }
}

impl<O: Observer, M: Medium> Device<O, M> {
    /// Let a collection yield: open its scope, so that host operations proceed. Another collection may use the scope
    /// meanwhile.
    pub(in crate::device) fn yield_scope(&mut self, lane: u32) {
        self.state.gc.set_waiting(&self.shape, &mut self.flash, lane, true);
        let held = self.state.gc.collections[lane as usize].closes;
        self.state.gc.close_scope(&self.shape, &mut self.flash, &mut self.state.deferred, lane, false);
        if held && self.shape.one_at_a_time() {
            self.wake_waiting();
        }
    }
}
