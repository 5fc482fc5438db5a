//! What an onlooker is told of: every operation's steps on dies and channels, what closes dies
//! to the host, and what host requests and write units wait for.

use crate::nand::OpKind;
use strum::{IntoStaticStr, VariantNames};
use tailcut_units::{Command, Occupant, SimTime};

/// One step of a flash operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, IntoStaticStr, VariantNames)]
pub enum Step {
    /// The operation has its die.
    Granted,
    /// It gives its die back to something that goes first, before it has begun.
    Returned,
    /// A program or erase is done together with operation `by`, on other planes of the die: what
    /// is told of that one until it has left the array holds for both.
    Joined,
    /// Command cycles and, for a program, data in on the channel, until the given time.
    ChannelIn,
    /// Sense, program or erase in the array, until the given time.
    Array,
    /// Data out on the channel, until the given time.
    ChannelOut,
    /// Something urgent waits: the array goes on to the point where it may stop.
    Stopping,
    /// The array winds down to free the die, until the given time.
    Suspending,
    /// The die is free for others; the operation will resume.
    Suspended,
    /// What resuming costs before the array goes on, until the given time; or nothing yet,
    /// where data are to come in again first.
    Resuming,
}

/// A step as it begins, with the end it has unless it is interrupted: `Stopping`,
/// `Suspending` or `Suspended` cuts the `Array` or `Resuming` step of its operation short.
/// An `Array` step is told together with the `ChannelIn` before it, and a `Stopping` may
/// be told before that is over.
#[derive(Clone, Copy, Debug)]
pub struct StepEvent {
    /// Pool index of the operation: unique among those under way.
    pub op: u32,
    /// What it does in the array.
    pub kind: OpKind,
    /// On whose behalf.
    pub occupant: Occupant,
    /// Serial number of the host read it belongs to, `u64::MAX` for all other operations.
    pub request: u64,
    /// The operation that interrupts, with the first of `Stopping`, `Suspending` and
    /// `Suspended` that an interruption leads to; the one that is joined; else `u32::MAX`.
    pub by: u32,
    /// Busy unit (die, or plane where planes are the unit).
    pub unit: u32,
    /// Channel.
    pub channel: u32,
    /// Page in the block, 0 for an erase.
    pub page: u32,
    /// What begins.
    pub step: Step,
    /// When it begins.
    pub at: SimTime,
    /// When it ends; `at` for [`Step::Granted`], [`Step::Returned`], [`Step::Joined`] and
    /// [`Step::Suspended`].
    pub until: SimTime,
}

/// What happens to an operation before it has its die, and at its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, IntoStaticStr, VariantNames)]
pub enum QueueStep {
    /// It comes to its die, and gets it at once or queues there.
    Arrives,
    /// It leaves the die's queue: its turn has come, or it will not be.
    Leaves,
    /// It has left the queue to be done together with this operation.
    Joins(u32),
    /// It is back in the queue: something that goes first took its die before it had begun.
    Returns,
    /// It is over: its data are decoded, or the array is done.
    Ends,
}

/// An operation and where it stands in its die's queue.
#[derive(Clone, Copy, Debug)]
pub struct QueueEvent {
    /// Pool index of the operation: unique among those under way.
    pub op: u32,
    /// What it does in the array.
    pub kind: OpKind,
    /// On whose behalf.
    pub occupant: Occupant,
    /// Serial number of the host read it belongs to, `u64::MAX` for all other operations.
    pub request: u64,
    /// The reconstruction that its data go to, or `u32::MAX`.
    pub rebuild: u32,
    /// The write unit that it programs, or reads for, or `u32::MAX`.
    pub write_unit: u32,
    /// Busy unit.
    pub unit: u32,
    /// Channel.
    pub channel: u32,
    /// Planes it addresses.
    pub planes: u32,
    /// Codewords it moves on the channel.
    pub codewords: u32,
    /// Bytes of a host read that it brings; 0 if it serves a reconstruction alone.
    pub bytes: u32,
    /// What happens.
    pub step: QueueStep,
    /// When.
    pub at: SimTime,
}

/// A collection closes a busy unit to host operations, or opens it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, IntoStaticStr, VariantNames)]
pub enum Closing {
    /// One more collection closes it; it erases (`true`), or moves data.
    Closes(bool),
    /// One that closed it goes on from moving data to erasing.
    Erases,
    /// One collection fewer closes it; it erased (`true`), or moved data.
    Opens(bool),
}

/// How a host request fares between its submission and its completion.
#[derive(Clone, Copy, Debug, PartialEq, Eq, IntoStaticStr, VariantNames)]
pub enum RequestStep {
    /// The drive takes it in; the host wanted that at the given time.
    Submitted {
        /// What is asked.
        command: Command,
        /// When the host wanted to submit it.
        wanted: SimTime,
    },
    /// A read is translated; so many of its bytes come from the controller's memory.
    Translated(u64),
    /// A unit is computed from others instead of being read by operation `instead`.
    Rebuilds {
        /// Number of the reconstruction: unique among those under way.
        rebuild: u32,
        /// The operation that is given up, queued or not.
        instead: u32,
        /// Reads whose data it needs.
        members: u32,
        /// Bytes for the host.
        bytes: u32,
    },
    /// A reconstruction has its unit.
    Rebuilt(u32),
    /// A write that waits is looked at again: this program has ended, or (`u32::MAX`) a TRIM
    /// has made room.
    Room(u32),
    /// A write is wholly in the buffer; a TRIM or FLUSH is done.
    Held,
    /// The last unit of a write that is written through is programmed, by this operation.
    Programmed(u32),
}

/// A step of a host request.
#[derive(Clone, Copy, Debug)]
pub struct RequestEvent {
    /// Serial number.
    pub request: u64,
    /// When.
    pub at: SimTime,
    /// What happens.
    pub step: RequestStep,
}

/// How a write unit of host data fares before its program is queued.
#[derive(Clone, Copy, Debug, PartialEq, Eq, IntoStaticStr, VariantNames)]
pub enum WriteStep {
    /// Its data are complete.
    Ready,
    /// It waits for a free block; the die that is to free it has this busy unit (`u32::MAX`:
    /// any of several).
    Stalls(u32),
    /// It has a row; this operation is to program it.
    Placed(u32),
}

/// A step of a write unit, or of a stripe whose members are write units.
#[derive(Clone, Copy, Debug)]
pub struct WriteEvent {
    /// Number of the write unit or stripe: unique among those under way of its kind.
    pub number: u32,
    /// It is a stripe.
    pub stripe: bool,
    /// When.
    pub at: SimTime,
    /// What happens.
    pub step: WriteStep,
}

/// An onlooker. It cannot change anything; `()` looks away and costs nothing.
pub trait Observer {
    /// A step begins.
    #[inline]
    fn step(&mut self, _event: &StepEvent) {}

    /// An operation comes to a die, leaves its queue, or ends.
    #[inline]
    fn queued(&mut self, _event: &QueueEvent) {}

    /// A collection closes or opens this busy unit at this time.
    #[inline]
    fn closing(&mut self, _unit: u32, _at: SimTime, _closing: Closing) {}

    /// A host request comes in or goes on.
    #[inline]
    fn request(&mut self, _event: &RequestEvent) {}

    /// A write unit or a stripe goes on.
    #[inline]
    fn write_unit(&mut self, _event: &WriteEvent) {}
}

impl Observer for () {}

impl Observer for Vec<StepEvent> {
    fn step(&mut self, event: &StepEvent) {
        self.push(*event);
    }
}
