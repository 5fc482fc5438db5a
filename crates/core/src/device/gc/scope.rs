//! The scope of a collection: the busy units that it closes to host operations, and in which no other collection may
//! run.

use crate::address::BusyUnit;
use crate::device::drive::{Deferred, Device};
use crate::device::gc::collect::Stage;
use crate::medium::Medium;
use crate::observer::Observer;
use crate::policy::gc_schedule::SpaceView;
use crate::policy::gc_scope::Scope;
use std::ops::Range;
use tailcut_units::Occupant;

impl<O: Observer, M: Medium> Device<O, M> {
    /// Whether only one collection at a time may run in a scope.
    pub(in crate::device) fn one_at_a_time(&self) -> bool {
        matches!(self.shape.fixed.gc_scope, Scope::Channel | Scope::Controller | Scope::Unit { alone: true })
    }

    /// Whether another collection prevents one in this lane, because only one may run in its scope. A collection that
    /// has yielded does not count.
    pub(in crate::device) fn scope_is_taken(&self, lane: u32) -> bool {
        if !self.one_at_a_time() {
            return false;
        }
        let own = self.exclusive_units(lane);
        (0..self.shape.layout.lanes).filter(|&other| other != lane).any(|other| {
            let c = &self.state.gc.collections[other as usize];
            let keeps = c.is_active() && (c.closes || !c.waiting);
            let scope = self.exclusive_units(other);
            keeps && scope.start < own.end && own.start < scope.end
        })
    }

    /// Close (or reopen) the scope of this lane's collection to host operations.
    pub(in crate::device) fn close_scope(&mut self, lane: u32, close: bool) {
        let c = &mut self.state.gc.collections[lane as usize];
        if c.closes == close {
            return;
        }
        c.closes = close;
        let erases = c.stage == Stage::Erasing;
        let tell = close && self.shape.fixed.rebuilds_reads;
        for unit in BusyUnit::each(self.scope_units(lane)) {
            if close {
                self.flash.close(unit, erases);
            } else {
                self.flash.open(unit, erases);
            }
            if tell {
                self.state.deferred.push(Deferred::RebuildQueued { unit });
            }
        }
    }

    /// Note that the collection of a lane proceeds from moving data to erasing, and close its scope for the erase. If
    /// reads can interrupt erases, open the scope instead.
    pub(in crate::device) fn close_to_erase(&mut self, lane: u32) {
        if self.flash.interrupts(Occupant::Erase) {
            // Reads can interrupt the erase, so they need not be held back.
            return self.close_scope(lane, false);
        }
        if !self.state.gc.collections[lane as usize].closes {
            self.state.gc.collections[lane as usize].stage = Stage::Erasing;
            return self.close_scope(lane, true);
        }
        self.state.gc.collections[lane as usize].stage = Stage::Erasing;
        for unit in BusyUnit::each(self.scope_units(lane)) {
            self.flash.close_to_erase(unit);
        }
    }

    /// The busy units in which no other collection may run, if scopes are exclusive.
    pub(in crate::device) fn exclusive_units(&self, lane: u32) -> Range<BusyUnit> {
        match self.shape.fixed.gc_scope {
            Scope::Unit { .. } => self.units_of_channel(lane),
            _ => self.scope_units(lane),
        }
    }

    /// The busy units on the channels of a lane.
    pub(in crate::device) fn units_of_channel(&self, lane: u32) -> Range<BusyUnit> {
        let own = self.shape.units_of_lane(lane);
        let per_channel = self.shape.units / self.shape.channels;
        let first = own.start.0 / per_channel * per_channel;
        let last = (own.end.0 - 1) / per_channel * per_channel;
        BusyUnit(first)..BusyUnit(last + per_channel)
    }

    /// Whether the collection of a lane closes this unit to host operations.
    pub(in crate::device) fn scope_covers(&self, lane: u32, unit: BusyUnit) -> bool {
        self.scope_units(lane).contains(&unit)
    }

    /// The busy units that a collection of this lane closes to host operations.
    pub(in crate::device) fn scope_units(&self, lane: u32) -> Range<BusyUnit> {
        match self.shape.fixed.gc_scope {
            Scope::Operation => BusyUnit(0)..BusyUnit(0),
            Scope::Unit { .. } => self.shape.units_of_lane(lane),
            Scope::Controller => BusyUnit(0)..BusyUnit(self.shape.units),
            Scope::Channel => self.units_of_channel(lane),
        }
    }

    /// Close or open the scope of a collection to host programs, as the schedule decides.
    #[inline]
    pub(in crate::device) fn update_program_gate(&mut self, lane: u32, view: &SpaceView) {
        if self.shape.fixed.may_close_programs {
            let bars = self.state.policies.gc_schedule.closes_programs(view);
            self.set_closes_programs(lane, bars);
        }
    }

    pub(in crate::device) fn set_closes_programs(&mut self, lane: u32, bars: bool) {
        if std::mem::replace(&mut self.state.gc.collections[lane as usize].closes_programs, bars) == bars {
            return;
        }
        for unit in BusyUnit::each(self.heeded_units(lane)) {
            if bars {
                self.flash.close_to_programs(unit);
            } else {
                self.flash.open_to_programs(unit);
            }
        }
    }

    /// The busy units whose host operations matter to a collection of this lane: it may yield to them, and may hold
    /// back their programs.
    pub(in crate::device) fn heeded_units(&self, lane: u32) -> Range<BusyUnit> {
        match self.shape.fixed.gc_scope {
            Scope::Operation | Scope::Unit { .. } => self.shape.units_of_lane(lane),
            Scope::Channel | Scope::Controller => self.scope_units(lane),
        }
    }

    /// Whether the collection of a lane may hold back programs of this unit.
    pub(in crate::device) fn may_close_to_programs(&self, lane: u32, unit: BusyUnit) -> bool {
        self.heeded_units(lane).contains(&unit)
    }

    /// Let a collection yield: open its scope, so that host operations proceed. Another collection may use the scope
    /// meanwhile.
    pub(in crate::device) fn yield_scope(&mut self, lane: u32) {
        self.set_waiting(lane, true);
        let held = self.state.gc.collections[lane as usize].closes;
        self.close_scope(lane, false);
        if held && self.one_at_a_time() {
            self.wake_waiting();
        }
    }
}
