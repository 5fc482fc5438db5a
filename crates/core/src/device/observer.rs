//! What an onlooker is told of: every operation's steps on dies and channels.

use super::op::OpKind;
use tailcut_units::{Occupant, SimTime};

/// One step of a flash operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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

/// An onlooker. It cannot change anything; `()` looks away and costs nothing.
pub trait Observer {
    /// A step begins.
    #[inline]
    fn step(&mut self, _event: &StepEvent) {}
}

impl Observer for () {}

impl Observer for Vec<StepEvent> {
    fn step(&mut self, event: &StepEvent) {
        self.push(*event);
    }
}
