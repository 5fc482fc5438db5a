//! Flash operations: what the controller asks for, and what becomes of it.

use super::account::SLOTS;
use crate::containers::NONE;
use crate::nand::OpKind;
use serde::{Deserialize, Serialize};
use tailcut_units::{Ledger, Occupant};

/// An operation of the flash: unique among those under way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct OpId(pub(super) u32);

impl OpId {
    /// Its number, as observers hear it.
    #[inline]
    pub fn number(self) -> u32 {
        self.0
    }

    /// The operation of a link, `NONE` for none.
    #[inline]
    pub(super) fn of_link(link: u32) -> Option<OpId> {
        if link == NONE { None } else { Some(OpId(link)) }
    }
}

/// Who is told when an operation ends. The flash carries it and does not read it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Owner {
    /// A host read.
    Request(u32),
    /// A write unit: its program, or a read it needs first.
    WriteUnit(u32),
    /// The collection of a lane.
    Collection(u32),
    /// A stripe on its way to flash: a read that its parity needs.
    Stripe(u32),
    /// The scrubbing of a lane.
    Scrub(u32),
    /// A unit under reconstruction: a read for that alone.
    Rebuild(u32),
}

/// What the controller asks of the flash.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct FlashCommand {
    /// What the array does.
    pub kind: OpKind,
    /// On whose behalf.
    pub occupant: Occupant,
    /// Who is told when it is over.
    pub owner: Owner,
    /// The busy unit: a die, or a plane where planes are busy on their own.
    pub unit: u32,
    /// Page in the block; 0 for an erase.
    pub page: u32,
    /// Planes addressed, as a mask.
    pub planes: u32,
    /// Codewords that it moves on the channel.
    pub codewords: u32,
    /// What is erased as one, and of which this is a part ([`crate::nand::blocks::Blocks`]).
    pub block: u32,
    /// First physical unit of the row that is read or programmed.
    pub ppa: u32,
    /// Copyback: first physical unit of the row that is programmed …
    pub to: u32,
    /// … and its page.
    pub to_page: u32,
    /// Reads of a collection: which units from `ppa` on were valid.
    pub units: u64,
    /// Reads for a host command: bytes for the host; 0 if it serves a reconstruction alone.
    pub bytes: u32,
    /// Reads for a host command: the unit under reconstruction that needs its data.
    pub rebuild: u32,
    /// Reads for a host command: the number under which the command is tracked
    /// ([`super::Flash::track`]).
    pub tag: u32,
    /// Reads for a host command: its serial number, for observers; else `u64::MAX`.
    pub serial: u64,
}

impl FlashCommand {
    /// For no host command, and of no row.
    pub const BLANK: FlashCommand = FlashCommand {
        kind: OpKind::Read,
        occupant: Occupant::UserRead,
        owner: Owner::Request(NONE),
        unit: 0,
        page: 0,
        planes: 0,
        codewords: 0,
        block: NONE,
        ppa: NONE,
        to: NONE,
        to_page: 0,
        units: 0,
        bytes: 0,
        rebuild: NONE,
        tag: NONE,
        serial: u64::MAX,
    };

    /// Whether a unit elsewhere is rebuilt from what it reads.
    #[inline]
    pub(super) fn rebuilds(&self) -> bool {
        self.rebuild != NONE
    }

    /// The write unit that it programs, or reads for, or `NONE`: for observers.
    pub(super) fn write_unit(&self) -> u32 {
        if let Owner::WriteUnit(id) = self.owner { id } else { NONE }
    }
}

/// One flash operation.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Op {
    /// What was asked. A copyback turns to its second half on the way.
    pub cmd: FlashCommand,
    /// The channel of its unit.
    pub channel: u32,
    /// Whether the next channel use is the second one (data out, second command, data of a
    /// suspended program in again).
    pub second: bool,
    /// A read that was sensed along with another, whose data are still to go out.
    pub(super) along: bool,
    /// Next in the queue the operation waits in.
    pub(super) next: u32,
    /// Next of the operations that are done together with this one.
    pub(super) joined: u32,
    /// Order of arrival at the die.
    pub(super) arrived: u64,
    /// When it was queued at its die.
    pub entered: u64,
    /// When it got the channel first.
    pub started: u64,
    /// What it copied of the die's (then the channel's) account when it began to wait.
    pub(super) seen: [u64; SLOTS],
    /// Where its time went.
    pub ledger: Ledger,
}

impl Op {
    pub(super) fn blank() -> Op {
        Op {
            cmd: FlashCommand::BLANK,
            channel: 0,
            second: false,
            along: false,
            next: NONE,
            joined: NONE,
            arrived: 0,
            entered: 0,
            started: 0,
            seen: [0; SLOTS],
            ledger: Ledger::new(),
        }
    }

    /// Where the array time of its next step counts: read, program, erase. A copyback reads, then
    /// programs.
    #[inline]
    pub(super) fn counted(&self) -> usize {
        match self.cmd.kind {
            OpKind::Read => 0,
            OpKind::Program => 1,
            OpKind::Copyback => usize::from(self.second),
            OpKind::Erase => 2,
        }
    }
}
