//! The events reported to an observer: the steps of every operation on dies and channels, the
//! collections that close dies to the host, and the waits of host requests and write units.

use crate::address::BusyUnit;
use crate::nand::{ErasePart, OpKind};
use serde::{Deserialize, Serialize};
use strum::{IntoStaticStr, VariantNames};
use tailcut_units::{Cause, Command, Occupant, SimTime};

/// One step of a flash operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, IntoStaticStr, VariantNames)]
pub enum Step {
    /// The operation gets its die.
    Granted,
    /// The operation loses its die, or its cache register, to an operation with channel priority, before its own
    /// command is sent.
    Returned,
    /// The program gets the cache register of its die, in whose array another program is running. It asks for the
    /// channel. [`Step::Granted`] follows when the other program has ended; a `ChannelIn` step comes then at the
    /// latest.
    Cached,
    /// A program or erase runs together with operation `by`, on other planes of the die. The steps
    /// reported for `by` until it leaves the array apply to both.
    Joined,
    /// Command cycles and, for a program, data transfer to the die, until the given time.
    ChannelIn,
    /// Sense, program or erase in the array, until the given time.
    Array,
    /// Data transfer out of the die, until the given time.
    ChannelOut,
    /// Decoding of the last codeword of a read of pages with raw bit errors, and the prediction if the controller makes
    /// one, until the given time. Reported together with the `ChannelOut` step before it.
    Decode,
    /// A speculative sense: the die has begun to sense the page again at the end of the last sense. This step is
    /// reported together with the `ChannelOut` step. It lasts until the data are decoded or, if the sense is not
    /// needed, until the sense is dropped. If it is needed, an `Array` step follows for the rest of the sense.
    Ahead,
    /// An operation that may interrupt this one waits. The array continues to the suspend point,
    /// until the given time.
    Stopping,
    /// The operation is being suspended, until the given time.
    Suspending,
    /// The die is free for others; the operation will resume.
    Suspended,
    /// The operation is being resumed, until the given time. If a program's data must be
    /// transferred again first, `until` is `at`, and a `ChannelIn` step follows.
    Resuming,
}

/// A step, reported when it begins, with its planned end. A later `Stopping`, `Suspending` or
/// `Suspended` step ends the `Array` or `Resuming` step of the same operation early. An `Array`
/// step is reported together with the `ChannelIn` step before it, so a `Stopping` step may be
/// reported before that `ChannelIn` step ends.
#[derive(Clone, Copy, Debug)]
pub struct StepEvent {
    /// Pool index of the operation: unique among those under way.
    pub op: u32,
    /// The kind of array operation.
    pub kind: OpKind,
    /// On whose behalf the operation runs.
    pub occupant: Occupant,
    /// Serial number of the host read that the operation serves, `u64::MAX` for all other
    /// operations.
    pub request: u64,
    /// With the first `Stopping`, `Suspending` or `Suspended` step of an interruption: the
    /// operation that interrupts. With `Joined`: the operation that is joined. Otherwise
    /// `u32::MAX`.
    pub by: u32,
    /// Busy unit (die, or plane if planes work independently).
    pub unit: BusyUnit,
    /// Channel.
    pub channel: u32,
    /// Planes of the die that are addressed, as a mask.
    pub planes: u32,
    /// Page in the block, 0 for an erase.
    pub page: u32,
    /// The step that begins.
    pub step: Step,
    /// When the step begins.
    pub at: SimTime,
    /// When the step ends; `at` for [`Step::Granted`], [`Step::Cached`], [`Step::Returned`],
    /// [`Step::Joined`] and [`Step::Suspended`].
    pub until: SimTime,
}

/// What happens to an operation before it has its die, and at its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, IntoStaticStr, VariantNames)]
pub enum QueueStep {
    /// The operation is submitted at its die. It gets the die at once, or it is queued.
    Arrives,
    /// The operation leaves the die's queue, because it is dispatched, joins another or is
    /// withdrawn.
    Leaves,
    /// The operation has left the queue and joins this operation.
    Joins(u32),
    /// The operation is back in the queue: an operation with channel priority took its die before
    /// its own command was sent.
    Returns,
    /// The data of the read could not be decoded. It is queued again, for the planes and codewords of this
    /// event.
    Retries,
    /// The data of the read could not be decoded. Its die, which it still has, has begun to sense the planes of this
    /// event again.
    SensesOn,
    /// The operation has ended: a read is decoded, any other operation has left the array.
    Ends,
    /// The operation has ended as [`QueueStep::Ends`] says, and has failed on at least one plane.
    Fails,
}

