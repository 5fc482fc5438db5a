//! The next operation of a die (or plane) among those queued on it.

pub mod channel_reads;
pub mod fifo;
pub mod read_priority;
pub mod read_write_erase;

use super::PolicyContext;
use tailcut_units::{Occupant, Occupants};

/// What waits at one die: a FIFO queue for each kind of work.
#[derive(Clone, Copy, Debug)]
pub struct QueueView<'a> {
    /// The kinds of work whose queue is not empty: at least one.
    pub waiting: Occupants,
    /// A collection on this die is short of space.
    pub urgent: bool,
    /// Arrival order of each queue's head, smaller first; only for what waits.
    pub arrived: &'a [u64; Occupant::COUNT],
}

/// The contract: `next` names a queue that is not empty, and does not depend on time;
/// `first_on_channel` and `interrupters` are fixed for the drive's life. `interrupters` is empty for
/// reads, and holds host operations only, each of which `next` puts before what it may interrupt.
pub trait Schedule {
    /// The queue whose head is served now.
    fn next(&mut self, view: &QueueView<'_>) -> Occupant;
    /// Whether this kind of work goes first on the channel too.
    fn first_on_channel(&self, occupant: Occupant) -> bool;
    /// The kinds of work that may interrupt this kind, where `suspend_program` and
    /// `suspend_erase` let it be interrupted.
    fn interrupters(&self, holder: Occupant) -> Occupants;
    /// Whether a host read that waits for a die keeps all other work from beginning on the
    /// dies of its channel; fixed for the drive's life.
    fn reads_close_channel(&self) -> bool {
        false
    }
}

/// The queue with the earliest head among those of a set that is not empty.
#[inline]
fn earliest(among: Occupants, arrived: &[u64; Occupant::COUNT]) -> Occupant {
    let first = |o: &Occupant| arrived[*o as usize];
    among.iter().min_by_key(first).expect("something waits")
}

family! {
    key: "schedule",
    decides: "The next operation of a die among those queued on it.",
    config: ScheduleConfig,
    policy: SchedulePolicy: Schedule,
    context: PolicyContext,
    members: {
        fifo Fifo "fifo",
        read_priority ReadPriority "read-priority",
        read_write_erase ReadWriteErase "read-write-erase",
        channel_reads ChannelReads "channel-reads",
    }
    answers: {
        fn first_on_channel(occupant: Occupant) -> bool;
        fn interrupters(holder: Occupant) -> Occupants;
        fn reads_close_channel() -> bool;
    }
    changes: {
        fn next(view: &QueueView<'_>) -> Occupant;
    }
}
