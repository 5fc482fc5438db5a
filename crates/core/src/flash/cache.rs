//! Cache program (`geometry.cache_program`): the data of the next program are loaded into a second page register, the
//! cache register, while a program is in the array of the die.
//!
//! A die takes the next program from its queues when three conditions hold: the data of the program that holds the die
//! are in, the schedule would serve a program now, and nothing is suspended on the die. The cached program asks for the
//! channel and loads its data. At the end of the array program it becomes the holder, and enters the array at once or
//! as soon as its data are in. A program in the cache register is the die's next operation. Work with channel priority
//! can take its place only while it still waits for the channel, as with a program that holds an idle die.
//!
//! Until it holds the die, a cached program is charged the channel's time up to its own transfer, and after its
//! transfer the time of the program in the array.

use super::account;
use super::op::OpId;
use super::state::Flash;
use super::unit::Phase;
use crate::address::BusyUnit;
use crate::containers::NONE;
use crate::nand::OpKind;
use crate::observer::{Observer, Step};
use crate::policy::schedule::{QueueView, SchedulePolicy};
use serde::{Deserialize, Serialize};
use tailcut_units::{Cause, Occupant, Occupants};

/// The cache register of a busy unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Cached {
    /// The program in the register, or `NONE`. Others may have joined it.
    pub op: u32,
    /// When its data are complete, ns; `u64::MAX` while it waits for the channel.
    pub loaded: u64,
    /// Whether a collection has delayed it.
    pub met_collection: bool,
}

impl Cached {
    pub const NONE: Cached = Cached { op: NONE, loaded: u64::MAX, met_collection: false };

    /// Whether it waits for the channel.
    pub fn waits(&self) -> bool {
        self.loaded == u64::MAX
    }
}

impl<O> Flash<O> {
    /// The program in the cache register of a unit, if one is there.
    pub(super) fn cached(&self, unit: BusyUnit) -> Option<&Cached> {
        self.state.caches.get(unit.index()).filter(|cached| cached.op != NONE)
    }
}

impl<O: Observer> Flash<O> {
    /// Load the data of a program that has got the channel, on a die with a cache register: into that register, or as
    /// the holder of the die.
    pub(super) fn start_beside_cache(&mut self, OpId(id): OpId) {
        let unit = self.state.ops[id].cmd.unit;
        if self.cached(unit).is_some_and(|cached| cached.op == id) {
            return self.load(OpId(id));
        }
        self.start_as_planned(id);
        self.await_data(unit);
    }

    /// Set the channel's event for the moment at which the data of the holder are in and the cache register becomes
    /// free.
    fn await_data(&mut self, unit: BusyUnit) {
        let s = &mut self.state;
        let u = &mut s.units[unit.index()];
        u.awaited = true;
        let number = u.channel;
        s.channels[number as usize].out = unit.0;
        self.await_channel(number);
    }

    /// Note that the data of the program that holds a unit are in.
    #[inline(never)]
    pub(super) fn data_are_in(&mut self, unit: BusyUnit) {
        self.state.units[unit.index()].awaited = false;
        self.fill_cache(unit);
    }

    /// Handle the arrival of an operation at a unit with an operation in its array. Returns whether the unit must begin
    /// the gathered operations at the end of the event.
    #[inline(never)]
    pub(super) fn arrives_behind(&mut self, unit: BusyUnit, kind: Occupant) -> bool {
        self.overtake_cached(unit, kind.only());
        if self.fixed.joins.gathers(kind) {
            // Others of the same event may join it.
            let open = self.state.units[unit.index()].gates.open().has(kind);
            let may_begin = open && self.next_to_cache(unit, &mut self.state.schedule.clone()).is_some();
            return may_begin && !std::mem::replace(&mut self.state.units[unit.index()].gathering, true);
        }
        self.fill_cache(unit);
        false
    }

    /// Treat the waiting operations of a unit with an operation in its array like arrivals.
    pub(super) fn serve_behind(&mut self, unit: BusyUnit) {
        let waiting = self.state.units[unit.index()].queues.waiting();
        self.overtake_cached(unit, waiting);
        self.fill_cache(unit);
    }

    /// Give the cache register of a unit to the next program, if it is free and a program is next.
    #[inline(never)]
    pub(super) fn fill_cache(&mut self, unit: BusyUnit) {
        if !self.fixed.cache_program {
            return;
        }
        let mut schedule = self.state.schedule.clone();
        let Some(kind) = self.next_to_cache(unit, &mut schedule) else { return };
        self.state.schedule = schedule;
        let of_holder = self.state.units[unit.index()].met_collection;
        let id = self.take_queued(unit, kind);
        let s = &mut self.state;
        let met_collection = std::mem::replace(&mut s.units[unit.index()].met_collection, of_holder);
        s.caches[unit.index()] = Cached { op: id, met_collection, ..Cached::NONE };
        self.observe(id, Step::Cached, self.state.now);
        self.request_channel(id);
    }

