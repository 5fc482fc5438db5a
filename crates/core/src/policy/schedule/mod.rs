//! Which queued operation a die (or plane) executes next.

pub mod channel_reads;
pub mod external;
pub mod fifo;
pub mod ranked;
pub mod read_priority;
pub mod read_write_erase;

use super::PolicyContext;
use tailcut_units::{ArrayAct, Occupant, Occupants};

/// The queues of one die: a FIFO for each kind of work.
#[derive(Clone, Copy, Debug)]
pub struct QueueView<'a> {
    /// The kinds of work whose queue is not empty and may be served now; at least one.
    pub waiting: Occupants,
    /// Whether a lane on this die is short of space, as `gc_schedule` says.
    pub urgent: bool,
    /// Arrival number of the head of each queue, smaller if it arrived earlier; valid only for the
    /// queues in `waiting`.
    pub arrived: &'a [u64; Occupant::COUNT],
}

/// The contract: `next` names a queue that is not empty, and does not depend on time.
/// `first_on_channel` and `interrupters` are fixed for the drive's life. `interrupters` is empty
/// for reads. It holds host operations only, and `next` serves each of them before the kind of work
/// that it may interrupt.
pub trait Schedule {
    /// The queue whose head is served now.
    fn next(&mut self, view: &QueueView<'_>) -> Occupant;
    /// Whether this kind of work goes first on the channel too; host reads, unless a member says otherwise.
    fn first_on_channel(&self, occupant: Occupant) -> bool {
        occupant == Occupant::UserRead
    }
    /// The kinds of work that may interrupt this kind, where `suspend_program` and
    /// `suspend_erase` let it be interrupted; host reads, unless a member says otherwise.
    fn interrupters(&self, holder: Occupant) -> Occupants {
        match holder.act() {
            ArrayAct::Read => Occupants::NONE,
            ArrayAct::Program | ArrayAct::Erase => Occupant::UserRead.only(),
        }
    }
    /// Whether no other work may begin on the dies of a channel while a host read waits for one of them. This never
    /// changes in a drive.
    fn reads_close_channel(&self) -> bool {
        false
    }
    /// Whether a die with a collection under way holds back other work: host programs begin only while programs of a
    /// collection wait and `next` chooses the host program, and erases begin only while none of its collections is
    /// moving data. This never changes in a drive.
    fn collections_hold_programs(&self) -> bool {
        false
    }
}

/// The queue of the set `among` whose head arrived first. The set must not be empty.
#[inline]
fn earliest(among: Occupants, arrived: &[u64; Occupant::COUNT]) -> Occupant {
    let first = |o: &Occupant| arrived[*o as usize];
    among.iter().min_by_key(first).expect("something waits")
}

family! {
    key: "schedule",
    decides: "Which queued operation a die executes next.",
    config: ScheduleConfig,
    policy: SchedulePolicy: Schedule,
    context: PolicyContext,
    members: {
        fifo Fifo "fifo",
        read_priority ReadPriority "read-priority",
        read_write_erase ReadWriteErase "read-write-erase",
        channel_reads ChannelReads "channel-reads",
        ranked Ranked "ranked",
    }
    outside: {
        external External "external",
    }
    answers: {
        fn first_on_channel(occupant: Occupant) -> bool;
        fn interrupters(holder: Occupant) -> Occupants;
        fn reads_close_channel() -> bool;
        fn collections_hold_programs() -> bool;
    }
    changes: {
        fn next(view: &QueueView<'_>) -> Occupant;
    }
}
