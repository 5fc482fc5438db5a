//! The bus of one channel.

use super::account::DieTimes;
use super::op::Op;
use super::queue::Queue;
use crate::containers::NONE;
use crate::containers::slab::Slab;
use crate::nand::OpKind;
use crate::nand::config::ChannelOrder;
use serde::{Deserialize, Serialize};
use tailcut_units::{Occupant, Occupants};

/// Time of a channel so far by occupant, ns.
pub type Spent = [u64; Occupant::COUNT];

/// Number of queues of a channel, served first to last. Two properties of an operation decide its queue: whether its
/// kind of work has channel priority, and whether the purpose for which it needs the channel comes later in
/// `channel.order`.
const QUEUES: usize = 4;

/// The queue in which an operation waits for its channel.
pub(super) struct Grants {
    /// The purposes that come later, as a mask of the bits of [`need`].
    later: u8,
    /// The offset of the queue for a later purpose, and for work without priority. The property with offset 2 decides
    /// first.
    steps: [usize; 2],
    /// The kinds of work with channel priority.
    pub first: Occupants,
}

impl Grants {
    pub fn new(order: ChannelOrder, first: Occupants) -> Grants {
        let out = need(true, OpKind::Read);
        let later = match order {
            ChannelOrder::Arrival => 0,
            ChannelOrder::CommandsFirst => out | need(false, OpKind::Program) | need(true, OpKind::Program),
            ChannelOrder::DataFirst => !(out | need(true, OpKind::Copyback)),
        };
        // MQSim brings out all sensed data before any command. A controller that sends commands first, as SSDSim, does
        // so among operations of the same priority.
        let steps = if order == ChannelOrder::CommandsFirst { [1, 2] } else { [2, 1] };
        Grants { later, steps, first }
    }

    /// The queue of an operation.
    #[inline]
    pub fn queue(&self, op: &Op) -> usize {
        let later = self.later & need(op.second, op.cmd.kind) != 0;
        let last = !self.first.has(op.cmd.occupant);
        usize::from(later) * self.steps[0] + usize::from(last) * self.steps[1]
    }
}

/// The bit for the purpose for which an operation needs the channel. `second`: the operation has used the channel
/// before. A read then transfers its data out, a suspended program its data again, and a copyback its second command.
#[inline]
fn need(second: bool, kind: OpKind) -> u8 {
    1 << (kind as u8 * 2 + u8::from(second))
}

/// The bus of one channel.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Channel {
    pub busy_until: u64,
    /// Whether the event at `busy_until` is set. It is set if operations wait for the channel or for the die whose data
    /// it transfers, or if the data are decoded at that time. It stays set if the last waiter leaves.
    pub awaited: bool,
    /// The busy unit whose last data are transferred by `busy_until`, or `NONE`.
    pub out: u32,
    /// The read that is decoded at `busy_until`, or `NONE`.
    pub decoded: u32,
    /// The occupant whose transfer ends at `busy_until`.
    occupant: u8,
    /// Host reads queued at dies of the channel.
    pub reads: u32,
    /// Operations that wait for the channel, in the queues that [`Grants`] names, and which of them are not empty.
    waiting: [Queue; QUEUES],
    in_use: u8,
    /// Time granted so far by occupant, ns. A grant counts in full when it begins.
    pub granted: Spent,
    /// The part of the granted time in which the channel stalled because the decoder was full, ns.
    pub stalled: u64,
}

impl Channel {
    /// Create an idle channel.
    pub fn new() -> Channel {
        Channel {
            busy_until: 0,
            awaited: false,
            out: NONE,
            decoded: NONE,
            occupant: 0,
            reads: 0,
            waiting: [Queue::default(); QUEUES],
            in_use: 0,
            granted: [0; Occupant::COUNT],
            stalled: 0,
        }
    }

    /// Whether an operation that needs the channel gets it at once.
    #[inline]
    pub fn is_free(&self, now: u64) -> bool {
        self.busy_until <= now && !self.awaited && !self.has_waiters()
    }

    #[inline]
    pub fn has_waiters(&self) -> bool {
        self.in_use != 0
    }

    /// Let an operation wait in this queue.
    #[inline]
    pub fn push(&mut self, queue: usize, ops: &mut Slab<Op>, id: u32) {
        self.waiting[queue].push_back(ops, id);
        self.in_use |= 1 << queue;
    }

    /// Whether a host operation has the channel.
    pub fn serves_host(&self, now: u64) -> bool {
        self.busy_until > now && Occupants::HOST.has(Occupant::ALL[self.occupant as usize])
    }

    /// Take the next operation to use the channel.
    #[inline]
    pub fn take_next(&mut self, ops: &mut Slab<Op>) -> u32 {
        let first = self.in_use.trailing_zeros() as usize % QUEUES;
        let queue = &mut self.waiting[first];
        let id = queue.pop_front(ops);
        if queue.is_empty() {
            self.in_use &= !(1 << first);
        }
        id
    }

    /// Take out an operation that waits in this queue.
    pub fn remove(&mut self, queue: usize, ops: &mut Slab<Op>, id: u32) {
        self.waiting[queue].unlink(ops, id);
        if self.waiting[queue].is_empty() {
            self.in_use &= !(1 << queue);
        }
    }

    /// The queues, for the audit, each with whether it is marked as not empty.
    pub fn queues(&self) -> impl Iterator<Item = (usize, Queue, bool)> {
        (0..).zip(self.waiting).map(|(i, queue)| (i, queue, self.in_use & 1 << i != 0))
    }

    /// The time spent up to `now`: the granted time without the rest of the present transfer.
    #[inline]
    pub fn spent(&self, now: u64) -> Spent {
        let mut spent = self.granted;
        spent[self.occupant as usize] -= self.busy_until.saturating_sub(now);
        spent
    }

    #[inline]
    pub fn occupy(&mut self, occupant: Occupant, now: u64, span: u64) {
        debug_assert!(now >= self.busy_until, "a channel moves one thing at a time");
        self.busy_until = now + span;
        self.out = NONE;
        self.occupant = occupant as u8;
        self.granted[occupant as usize] += span;
    }
}

/// The part of an operation's copy of a die's account that also serves as its copy of a channel's times.
#[inline]
pub(super) fn part(seen: &DieTimes) -> &Spent {
    seen.first_chunk().expect("a die's account is longer")
}

/// Whether a collection has had the channel between two copies of its times.
#[inline]
pub(super) fn met_collection(after: &Spent, before: &Spent) -> bool {
    const OF_COLLECTION: [Occupant; Occupants::COLLECTION.count()] = Occupants::COLLECTION.to_array();
    OF_COLLECTION.map(|o| o as usize).into_iter().fold(0, |met, i| met | (after[i] ^ before[i])) != 0
}