    /// The kind of program that may take the cache register of a unit now.
    fn next_to_cache(&self, unit: BusyUnit, schedule: &mut SchedulePolicy) -> Option<Occupant> {
        let s = &self.state;
        let u = &s.units[unit.index()];
        // A program that ends now leaves no time for overlap.
        let programs =
            u.phase == Phase::Array && u.until > s.now && s.ops[u.holder].cmd.kind == OpKind::Program;
        let taken = u.awaited || u.gathering || u.suspended > 0 || self.cached(unit).is_some();
        if !self.fixed.cache_program || !programs || taken {
            return None;
        }
        let waiting = u.queues.waiting() & self.open_queues(unit);
        if waiting.is_empty() {
            return None;
        }
        let kind = waiting.single().unwrap_or_else(|| {
            schedule.next(&QueueView { waiting, urgent: u.gates.urgent > 0, arrived: u.queues.arrived() })
        });
        let head = &s.ops[u.queues.head(kind)].cmd;
        (head.kind == OpKind::Program).then_some(kind)
    }

    /// Let work with channel priority take the place of a cached program without priority that still waits for the
    /// channel. The program returns to its position in its queue.
    fn overtake_cached(&mut self, unit: BusyUnit, by: Occupants) {
        let first = self.fixed.grants.first;
        if !by.meets(first & self.state.units[unit.index()].gates.open()) {
            return;
        }
        let Some(&Cached { op: id, .. }) = self.cached(unit).filter(|cached| cached.waits()) else { return };
        if first.has(self.state.ops[id].cmd.occupant) {
            return;
        }
        let s = &mut self.state;
        s.units[unit.index()].account.settle(s.now);
        self.return_to_queue(OpId(id));
        self.state.caches[unit.index()] = Cached::NONE;
        self.observe(id, Step::Returned, self.state.now);
    }

    /// Load the data of a cached program that has got the channel.
    fn load(&mut self, OpId(id): OpId) {
        let t = &self.fixed.timing;
        let s = &mut self.state;
        let now = s.now;
        let (planes, codewords) = s.joined(id);
        let (command, data) = (t.command_ns * u64::from(planes), t.transfer_codewords_ns(codewords));
        let op = &mut s.ops[id];
        op.started = now;
        op.ledger.charge(Cause::COMMAND, command);
        op.ledger.charge(Cause::TRANSFER, data);
        let (unit, number, along) = (op.cmd.unit, op.channel, op.joined);
        s.channels[number as usize].occupy(op.cmd.occupant, now, command + data);
        let loaded = now + command + data;
        s.caches[unit.index()].loaded = loaded;
        self.observe(id, Step::ChannelIn, loaded);
        self.observe_joined(along, id, now);
        if data > 0 && self.fixed.tells_transfers {
            self.await_channel(number);
        }
    }

    /// Make the cached program the holder of a unit, whose holder has ended. Returns whether there is one.
    #[inline(never)]
    pub(super) fn promote(&mut self, unit: BusyUnit) -> bool {
        let Some(&cached) = self.cached(unit) else { return false };
        let Cached { op: id, loaded, met_collection } = cached;
        let s = &mut self.state;
        let now = s.now;
        s.caches[unit.index()] = Cached::NONE;
        let waited = now.saturating_sub(loaded);
        let u = &mut s.units[unit.index()];
        let before = s.ops[u.holder].cmd.occupant;
        u.account.count_to(account::of(s.ops[id].cmd.occupant), now);
        u.met_until = if u.met_collection { now } else { u.met_until };
        u.met_collection = met_collection || waited > 0 && Occupants::COLLECTION.has(before);
        u.holder = id;
        u.enters(Phase::Channel);
        u.interrupters = Occupants::NONE;
        u.run.course.suspends = 0;
        u.awaited = false;
        self.observe(id, Step::Granted, now);
        if cached.waits() {
            return true;
        }
        let mut at = id;
        while at != NONE {
            let op = &mut self.state.ops[at];
            op.ledger.charge(Cause::die_wait(before), waited);
            // Its waits are charged up to here.
            op.started += waited;
            at = op.joined;
        }
        self.begin_loaded(OpId(id), loaded.max(now));
        match loaded > now {
            true => self.await_data(unit),
            false => self.fill_cache(unit),
        }
        true
    }

    /// Begin a program in the array of its unit at `begun`, when its data are in.
    fn begin_loaded(&mut self, OpId(id): OpId, begun: u64) {
        let array = self.planned_ns(id);
        let s = &mut self.state;
        let (planes, _) = s.joined(id);
        let op = &mut s.ops[id];
        op.ledger.charge(Cause::ARRAY, array);
        let unit = op.cmd.unit;
        s.counters.count_array(op, planes, array);
        let u = &mut s.units[unit.index()];
        u.plane_ns += array * u64::from(planes);
        u.enters(Phase::Array);
        u.until = begun + array;
        self.observe_from(id, Step::Array, begun, begun + array);
        self.set_ended(unit, OpKind::Program, false, begun + array);
    }

    /// Check the cache register of a unit, and that no waiting program could use it.
    pub(super) fn audit_cache(&self, unit: BusyUnit) -> Result<(), String> {
        let s = &self.state;
        let u = &s.units[unit.index()];
        if let Some(cached) = self.cached(unit) {
            let cmd = &s.ops[cached.op].cmd;
            law!(
                cmd.unit == unit && cmd.kind == OpKind::Program,
                "unit {unit} has {cmd:?} in its cache register"
            );
            law!(
                u.phase == Phase::Array && s.ops[u.holder].cmd.kind == OpKind::Program && !u.awaited,
                "unit {unit} has {cached:?} in phase {:?}",
                u.phase
            );
        }
        let next = self.next_to_cache(unit, &mut s.schedule.clone());
        law!(next.is_none(), "unit {unit}: {next:?} waits, and could have the cache register: {u:?}");
        Ok(())
    }
}
