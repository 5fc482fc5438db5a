//! The queued servers: busy units (dies or planes) and channels.

use super::op::{Queue, WAIT_HOLD, WAIT_HOLD_ERASE, WAIT_IDLE, WAIT_OVERHEAD, WAIT_POINT, WAIT_SLOTS};
use crate::ftl::NONE;
use crate::nand::suspend::Resume;
use serde::{Deserialize, Serialize};
use tailcut_units::{Cause, Ledger, Occupant};

/// Where the operation that holds a unit stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Phase {
    /// No operation holds the unit.
    Idle,
    /// It waits for the channel (to begin, or to bring data out).
    Channel,
    /// It is in the array; the unit's timer is set to its end.
    Array,
    /// Its data go out until `Unit::until`; the timer is set only if something waits.
    Out,
    /// It is in the array on its way to the point where it may stop; the timer is set.
    Stopping,
    /// It is being suspended; the timer is set.
    Suspending,
    /// It is being resumed; the timer is set.
    Resuming,
}

/// The course of a program or erase in the array, for a unit whose operations may be
/// interrupted. Nominal nanoseconds are those of an undisturbed operation.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Run {
    pub op: u32,
    /// Suspensions so far.
    pub suspends: u32,
    /// Nominal nanoseconds done when it last went on (or stopped) …
    pub progress: u64,
    /// … and when it went on (or began to be resumed).
    pub begun: u64,
    /// Nominal nanoseconds in all.
    pub total: u64,
    /// What freeing the die costs once the stopping point is reached.
    pub cost: u64,
    /// What resuming costs.
    pub resume: Resume,
    /// Only arrivals before this one are served before it resumes; `u64::MAX`: all are.
    pub serve_before: u64,
}

impl Run {
    pub const NONE: Run = Run {
        op: NONE,
        suspends: 0,
        progress: 0,
        begun: 0,
        total: 0,
        cost: 0,
        resume: Resume { check: 0, ramp: 0, abort: 0 },
        serve_before: u64::MAX,
    };
}

/// Most operations suspended on one unit: a program on top of an erase.
pub const MOST_SUSPENDED: usize = 2;

/// A die, or a plane where planes are the busy unit.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Unit {
    pub channel: u32,
    pub holder: u32,
    pub phase: Phase,
    /// End of phase `Out`.
    pub until: u64,
    /// Bit `o`: the queue of occupant `o` is not empty.
    pub waiting: u8,
    /// The kinds of work whose arrival interrupts the holder now.
    pub interrupters: u8,
    /// Reads sensed together whose data still wait, one not counted.
    pub joined: u8,
    /// At the end of the event it begins what was queued for joining.
    pub gathering: bool,
    /// Operations suspended, the last one on top.
    pub suspended: u8,
    /// Lanes of this unit that are short of space.
    pub urgent: u16,
    /// Collections that close this unit to host operations.
    pub holds: u16,
    /// How many of these erase.
    pub erasing: u16,
    /// Collections that close it to host programs, also while they yield.
    pub bars: u16,
    /// Host operations queued or under way.
    pub host_ops: u32,
    /// The reads among them, where programs may be barred.
    pub host_reads: u32,
    /// The reads among them that rebuild a unit elsewhere.
    pub rebuilds: u32,
    pub queues: [Queue; Occupant::COUNT],
    /// Of occupants whose operations join: the planes of those in the queue …
    pub fronts: [u32; Occupant::COUNT],
    /// … and by occupant and plane those behind them. Empty where nothing joins so.
    pub backlog: Vec<Queue>,
    /// Arrival order of each queue's head.
    pub arrived: [u64; Occupant::COUNT],
    /// Nanoseconds so far by holder (or by the reason for having none).
    pub held: [u64; WAIT_SLOTS],
    /// Time in the array, once for each plane that an operation addresses, to the end of
    /// each operation; what suspensions repeat is not in it.
    pub plane_ns: u64,
    /// The slot of `held` that time counts to now, and since when.
    pub slot: u8,
    pub since: u64,
    /// The holder's course, if it may be interrupted.
    pub run: Run,
    pub stack: [Run; MOST_SUSPENDED],
    /// Whether a collection stood in the way of the operation that holds the unit …
    pub met_collection: bool,
    /// … and when such an operation last left.
    pub met_until: u64,
}

