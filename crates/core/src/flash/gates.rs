//! The gates of busy units: collections close them to host operations, and the controller sets other states on which
//! the schedule depends.

use super::state::Flash;
use super::unit::Phase;
use crate::address::BusyUnit;
use crate::observer::{Closing, Observer};
use tailcut_units::{Occupant, SimTime};

impl<O: Observer> Flash<O> {
    /// Count one more collection that closes a unit to host operations. `erases`: it is erasing, and not moving data.
    pub fn close(&mut self, unit: BusyUnit, erases: bool) {
        let gates = &mut self.state.units[unit.index()].gates;
        gates.closed += 1;
        gates.erasing += u16::from(erases);
        self.gates_changed(unit, Closing::Closes(erases));
    }

    /// Count one collection fewer that closes a unit to host operations. `erases`: it was erasing, and not moving data.
    pub fn open(&mut self, unit: BusyUnit, erases: bool) {
        let gates = &mut self.state.units[unit.index()].gates;
        gates.closed -= 1;
        gates.erasing -= u16::from(erases);
        self.gates_changed(unit, Closing::Opens(erases));
    }

    fn gates_changed(&mut self, unit: BusyUnit, closing: Closing) {
        let now = self.state.now;
        self.observer.closing(unit, SimTime(now), closing);
        let u = &mut self.state.units[unit.index()];
        if u.phase == Phase::Idle {
            u.account.count_to(u.gates.idle_slot(), now);
        }
        self.serve_waiting(unit);
    }

    /// Treat the waiting operations of a unit like arrivals, because its gates may have opened.
    fn serve_waiting(&mut self, unit: BusyUnit) {
        match self.state.units[unit.index()].phase {
            Phase::Idle => self.dispatch(unit),
            Phase::Channel => {
                let waiting = self.state.units[unit.index()].queues.waiting() & self.open_queues(unit);
                if let Some(kind) = (waiting & self.fixed.grants.first).first() {
                    self.overtake(unit, kind);
                }
            }
            Phase::Reading => {
                let u = &self.state.units[unit.index()];
                let first = u.queues.waiting() & self.open_queues(unit) & self.fixed.grants.first;
                let wanted = first.first().map_or(0, |kind| self.state.ops[u.queues.head(kind)].cmd.planes);
                self.overtake_reads(unit, wanted);
                self.begin_beside(unit);
            }
            Phase::Array if self.fixed.cache_program => {
                self.interrupt_if_awaited(unit);
                self.serve_behind(unit);
            }
            _ => self.interrupt_if_awaited(unit),
        }
    }

    /// Note that a collection that closes a unit proceeds from moving data to erasing.
    pub fn close_to_erase(&mut self, unit: BusyUnit) {
        let now = self.state.now;
        self.observer.closing(unit, SimTime(now), Closing::Erases);
        let u = &mut self.state.units[unit.index()];
        u.gates.erasing += 1;
        if u.phase == Phase::Idle {
            u.account.count_to(u.gates.idle_slot(), now);
        }
    }

    /// Count one more collection that closes a unit to host programs.
    pub fn close_to_programs(&mut self, unit: BusyUnit) {
        self.state.units[unit.index()].gates.programs_closed += 1;
        self.begin_beside(unit);
        self.fill_cache(unit);
    }

    /// Count one collection fewer that closes a unit to host programs.
    pub fn open_to_programs(&mut self, unit: BusyUnit) {
        let gates = &mut self.state.units[unit.index()].gates;
        gates.programs_closed -= 1;
        if gates.programs_closed == 0 {
            self.serve_waiting(unit);
        }
    }

    /// Whether a collection closes a unit to host operations.
    #[inline]
    pub fn is_closed(&self, unit: BusyUnit) -> bool {
        self.state.units[unit.index()].gates.closed > 0
    }

    /// Note a change in the state of a collection at a unit: whether it is under way, and whether it is moving data.
    /// The schedule may hold back operations for it.
    pub fn collection_changes(&mut self, unit: BusyUnit, before: [bool; 2], now: [bool; 2]) {
        let gates = &mut self.state.units[unit.index()].gates;
        gates.collecting = gates.collecting + u16::from(now[0]) - u16::from(before[0]);
        gates.moving = gates.moving + u16::from(now[1]) - u16::from(before[1]);
        if self.fixed.collections_hold_programs {
            self.serve_waiting(unit);
        }
    }

    /// Count one more (or one fewer) lane of this unit that is short of space. The schedule policy uses this.
    pub fn set_urgent(&mut self, unit: BusyUnit, urgent: bool) {
        let n = &mut self.state.units[unit.index()].gates.urgent;
        *n = if urgent { *n + 1 } else { *n - 1 };
        self.begin_beside(unit);
        self.fill_cache(unit);
    }

    /// Set when the oldest host write that waits for room in the write buffer arrived;
    /// [`SimTime::NEVER`] if none waits. The suspension of erases may depend on it.
    #[inline]
    pub fn set_oldest_write(&mut self, arrived: SimTime) {
        self.state.oldest_write = arrived.0;
    }

    /// Whether any kind of work may interrupt operations of this kind.
    pub fn interrupts(&self, kind: Occupant) -> bool {
        !self.fixed.interrupters[kind as usize].is_empty()
    }
}
