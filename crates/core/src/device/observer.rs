//! What an onlooker is told of: every operation's steps on dies and channels.

use tailcut_units::{Occupant, SimTime};

/// One step of a flash operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// The operation has its die.
    Granted,
    /// Command cycles and, for a program, data in on the channel, until the given time.
    ChannelIn,
    /// Sense, program or erase in the array, until the given time.
    Array,
    /// Data out on the channel, until the given time.
    ChannelOut,
}

/// A step as it begins; all its times are known then.
#[derive(Clone, Copy, Debug)]
pub struct StepEvent {
    /// Pool index of the operation: unique among those under way.
    pub op: u32,
    /// On whose behalf.
    pub occupant: Occupant,
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
    /// When it ends; `at` for [`Step::Granted`].
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