impl Unit {
    /// A unit of a channel, with `lines` planes whose operations line up for joining.
    pub fn new(channel: u32, lines: u32) -> Unit {
        Unit {
            channel,
            holder: NONE,
            phase: Phase::Idle,
            until: 0,
            waiting: 0,
            interrupters: 0,
            joined: 0,
            gathering: false,
            suspended: 0,
            urgent: 0,
            holds: 0,
            erasing: 0,
            bars: 0,
            host_ops: 0,
            host_reads: 0,
            rebuilds: 0,
            queues: Default::default(),
            fronts: [0; Occupant::COUNT],
            backlog: vec![Queue::default(); lines as usize * Occupant::COUNT],
            arrived: [0; Occupant::COUNT],
            held: [0; WAIT_SLOTS],
            plane_ns: 0,
            slot: WAIT_IDLE as u8,
            since: 0,
            run: Run::NONE,
            stack: [Run::NONE; MOST_SUSPENDED],
            met_collection: false,
            met_until: 0,
        }
    }

    /// The operation suspended last.
    pub fn top(&mut self) -> Option<&mut Run> {
        (self.suspended as usize).checked_sub(1).map(|top| &mut self.stack[top])
    }

    /// What time without a holder counts to.
    #[inline]
    pub fn idle_slot(&self) -> usize {
        if self.holds == 0 {
            WAIT_IDLE
        } else if self.erasing < self.holds {
            WAIT_HOLD
        } else {
            WAIT_HOLD_ERASE
        }
    }

    /// Bring the account up to `now`.
    #[inline]
    pub fn settle(&mut self, now: u64) {
        self.held[self.slot as usize] += now - self.since;
        self.since = now;
    }

    /// Whether any of the slots of this mask has held the unit since its account was `seen`.
    pub fn met_since(&self, seen: &[u64; WAIT_SLOTS], slots: u32, now: u64) -> bool {
        let held =
            |slot: usize| self.held[slot] + if slot == self.slot as usize { now - self.since } else { 0 };
        (0..WAIT_SLOTS).any(|slot| slots >> slot & 1 != 0 && held(slot) > seen[slot])
    }

    /// A last transfer that ended unobserved left the unit idle at its end.
    #[inline]
    pub fn go_idle(&mut self) {
        let end = self.until;
        self.count_to(self.idle_slot(), end);
        self.phase = Phase::Idle;
        self.holder = NONE;
        self.met_collection = false;
    }

    /// The account as of `now`.
    pub fn account(&mut self, now: u64) -> [u64; WAIT_SLOTS] {
        if self.phase == Phase::Out && self.until < now {
            self.go_idle();
        }
        self.settle(now);
        self.held
    }

    /// Nanoseconds up to `now` in which an operation had the unit, or was being stopped,
    /// suspended or resumed there.
    pub fn taken(&self, now: u64) -> u64 {
        let end = if self.phase == Phase::Out { self.until.min(now) } else { now };
        let slots = (0..Occupant::COUNT).chain([WAIT_POINT, WAIT_OVERHEAD]);
        let counted: u64 = slots.clone().map(|slot| self.held[slot]).sum();
        let is_taken = slots.into_iter().any(|slot| slot == usize::from(self.slot));
        counted + if is_taken { end.saturating_sub(self.since) } else { 0 }
    }

    /// Charge what occupants held the unit for since its account was `seen`.
    pub fn charge_since(&mut self, seen: &[u64; WAIT_SLOTS], now: u64, to: &mut Ledger) {
        let held = self.account(now);
        for occupant in Occupant::ALL {
            let ns = held[occupant as usize] - seen[occupant as usize];
            super::host::charge(to, Cause::die_wait(occupant), ns);
        }
    }

    /// From `now` on, time counts to `slot`.
    #[inline]
    pub fn count_to(&mut self, slot: usize, now: u64) {
        self.settle(now);
        self.slot = slot as u8;
    }
}

/// The bus of one channel.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Channel {
    pub busy_until: u64,
    /// Whose transfer ends at `busy_until`.
    pub occupant: u8,
    /// Host reads that wait for dies of the channel.
    pub reads: u32,
    /// Operations that wait: those that go first, and the rest.
    pub first: Queue,
    pub rest: Queue,
    /// Nanoseconds granted so far by occupant, to the end of each grant.
    pub granted: [u64; Occupant::COUNT],
    /// How much of all that it stood still for the decoder.
    pub stalled: u64,
}

impl Channel {
    #[inline]
    pub fn has_waiters(&self) -> bool {
        self.first.head != NONE || self.rest.head != NONE
    }

    /// The account as of `now`: what is granted but not yet spent is taken off.
    #[inline]
    pub fn spent(&self, now: u64) -> [u64; Occupant::COUNT] {
        let mut spent = self.granted;
        spent[self.occupant as usize] -= self.busy_until.saturating_sub(now);
        spent
    }

    #[inline]
    pub fn occupy(&mut self, occupant: Occupant, now: u64, span: u64) {
        debug_assert!(now >= self.busy_until, "a channel moves one thing at a time");
        self.busy_until = now + span;
        self.occupant = occupant as u8;
        self.granted[occupant as usize] += span;
    }
}