/// A queue step of an operation.
#[derive(Clone, Copy, Debug)]
pub struct QueueEvent {
    /// Pool index of the operation: unique among those under way.
    pub op: u32,
    /// The kind of array operation.
    pub kind: OpKind,
    /// On whose behalf the operation runs.
    pub occupant: Occupant,
    /// Serial number of the host read that the operation serves, `u64::MAX` for all other
    /// operations.
    pub request: u64,
    /// The reconstruction that needs the data of the read, or `u32::MAX`.
    pub rebuild: u32,
    /// The write unit that the operation programs or reads for, or `u32::MAX`.
    pub write_unit: u32,
    /// Busy unit.
    pub unit: BusyUnit,
    /// Extent of blocks that is read, programmed or erased, whole or in part.
    pub extent: u32,
    /// Channel.
    pub channel: u32,
    /// Planes of the die that are addressed, as a mask.
    pub planes: u32,
    /// Erases: which loops it makes.
    pub part: ErasePart,
    /// Number of codewords moved on the channel.
    pub codewords: u32,
    /// Bytes for the host; 0 for a read that serves a reconstruction alone.
    pub bytes: u32,
    /// The queue step.
    pub step: QueueStep,
    /// When the step happens.
    pub at: SimTime,
}

/// A change to the collections that close a busy unit to host operations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, IntoStaticStr, VariantNames)]
pub enum Closing {
    /// One more collection closes the busy unit. It erases (`true`) or moves data (`false`).
    Closes(bool),
    /// A collection that closes the busy unit changes from moving data to erasing.
    Erases,
    /// One collection fewer closes the busy unit. It erased (`true`) or moved data (`false`).
    Opens(bool),
}

/// A step of a host request between its submission and its completion.
#[derive(Clone, Copy, Debug, PartialEq, Eq, IntoStaticStr, VariantNames)]
pub enum RequestStep {
    /// The drive accepts the request.
    Submitted {
        /// The host's command.
        command: Command,
        /// When the host wanted to submit the request.
        wanted: SimTime,
    },
    /// A read is translated. The value is the number of its bytes that need no flash read, because
    /// they are in the write buffer or unmapped.
    Translated(u64),
    /// A unit is reconstructed from the rest of its stripe instead of being read by operation
    /// `instead`.
    Rebuilds {
        /// Number of the reconstruction: unique among those under way.
        rebuild: u32,
        /// The read that is replaced, whether it was queued or not yet submitted.
        instead: u32,
        /// Number of reads whose data the reconstruction needs.
        members: u32,
        /// Bytes for the host.
        bytes: u32,
    },
    /// This reconstruction has computed its unit, or has failed and the unit is in memory meanwhile.
    Rebuilt(u32),
    /// A reconstruction has failed: a member of the stripe could not be read.
    RebuildFails {
        /// The reconstruction.
        rebuild: u32,
        /// The read of the unit itself that follows; `u32::MAX` if the unit is not returned.
        instead: u32,
    },
    /// A read has failed, and a unit of it is read elsewhere, or the controller has it.
    ReadsElsewhere {
        /// The read that has failed.
        instead: u32,
        /// The read that follows; `u32::MAX` if the unit is in memory.
        read: u32,
        /// Bytes for the host.
        bytes: u32,
    },
    /// pblk: all reads of a request have ended, and it reads in another way what it did not get.
    ReadsAgain,
    /// The data of this read could not be decoded, and nothing replaces it. `u32::MAX`: none of the
    /// request's data can be read, so nothing was.
    Unreadable(u32),
    /// A waiting write is tried again, because this program has ended or (`u32::MAX`) a TRIM has
    /// made room.
    Room(u32),
    /// A write with forced unit access is wholly in the buffer, and waits until its data are on flash.
    Forced,
    /// From now on the first write that waits before pblk's ring waits for this.
    Waits(RingWait),
    /// A command that returns no data is done: a write is wholly in the buffer (or, written
    /// through, on flash), a TRIM or FLUSH is complete, or the address was out of range.
    Held,
    /// The last unit of a write that is written through was programmed by this operation.
    Programmed(u32),
}

