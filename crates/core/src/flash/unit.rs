//! The busy unit: a die, or a plane where planes are busy on their own.

use super::account::{self, Account};
use super::queues::Queues;
use crate::containers::NONE;
use crate::nand::course::Course;
use serde::{Deserialize, Serialize};
use tailcut_units::Occupants;

/// Where the operation that holds a unit stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Phase {
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

/// An operation that may be interrupted, and its course in the array.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct Run {
    pub op: u32,
    pub course: Course,
    /// Only arrivals before this one are served before it resumes; `u64::MAX`: all are.
    pub serve_before: u64,
}

impl Run {
    pub const NONE: Run = Run { op: NONE, course: Course::NONE, serve_before: u64::MAX };
}

/// Most operations suspended on one unit: a program on top of an erase.
pub(super) const MOST_SUSPENDED: usize = 2;

/// What collections close a unit to.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Gates {
    /// Collections that close it to host operations.
    pub closed: u16,
    /// How many of these erase.
    pub erasing: u16,
    /// Collections that close it to host programs alone.
    pub programs_closed: u16,
    /// Lanes of this unit that are short of space.
    pub urgent: u16,
}

impl Gates {
    /// What time without a holder counts to.
    #[inline]
    pub fn idle_slot(&self) -> usize {
        if self.closed == 0 {
            account::IDLE
        } else if self.erasing < self.closed {
            account::CLOSED
        } else {
            account::CLOSED_TO_ERASE
        }
    }

    /// The kinds of work that may begin.
    #[inline]
    pub fn open(&self) -> Occupants {
        if self.closed > 0 {
            Occupants::COLLECTION
        } else if self.programs_closed > 0 {
            !Occupants::HOST_PROGRAMS
        } else {
            Occupants::ALL
        }
    }
}

/// Host operations queued at a unit or under way there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct HostLoad {
    /// All of them.
    pub ops: u32,
    /// The reads among them.
    pub reads: u32,
    /// The reads among them that rebuild a unit elsewhere.
    pub rebuilds: u32,
}

/// A die, or a plane where planes are busy on their own.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Unit {
    pub channel: u32,
    /// The operation that holds it, or `NONE`.
    pub holder: u32,
    pub phase: Phase,
    /// The kinds of work whose arrival interrupts the holder now.
    pub interrupters: Occupants,
    /// Reads sensed together whose data still wait, one not counted.
    pub joined: u8,
    /// At the end of the event it begins what was queued for joining.
    pub gathering: bool,
    /// Operations suspended, the last one on top.
    pub suspended: u8,
    /// Whether a collection stood in the way of the operation that holds it …
    pub met_collection: bool,
    /// … and when such an operation last left.
    pub met_until: u64,
    /// End of phase `Out`.
    pub until: u64,
    pub gates: Gates,
    pub load: HostLoad,
    pub queues: Queues,
    pub account: Account,
    /// Time in the array, once for each plane that an operation addresses, to the end of
    /// each operation; what suspensions repeat is not in it.
    pub plane_ns: u64,
    /// The holder's course, if it may be interrupted.
    pub run: Run,
    pub stack: [Run; MOST_SUSPENDED],
}

impl Unit {
    /// A unit of a channel, with `planes` planes whose operations line up for joining.
    pub fn new(channel: u32, planes: u32) -> Unit {
        Unit {
            channel,
            holder: NONE,
            phase: Phase::Idle,
            interrupters: Occupants::NONE,
            joined: 0,
            gathering: false,
            suspended: 0,
            met_collection: false,
            met_until: 0,
            until: 0,
            gates: Gates::default(),
            load: HostLoad::default(),
            queues: Queues::new(planes),
            account: Account::new(),
            plane_ns: 0,
            run: Run::NONE,
            stack: [Run::NONE; MOST_SUSPENDED],
        }
    }

    /// The operation suspended last.
    pub fn top(&mut self) -> Option<&mut Run> {
        (self.suspended as usize).checked_sub(1).map(|top| &mut self.stack[top])
    }

    /// The operations suspended, the last one last.
    pub fn suspended(&self) -> &[Run] {
        &self.stack[..usize::from(self.suspended)]
    }

    /// A last transfer that ended unobserved left the unit idle at its end.
    #[inline]
    pub fn go_idle(&mut self) {
        self.account.count_to(self.gates.idle_slot(), self.until);
        self.phase = Phase::Idle;
        self.holder = NONE;
        self.met_collection = false;
    }

    /// Nanoseconds up to `now` in which an operation had the unit, or was being stopped,
    /// suspended or resumed there.
    pub fn taken(&self, now: u64) -> u64 {
        self.account.taken(if self.phase == Phase::Out { self.until.min(now) } else { now })
    }
}
