//! The busy unit: a die, or a plane if planes work independently.

use super::account::{self, Account};
use super::queues::Queues;
use crate::containers::NONE;
use crate::nand::course::Course;
use serde::{Deserialize, Serialize};
use tailcut_units::Occupants;

/// The phase of the operation that holds a unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Phase {
    /// No operation holds the unit.
    Idle,
    /// The operation waits for the channel (to begin, or to transfer data).
    Channel,
    /// The operation is in the array until `Unit::until`; its event is set.
    Array,
    /// The operation's data are transferred out until `Unit::until`; the channel then releases the
    /// unit only if an operation waits or is suspended (`Unit::awaited`).
    Out,
    /// The data of a further sense are transferred out and decoded, and the array senses the page again. If that
    /// sense is not needed, the unit has no holder, and its timer releases it at `Unit::until`. Else the sense ends
    /// then, and the end of the decoding leads on.
    Ahead,
    /// The operation is in the array and continues to its suspend point; the timer is set.
    Stopping,
    /// The operation is being suspended; the timer is set.
    Suspending,
    /// The operation is being resumed; the timer is set.
    Resuming,
    /// Reads have the planes `Unit::reading`, each for itself (`PlaneRead`). The first of them that still has its
    /// planes is the holder. The channel releases the planes of each at the end of its transfer.
    Reading,
}

/// An operation that may be interrupted, and its course in the array.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct Run {
    pub op: u32,
    pub course: Course,
    /// Only arrivals before this number are served before the operation resumes; `u64::MAX`: all
    /// are.
    pub serve_before: u64,
}

impl Run {
    pub const NONE: Run = Run { op: NONE, course: Course::NONE, serve_before: u64::MAX };
}

/// Most operations suspended on one unit: a program on top of an erase.
pub(super) const MOST_SUSPENDED: usize = 2;

/// How collections close a unit.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Gates {
    /// Number of collections that close the unit to host operations.
    pub closed: u16,
    /// Number of these collections that erase.
    pub erasing: u16,
    /// Number of collections that close the unit to host programs alone.
    pub programs_closed: u16,
    /// Number of collections under way that do not wait. The schedule may hold back host programs for them.
    pub collecting: u16,
    /// Number of these collections that still move data.
    pub moving: u16,
    /// Number of lanes of this unit that are short of space.
    pub urgent: u16,
}

impl Gates {
    /// The account's slot for time without a holder.
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

    /// The kinds of work that the gates allow to begin.
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
    /// All host operations.
    pub ops: u32,
    /// The reads among them.
    pub reads: u32,
    /// The reads among them whose data serve a reconstruction.
    pub rebuilds: u32,
}

/// A die, or a plane if planes work independently.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Unit {
    pub channel: u32,
    /// The operation that holds the unit, or `NONE`.
    pub holder: u32,
    pub phase: Phase,
    /// The kinds of work whose arrival interrupts the holder now.
    pub interrupters: Occupants,
    /// Reads sensed together whose data still wait for the channel, the holder not counted.
    pub joined: u8,
    /// Whether the unit begins the operations that were queued for joining at the end of the event.
    pub gathering: bool,
    /// Number of operations suspended. The last one is on top of `stack`.
    pub suspended: u8,
    /// Whether a collection has delayed the operation that holds the unit.
    pub met_collection: bool,
    /// When an operation that a collection had delayed last left the unit, ns.
    pub met_until: u64,
    /// End of phase `Array`, `Out` or `Ahead`.
    pub until: u64,
    /// Whether the channel releases the unit at the end of phase `Out`; in phase `Reading` the planes of the read at
    /// place `leaving`.
    pub awaited: bool,
    /// The planes that reads have in phase `Reading`, as a mask, and the first plane of the read whose data go out.
    pub reading: u32,
    pub leaving: u32,
    pub gates: Gates,
    pub load: HostLoad,
    pub queues: Queues,
    pub account: Account,
    /// Array time, ns, counted once for each plane that an operation addresses. An operation counts
    /// in full when it begins; the parts that suspensions repeat are not included.
    pub plane_ns: u64,
    /// The holder's course in the array, if it may be interrupted.
    pub run: Run,
    pub stack: [Run; MOST_SUSPENDED],
}

impl Unit {
    /// Create a unit of a channel, with the queues of [`Queues::new`].
    pub fn new(channel: u32, queues: Queues) -> Unit {
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
            awaited: false,
            reading: 0,
            leaving: 0,
            gates: Gates::default(),
            load: HostLoad::default(),
            queues,
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

    /// The suspended operations; the one suspended last is at the end.
    pub fn suspended(&self) -> &[Run] {
        &self.stack[..usize::from(self.suspended)]
    }

    /// Make a unit idle as of the end of a last transfer, which nothing awaited.
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
