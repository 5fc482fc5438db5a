//! The next operation of a die (or plane) among those queued on it.

pub mod channel_reads;
pub mod fifo;
pub mod read_priority;
pub mod read_write_erase;

use super::PolicyContext;
use tailcut_units::Occupant;

/// What waits at one die: a FIFO queue for each kind of work.
#[derive(Clone, Copy, Debug)]
pub struct QueueView<'a> {
    /// Bit `o` is set when the queue of `Occupant` `o` is not empty. Never 0.
    pub waiting: u8,
    /// A collection on this die is short of space.
    pub urgent: bool,
    /// Arrival order of each queue's head, smaller first; only where `waiting` is set.
    pub arrived: &'a [u64; Occupant::COUNT],
}

/// The contract: `next` names a queue whose bit is set, and does not depend on time;
/// `interrupters` is fixed for the drive's life, 0 for reads, and host operations only,
/// each of which `next` puts before what it may interrupt.
pub trait Schedule {
    /// The queue whose head is served now.
    fn next(&mut self, view: &QueueView<'_>) -> Occupant;
    /// Whether this kind of work goes first on the channel too.
    fn first_on_channel(&mut self, occupant: Occupant) -> bool;
    /// The kinds of work (bit `o` for `Occupant` `o`) that may interrupt this kind, where
    /// `suspend_program` and `suspend_erase` let it be interrupted.
    fn interrupters(&mut self, holder: Occupant) -> u8;
    /// Whether a host read that waits for a die keeps all other work from beginning on the
    /// dies of its channel; fixed for the drive's life.
    fn reads_close_channel(&mut self) -> bool {
        false
    }
}

/// The queue with the earliest head among those in `mask`.
#[inline]
fn earliest(mask: u8, arrived: &[u64; Occupant::COUNT]) -> Occupant {
    let mut left = mask;
    let mut best = left.trailing_zeros() as usize;
    left &= left - 1;
    while left != 0 {
        let i = left.trailing_zeros() as usize;
        left &= left - 1;
        if arrived[i] < arrived[best] {
            best = i;
        }
    }
    Occupant::ALL[best]
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
    methods: {
        fn next(view: &QueueView<'_>) -> Occupant;
        fn first_on_channel(occupant: Occupant) -> bool;
        fn interrupters(holder: Occupant) -> u8;
        fn reads_close_channel() -> bool;
    }
}
