//! Answers to questions of the controller about busy units and channels.

use super::account::{DieTimes, charge_occupants};
use super::op::OpId;
use super::plane_reads::Stage;
use super::state::Flash;
use super::unit::{HostLoad, Phase};
use super::{channel, join};
use crate::address::BusyUnit;
use crate::observer::Observer;
use std::ops::Range;
use tailcut_units::{Ledger, Occupant, Occupants, Span};

impl<O: Observer> Flash<O> {
    /// Number of host operations queued or under way.
    #[inline]
    pub fn host_ops(&self) -> u32 {
        self.state.host_ops
    }

    /// Host operations queued at a unit or under way there.
    #[inline]
    pub fn host_load(&self, unit: BusyUnit) -> HostLoad {
        self.state.units[unit.index()].load
    }

    /// Whether a host operation uses the channel of these units, or is going to. Programs whose data are in their page
    /// registers do not count.
    pub fn host_needs_channel(&self, units: Range<BusyUnit>) -> bool {
        let s = &self.state;
        let channel = &s.channels[s.units[units.start.index()].channel as usize];
        channel.serves_host(s.now)
            || BusyUnit::each(units).any(|u| self.host_load(u).ops > self.programs_in_array(u))
    }

    /// Number of host programs in the array or in the page registers of a unit: none, one, or those that were joined.
    fn programs_in_array(&self, unit: BusyUnit) -> u32 {
        let s = &self.state;
        let u = &s.units[unit.index()];
        let programs = |id: u32| Occupants::HOST_PROGRAMS.has(s.ops[id].cmd.occupant);
        let held = Some(u.holder).filter(|_| u.phase == Phase::Array);
        let loaded = self.cached(unit).filter(|cached| !cached.waits()).map(|cached| cached.op);
        let in_registers = held.into_iter().chain(loaded).filter(|&id| programs(id));
        in_registers.map(|id| join::joined(&s.ops, id).count() as u32).sum()
    }

    /// The kinds of work queued at a unit.
    #[inline]
    pub fn waiting(&self, unit: BusyUnit) -> Occupants {
        self.state.units[unit.index()].queues.waiting()
    }

    /// Number of operations in use.
    pub fn under_way(&self) -> usize {
        self.state.ops.used()
    }

    /// Memory of the operations and of the events to come, in bytes.
    pub fn pool_bytes(&self) -> usize {
        self.state.ops.bytes() + self.state.events.bytes()
    }

    /// The operations in use, for diagnosis and audits.
    pub fn ops_in_use(&self) -> Vec<OpId> {
        self.state.ops.in_use().into_iter().map(OpId).collect()
    }

    /// The account of a unit up to now.
    pub fn account(&mut self, unit: BusyUnit) -> DieTimes {
        let s = &mut self.state;
        let u = &mut s.units[unit.index()];
        if u.phase == Phase::Out && u.until < s.now {
            u.go_idle();
        }
        *u.account.settle(s.now)
    }

    /// Charge the times that occupants held a unit since the copy `seen` of its account was taken.
    pub fn charge_since(&mut self, unit: BusyUnit, seen: &DieTimes, to: &mut Ledger) {
        let held = self.account(unit);
        charge_occupants(to, seen, &held);
    }

    /// The operation that holds a unit. If planes read independently, the first of the reads.
    pub fn holder(&self, unit: BusyUnit) -> Option<OpId> {
        OpId::of_link(self.state.units[unit.index()].holder)
    }

    /// Remaining time of the operation in a unit's array; `None` if there is none. If planes read independently, that
    /// of the read that ends last.
    pub fn array_left(&self, unit: BusyUnit) -> Option<Span> {
        self.in_array(unit, u32::MAX).map(|(_, left)| left)
    }

    /// The operation in the array of a unit that occupies any of these planes (a mask), and its remaining time. An
    /// operation occupies all planes of its die; if planes read independently, a read occupies only its own.
    pub fn in_array(&self, unit: BusyUnit, planes: u32) -> Option<(OpId, Span)> {
        let s = &self.state;
        let u = &s.units[unit.index()];
        let left = |until: u64| Span(until.saturating_sub(s.now));
        match u.phase {
            Phase::Array => Some((OpId(u.holder), left(u.until))),
            Phase::Reading => {
                let reads = s.plane_reads.each(unit, u.reading);
                let sensed = reads.filter(|read| read.stage == Stage::Array && read.planes & planes != 0);
                sensed.max_by_key(|read| read.until).map(|read| (OpId(read.op), left(read.until)))
            }
            _ => None,
        }
    }

    /// Whether the host reads queued at a unit stay queued until the next event, regardless of what is submitted before
    /// it.
    pub fn keeps_reads(&self, unit: BusyUnit) -> bool {
        let u = &self.state.units[unit.index()];
        u.phase != Phase::Reading || u.gates.closed > 0
    }

    /// Time that an arriving operation of this kind would wait until the operation in a unit's array is interrupted;
    /// `None` if it would not be interrupted.
    pub fn gives_way_in(&self, unit: BusyUnit, kind: Occupant) -> Option<Span> {
        let gives_way = self.state.units[unit.index()].interrupters.has(kind);
        if gives_way { self.interrupted_in(unit).map(Span) } else { None }
    }

    /// Whether the channel of a unit is busy or has waiters.
    pub fn channel_is_taken(&self, unit: BusyUnit) -> bool {
        let s = &self.state;
        let channel = &s.channels[s.units[unit.index()].channel as usize];
        channel.busy_until > s.now || channel.has_waiters()
    }

    /// Whether a collection has delayed an operation of one of these kinds that still waits for its
    /// die or channel.
    pub fn collections_hold_up(&self, kinds: Occupants) -> bool {
        let s = &self.state;
        let met_on_channel = |OpId(id): OpId| {
            let op = &s.ops[id];
            let spent = s.channels[op.channel as usize].spent(s.now);
            kinds.has(op.cmd.occupant) && channel::met_collection(&spent, channel::part(&op.seen))
        };
        (0..).map(BusyUnit).zip(&s.units).any(|(number, u)| {
            let first_met = |kind: Occupant| {
                let head = &s.ops[u.queues.head(kind)];
                u.account.met_collection_by(&head.seen, s.now)
            };
            if (u.queues.waiting() & kinds).iter().any(first_met) {
                return true;
            }
            if self.cached(number).is_some_and(|cached| {
                let behind = Occupants::COLLECTION.has(s.ops[u.holder].cmd.occupant) && cached.loaded < s.now;
                let met = cached.met_collection || cached.waits() && met_on_channel(OpId(cached.op));
                kinds.has(s.ops[cached.op].cmd.occupant) && (met || behind)
            }) {
                return true;
            }
            match u.phase {
                Phase::Channel => met_on_channel(OpId(u.holder)),
                Phase::Reading => {
                    let mut reads = s.plane_reads.each(number, u.reading);
                    reads.any(|read| read.stage == Stage::Channel && met_on_channel(OpId(read.op)))
                }
                _ => false,
            }
        })
    }
}