/// For what a write waits before pblk's ring.
#[derive(Clone, Copy, Debug, PartialEq, Eq, IntoStaticStr, VariantNames, Serialize, Deserialize)]
pub enum RingWait {
    /// The rate limiter holds users back.
    Admission,
    /// Programs ahead are under way.
    Room,
    /// The writer waits for a LUN.
    Lun,
    /// The writer waits at the gate of a stride.
    Gate,
}

impl RingWait {
    /// The cause that is charged.
    pub fn cause(self) -> Cause {
        match self {
            RingWait::Admission => Cause::ADMISSION,
            RingWait::Room => Cause::RING_ROOM,
            RingWait::Lun => Cause::LUN_SEMAPHORE,
            RingWait::Gate => Cause::WRITE_GATE,
        }
    }
}

/// A step of a host request.
#[derive(Clone, Copy, Debug)]
pub struct RequestEvent {
    /// Serial number.
    pub request: u64,
    /// When the step happens.
    pub at: SimTime,
    /// The step.
    pub step: RequestStep,
}

/// A step of a write unit of host data before its program is queued.
#[derive(Clone, Copy, Debug, PartialEq, Eq, IntoStaticStr, VariantNames)]
pub enum WriteStep {
    /// The data of the write unit are complete.
    Ready,
    /// The write unit waits for a free block. The value is the busy unit on which a collection is
    /// to free it (`NONE`: any of several).
    Stalls(BusyUnit),
    /// A write unit, or a member of a stripe, has a row, and waits for the last loop of its extent's erase.
    Held {
        /// Number of the write unit.
        write_unit: u32,
        /// The busy unit that is erased (`NONE`: there are several).
        unit: BusyUnit,
    },
    /// The write unit has a row, and this operation will program it. A member of a stripe that was held is identified
    /// by the number of its write unit.
    Placed(u32),
}

/// A step of a write unit, or of a stripe whose members are write units.
#[derive(Clone, Copy, Debug)]
pub struct WriteEvent {
    /// Number of the write unit or stripe: unique among those under way of its kind.
    pub number: u32,
    /// Whether `number` is that of a stripe.
    pub stripe: bool,
    /// When the step happens.
    pub at: SimTime,
    /// The step.
    pub step: WriteStep,
}

/// A change of what the drive can do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// Planes die.
    PlanesDie {
        /// The first of them, counted over the drive by channel, die and plane.
        first: u32,
        /// Their number.
        count: u32,
    },
    /// The drive becomes read-only.
    ReadOnly,
    /// The rate limiter of pblk sets other limits.
    Limits {
        /// Slots of the ring that users may have.
        users: u32,
        /// Slots that collection may have.
        collection: u32,
        /// Chunks free.
        free: u32,
    },
    /// Hot and cold lines of pblk have other LUNs from now on.
    HotShare {
        /// LUNs of a hot line.
        hot: u32,
        /// LUNs of a cold line.
        cold: u32,
    },
}

/// An observer of the drive. It cannot change the drive. `()` ignores all events and costs nothing.
pub trait Observer {
    /// A step of an operation begins.
    #[inline]
    fn step(&mut self, _event: &StepEvent) {}

    /// An operation arrives at a die, leaves the die's queue, or ends.
    #[inline]
    fn queued(&mut self, _event: &QueueEvent) {}

    /// At this time the collections that close this busy unit change.
    #[inline]
    fn closing(&mut self, _unit: BusyUnit, _at: SimTime, _closing: Closing) {}

    /// A step of a host request.
    #[inline]
    fn request(&mut self, _event: &RequestEvent) {}

    /// A step of a write unit or a stripe.
    #[inline]
    fn write_unit(&mut self, _event: &WriteEvent) {}

    /// At this time what the drive can do changes.
    #[inline]
    fn changes(&mut self, _at: SimTime, _change: Change) {}
}

impl Observer for () {}

impl Observer for Vec<StepEvent> {
    fn step(&mut self, event: &StepEvent) {
        self.push(*event);
    }
}
