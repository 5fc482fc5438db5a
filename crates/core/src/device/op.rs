//! Flash operations under way.

use crate::ftl::NONE;
use serde::{Deserialize, Serialize};
use strum::{IntoStaticStr, VariantNames};
use tailcut_units::{Ledger, Occupant};

/// What an operation does in the array.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, IntoStaticStr, VariantNames)]
pub enum OpKind {
    /// Sense a page and bring data out.
    Read,
    /// Bring data in and program a page.
    Program,
    /// Sense a page and program it elsewhere in the plane.
    Copyback,
    /// Erase a block on each plane.
    Erase,
}

impl OpKind {
    /// Where its array time counts: read, program, erase. A copyback reads, then programs.
    #[inline]
    pub(super) fn counted(self, second: bool) -> usize {
        match self {
            OpKind::Read => 0,
            OpKind::Program => 1,
            OpKind::Copyback => usize::from(second),
            OpKind::Erase => 2,
        }
    }
}

/// Who is told when an operation ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Owner {
    /// A host read.
    Request(u32),
    /// A write unit: its program, or a read it needs first.
    Group(u32),
    /// The collection of a lane.
    Collection(u32),
    /// A stripe on its way to flash: a read that its parity needs.
    Stripe(u32),
    /// The scrubbing of a lane.
    Scrub(u32),
    /// A unit under reconstruction: a read for that alone.
    Rebuild(u32),
}

/// A wait at a die is split by what held the die: an occupant, …
pub const WAIT_SLOTS: usize = Occupant::COUNT + 5;
/// … nothing, by the schedule's choice, …
pub const WAIT_IDLE: usize = Occupant::COUNT;
/// … nothing, because a collection that moves data holds the scope, …
pub const WAIT_HOLD: usize = Occupant::COUNT + 1;
/// … or one that erases, …
pub const WAIT_HOLD_ERASE: usize = Occupant::COUNT + 4;
/// … an operation on its way to the point where it may stop, …
pub const WAIT_POINT: usize = Occupant::COUNT + 2;
/// … or the suspending or resuming of one.
pub const WAIT_OVERHEAD: usize = Occupant::COUNT + 3;

/// One flash operation.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Op {
    pub kind: OpKind,
    pub occupant: Occupant,
    pub owner: Owner,
    /// Whether the next channel use is the second one (data out, second command, data of a
    /// suspended program in again).
    pub second: bool,
    pub unit: u32,
    pub channel: u32,
    pub page: u32,
    /// Planes addressed, as a mask.
    pub planes: u32,
    pub codewords: u32,
    /// Payload bytes for the host.
    pub bytes: u32,
    pub extent: u32,
    /// Row read, or first unit address programmed.
    pub row: u32,
    /// Collection reads: the units of the segment that were valid.
    pub mask: u64,
    /// Next in the queue the operation waits in.
    pub next: u32,
    /// Next of the host reads that one multi-plane read senses together.
    pub joined: u32,
    /// Host reads: the unit under reconstruction that needs its data too.
    pub rebuild: u32,
    /// Order of arrival at the die.
    pub arrived: u64,
    /// When it was queued at its die.
    pub entered: u64,
    /// A read that was sensed along with another, whose data are still to go out.
    pub along: bool,
    /// When it got the channel first.
    pub started: u64,
    /// What it copied of the die's (then the channel's) account when it began to wait.
    pub seen: [u64; WAIT_SLOTS],
    pub ledger: Ledger,
}

impl Op {
    /// Whether a unit elsewhere is rebuilt from what it reads.
    #[inline]
    pub(super) fn rebuilds(&self) -> bool {
        self.occupant == Occupant::UserRead
            && (self.rebuild != NONE || matches!(self.owner, Owner::Rebuild(_)))
    }

    pub fn blank() -> Op {
        Op {
            kind: OpKind::Read,
            occupant: Occupant::UserRead,
            owner: Owner::Request(NONE),
            second: false,
            unit: 0,
            channel: 0,
            page: 0,
            planes: 0,
            codewords: 0,
            bytes: 0,
            extent: NONE,
            row: 0,
            mask: 0,
            next: NONE,
            joined: NONE,
            rebuild: NONE,
            arrived: 0,
            entered: 0,
            along: false,
            started: 0,
            seen: [0; WAIT_SLOTS],
            ledger: Ledger::new(),
        }
    }
}

/// A FIFO of operations through `Op::next`.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Queue {
    pub head: u32,
    pub tail: u32,
}

impl Default for Queue {
    fn default() -> Queue {
        Queue { head: NONE, tail: NONE }
    }
}
