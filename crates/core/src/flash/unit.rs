//! The busy unit: the part of a die that one operation holds. It is a die, or a plane if planes work independently.

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
    /// The operation's data are transferred out until `Unit::until`. The end of the transfer releases the unit only if
    /// another operation waits or is suspended (`Unit::awaited`).
    Out,
    /// The data of a retry are transferred out and decoded while the array already senses the page again (a speculative
    /// sense). If the decoding succeeds, the unit has no holder and is released at `Unit::until`. Otherwise the
    /// speculative sense ends at `Unit::until`, and the read continues with it after the decoding.
    Ahead,
    /// The operation is in the array and continues to its suspend point; a timer is set for that.
    Stopping,
    /// The operation is being suspended; a timer is set for the end.
    Suspending,
    /// The operation is being resumed; a timer is set for the end.
    Resuming,
    /// Reads hold single planes (`Unit::reading`), independently of one another (`PlaneRead`). The holder is the one
    /// that got its planes first, among those that still hold them. The end of each read's transfer releases its
    /// planes.
    Reading,
}

impl Phase {
    /// Whether a unit in this phase may go on to `next`.
    fn may_become(self, next: Phase) -> bool {
        use Phase::*;
        match self {
            // An operation begins, or the one that was suspended last goes on.
            Idle => matches!(next, Channel | Reading | Resuming | Array),
            Channel => matches!(next, Idle | Array | Out | Ahead | Resuming),
            Array => matches!(next, Idle | Channel | Stopping | Suspending),
            Out | Suspending | Reading => next == Idle,
            Ahead => matches!(next, Idle | Array),
            Stopping => matches!(next, Idle | Suspending),
            // A resume may be cancelled.
            Resuming => matches!(next, Idle | Array | Suspending),
        }
    }
}

/// An operation that may be interrupted, and its progress in the array.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct Run {
    pub op: u32,
    pub course: Course,
    /// Only operations with a smaller arrival number than this are served before the operation resumes; `u64::MAX`: all
    /// are.
    pub serve_before: u64,
}

impl Run {
    pub const NONE: Run = Run { op: NONE, course: Course::NONE, serve_before: u64::MAX };
}

/// Largest number of operations suspended at one unit: an erase, and above it a program.
pub(super) const MOST_SUSPENDED: usize = 2;

/// The collections that hold back host operations at a unit.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Gates {
    /// Number of collections that close the unit to all host operations.
    pub closed: u16,
    /// Number of those collections that are erasing.
    pub erasing: u16,
    /// Number of collections that close the unit to host programs only.
    pub programs_closed: u16,
    /// Number of collections under way that are not waiting. The schedule may hold back host programs for them.
    pub collecting: u16,
    /// Number of those collections that are still moving data.
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

    /// The kinds of work that may begin at the unit.
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

/// Number of host operations queued or under way at a unit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct HostLoad {
    /// All host operations.
    pub ops: u32,
    /// Reads among these.
    pub reads: u32,
    /// Reads among these whose data are used for a reconstruction.
    pub rebuilds: u32,
}

/// A die, or a plane if planes work independently.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Unit {
    pub channel: u32,
    /// The operation that holds the unit, or `NONE`.
    pub holder: u32,
    pub phase: Phase,
    /// The kinds of work whose arrival interrupts the holder at present.
    pub interrupters: Occupants,
    /// Reads that were sensed together with the holder and whose data still wait for the channel.
    pub joined: u8,
    /// Whether operations have been queued for joining; the unit begins them at the end of the present event.
    pub gathering: bool,
    /// Number of suspended operations. The one suspended last is on top of `stack`.
    pub suspended: u8,
    /// Whether a collection has delayed the holder.
    pub met_collection: bool,
    /// When an operation that a collection had delayed most recently left the unit, ns.
    pub met_until: u64,
    /// End of phase `Array`, `Out` or `Ahead`.
    pub until: u64,
    /// Whether the channel releases the unit at the end of phase `Out`. In phase `Reading`: whether it releases the
    /// planes of the read at `leaving`.
    pub awaited: bool,
    /// The planes that reads hold in phase `Reading`, as a mask; and the first plane of the read whose data are being
    /// transferred.
    pub reading: u32,
    pub leaving: u32,
    pub gates: Gates,
    pub load: HostLoad,
    pub queues: Queues,
    pub account: Account,
    /// Array time, ns, counted once for each plane that an operation addresses. It is added when the operation begins.
    /// Work that is repeated because of suspensions is not included.
    pub plane_ns: u64,
    /// The holder's progress in the array, if it may be interrupted.
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

    /// The suspended operations, in order of suspension.
    pub fn suspended(&self) -> &[Run] {
        &self.stack[..usize::from(self.suspended)]
    }

    /// Go on to another phase.
    #[inline(always)]
    pub fn enters(&mut self, next: Phase) {
        debug_assert!(
            self.phase.may_become(next),
            "a unit goes from {:?} to {next:?}, with holder {} and {} suspended operations",
            self.phase,
            self.holder,
            self.suspended
        );
        self.phase = next;
    }

    /// Make the unit idle from the end of its last transfer, for which nothing was waiting.
    #[inline]
    pub fn go_idle(&mut self) {
        self.account.count_to(self.gates.idle_slot(), self.until);
        self.enters(Phase::Idle);
        self.holder = NONE;
        self.met_collection = false;
    }

    /// Time up to `now`, ns, in which an operation held the unit or was being stopped, suspended or resumed.
    pub fn taken(&self, now: u64) -> u64 {
        self.account.taken(if self.phase == Phase::Out { self.until.min(now) } else { now })
    }
}
