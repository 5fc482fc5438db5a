//! Flash operations: the controller's command, and the state of its execution.

use super::account::SLOTS;
use crate::address::{BusyUnit, Ppa};
use crate::containers::NONE;
use crate::nand::{ErasePart, OpKind};
use serde::{Deserialize, Serialize};
use tailcut_units::{Ledger, Occupant};

/// The number of an operation of the flash: unique among those under way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct OpId(pub(super) u32);

impl OpId {
    /// The number that observers see.
    #[inline]
    pub fn number(self) -> u32 {
        self.0
    }

    /// The operation with a number that [`OpId::number`] gave.
    #[inline]
    pub fn of(number: u32) -> OpId {
        OpId(number)
    }

    /// The operation of a link; `None` for `NONE`.
    #[inline]
    pub(super) fn of_link(link: u32) -> Option<OpId> {
        if link == NONE { None } else { Some(OpId(link)) }
    }
}

/// The purpose of an operation. Only the controller knows the meaning of the numbers; the flash carries them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Owner {
    /// A part of the controller.
    pub part: u32,
    /// A piece of work of that part.
    pub id: u32,
}

/// Define the purposes of a controller's operations: an enum whose kinds have the number of a piece of work
/// (`Kind(id)`) or none, with conversions to and from [`Owner`]. The position of a kind in the list is the `part` of
/// its owners. Snapshots contain it, so new kinds go last.
macro_rules! owners {
    (@number $id:ident) => { u32 };
    (@id $id:ident) => { $id };
    (@id) => { 0 };
    ($(#[$doc:meta])* $vis:vis enum $work:ident {
        $($(#[$kind_doc:meta])* $kind:ident $(($id:ident))?,)+
    }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        $vis enum $work {
            $($(#[$kind_doc])* $kind $(($crate::flash::owners!(@number $id)))?,)+
        }

        const _: () = {
            /// The parts, by their numbers.
            #[derive(Clone, Copy)]
            enum Part { $($kind,)+ }

            impl From<$work> for $crate::flash::Owner {
                #[inline]
                fn from(work: $work) -> $crate::flash::Owner {
                    let (part, id) = match work {
                        $($work::$kind $(($id))? => (Part::$kind, $crate::flash::owners!(@id $($id)?)),)+
                    };
                    $crate::flash::Owner { part: part as u32, id }
                }
            }

            impl From<$crate::flash::Owner> for $work {
                #[inline]
                fn from(owner: $crate::flash::Owner) -> $work {
                    match owner.part {
                        $(part if part == Part::$kind as u32 => {
                            $(let $id = owner.id;)?
                            $work::$kind $(($id))?
                        })+
                        part => unreachable!("there is no part {part}"),
                    }
                }
            }
        };
    };
}
pub(crate) use owners;

/// The units of its row that an operation is for, or the destination of a copyback.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Target {
    /// The whole row on all planes addressed. For host reads: the units that the command asks for, which the flash need
    /// not know.
    Row,
    /// Reads of selected units: a mask of the units from the command's `ppa` on.
    Units(u64),
    /// Copybacks: the row that is programmed.
    Copy(CopyTo),
}

/// The row that a copyback programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CopyTo {
    /// Its first physical unit.
    pub ppa: Ppa,
    /// The page.
    pub page: u32,
    /// The index of the block, under the same conditions as in the command.
    pub block: u32,
}

/// A command of the controller to the flash.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct FlashCommand {
    /// What the array does.
    pub kind: OpKind,
    /// On whose behalf the operation runs.
    pub occupant: Occupant,
    /// Erases: the loops that it executes. Only erases whose pulses a scheme chooses have parts.
    pub part: ErasePart,
    /// The purpose of the operation.
    pub owner: Owner,
    /// For observers: the write unit for which it programs or reads, or `NONE`.
    pub write_unit: u32,
    /// The busy unit: a die, or a plane if planes work independently.
    pub unit: BusyUnit,
    /// Page in the block; 0 for an erase.
    pub page: u32,
    /// Planes addressed, as a mask.
    pub planes: u32,
    /// Number of codewords moved on the channel.
    pub codewords: u32,
    /// Index of the block in its plane, the same in all planes addressed. It is needed for erases,
    /// for programs if their time depends on it, and for all operations if the flash has faults.
    pub block: u32,
    /// The extent addressed. The flash carries it for the controller, which counts readers and rows of
    /// extents. An erase may cover only a part of it.
    pub extent: u32,
    /// First physical unit of the row that is read or programmed, or of the part that is read.
    pub ppa: Ppa,
    /// The units that it is for, or the destination of a copyback.
    pub target: Target,
    /// Reads for a host command: bytes for the host; 0 if the read serves a reconstruction alone.
    pub bytes: u32,
    /// Reads for a host command: the reconstruction that needs the data, or `NONE`.
    pub rebuild: u32,
    /// Reads for a host command: the tag under which the command is tracked
    /// ([`super::Flash::track`]).
    pub tag: u32,
    /// Reads for a host command: its serial number, for observers; else `u64::MAX`.
    pub serial: u64,
}

impl FlashCommand {
    /// A blank command, to be filled in.
    pub const BLANK: FlashCommand = FlashCommand {
        kind: OpKind::Read,
        occupant: Occupant::UserRead,
        part: ErasePart::Whole,
        owner: Owner { part: NONE, id: NONE },
        write_unit: NONE,
        unit: BusyUnit(0),
        page: 0,
        planes: 0,
        codewords: 0,
        block: NONE,
        extent: NONE,
        ppa: Ppa::NONE,
        target: Target::Row,
        bytes: 0,
        rebuild: NONE,
        tag: NONE,
        serial: u64::MAX,
    };

    /// The mask of the units that a read has selected, from `ppa` on.
    #[inline]
    pub fn units(&self) -> u64 {
        let Target::Units(mask) = self.target else { panic!("{:?} has no units", self.kind) };
        mask
    }

    /// The mask of the units that a read has selected, for changes.
    #[inline]
    pub fn units_mut(&mut self) -> &mut u64 {
        let Target::Units(mask) = &mut self.target else { panic!("{:?} has no units", self.kind) };
        mask
    }

    /// Whether it is for a unit of its row.
    #[inline]
    pub fn is_for(&self, unit: Ppa) -> bool {
        match self.target {
            Target::Units(mask) => {
                unit >= self.ppa && unit - self.ppa < u64::BITS && mask >> (unit - self.ppa) & 1 == 1
            }
            Target::Row | Target::Copy(_) => true,
        }
    }

    /// The row that a copyback programs.
    #[inline]
    pub fn copy_to(&self) -> CopyTo {
        let Target::Copy(to) = self.target else { panic!("{:?} copies nothing", self.kind) };
        to
    }

    /// Number of planes addressed.
    #[inline]
    pub(super) fn plane_count(&self) -> u32 {
        // Most operations address one plane. Counting bits takes longer if the processor has no instruction for it. (A
        // compiler that recognises a test for a power of two counts bits in either case.)
        if self.has_one_plane() { 1 } else { self.planes.count_ones() }
    }

    /// Whether one plane is addressed.
    #[inline]
    pub(super) fn has_one_plane(&self) -> bool {
        self.planes != 0 && self.planes.ilog2() == self.planes.trailing_zeros()
    }

    /// Whether a reconstruction needs the data that it reads.
    #[inline]
    pub(super) fn rebuilds(&self) -> bool {
        self.rebuild != NONE
    }
}

/// One flash operation.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Op {
    /// The command. A copyback changes its occupant and page when its second half begins.
    pub cmd: FlashCommand,
    /// The channel of its unit.
    pub channel: u32,
    /// Whether the next channel use is the second one: data out, the second command of a copyback,
    /// or the repeated data transfer of a suspended program.
    pub second: bool,
    /// Whether this read was sensed together with another and its data are still to be transferred.
    pub(super) along: bool,
    /// The next operation in the same queue.
    pub(super) next: u32,
    /// The previous operation in the same queue.
    pub(super) prev: u32,
    /// The next queued host read that may have the same page index.
    pub(super) alike: u32,
    /// Next of the operations that joined.
    pub(super) joined: u32,
    /// Order of arrival at the die.
    pub(super) arrived: u64,
    /// When it was queued at its die.
    pub entered: u64,
    /// When the channel was granted for its last command. For a cached program, the later wait for the program in the
    /// array is added.
    pub started: u64,
    /// Copy of the die's account (later of the channel's), taken when the operation began to wait.
    pub(super) seen: [u64; SLOTS],
    /// Latency by cause.
    pub ledger: Ledger,
    /// The planes of the die whose pages could not be read, as a mask; valid after the sense.
    pub unread: u32,
    /// The planes of the die on which the program or erase has failed, as a mask; valid after its end.
    pub failed: u32,
}

impl Op {
    pub(super) fn blank() -> Op {
        Op {
            cmd: FlashCommand::BLANK,
            channel: 0,
            second: false,
            along: false,
            next: NONE,
            prev: NONE,
            alike: NONE,
            joined: NONE,
            arrived: 0,
            entered: 0,
            started: 0,
            seen: [0; SLOTS],
            ledger: Ledger::new(),
            unread: 0,
            failed: 0,
        }
    }

    /// Index of the array time of the next step in the counters: 0 read, 1 program, 2 erase. A
    /// copyback reads, then programs.
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

#[cfg(test)]
mod tests {
    use super::Owner;

    owners! {
        /// Two kinds with a number, and one without between them.
        enum Work {
            First(id),
            Alone,
            Last(place),
        }
    }

    #[test]
    fn owners_are_numbered_in_the_order_of_the_list_and_come_back() {
        for (work, part, id) in [(Work::First(7), 0, 7), (Work::Alone, 1, 0), (Work::Last(9), 2, 9)] {
            assert_eq!(Owner::from(work), Owner { part, id });
            assert_eq!(Work::from(Owner { part, id }), work);
        }
    }
}
