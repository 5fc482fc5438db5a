//! The bus of one channel.

use super::account::Held;
use super::op::Op;
use super::queue::Queue;
use crate::containers::NONE;
use crate::containers::slab::Slab;
use serde::{Deserialize, Serialize};
use tailcut_units::{Occupant, Occupants};

/// Time of a channel so far by occupant, ns.
pub type Spent = [u64; Occupant::COUNT];

/// The bus of one channel.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Channel {
    pub busy_until: u64,
    /// Whether the event at `busy_until` is set: operations wait for the channel, or for the die
    /// whose data it transfers, or the data are then decoded. It stays set if the last waiter leaves.
    pub awaited: bool,
    /// The busy unit whose last data leave it by `busy_until`, or `NONE`.
    pub out: u32,
    /// The read that is decoded at `busy_until`, or `NONE`.
    pub decoded: u32,
    /// The occupant whose transfer ends at `busy_until`.
    occupant: u8,
    /// Host reads queued at dies of the channel.
    pub reads: u32,
    /// Operations that wait for the channel: those with channel priority, and the rest.
    pub first: Queue,
    pub rest: Queue,
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
            first: Queue::default(),
            rest: Queue::default(),
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
        !self.first.is_empty() || !self.rest.is_empty()
    }

    /// Whether a host operation has the channel.
    pub fn serves_host(&self, now: u64) -> bool {
        self.busy_until > now && Occupants::HOST.has(Occupant::ALL[self.occupant as usize])
    }

    /// Take the next operation to use the channel.
    #[inline]
    pub fn take_next(&mut self, ops: &mut Slab<Op>) -> u32 {
        let queue = if self.first.is_empty() { &mut self.rest } else { &mut self.first };
        queue.pop_front(ops)
    }

    /// The time spent as of `now`: the time granted without the rest of the transfer under way.
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

/// The part of the copy of a die's account in which an operation keeps the copy of a channel's times.
#[inline]
pub(super) fn part(seen: &Held) -> &Spent {
    seen.first_chunk().expect("a die's account is longer")
}

/// Whether a collection has had the channel between two copies of its times.
#[inline]
pub(super) fn met_collection(after: &Spent, before: &Spent) -> bool {
    let of_collection = [Occupant::GcRead, Occupant::GcProgram, Occupant::Erase].map(|o| o as usize);
    of_collection.into_iter().fold(0, |met, i| met | (after[i] ^ before[i])) != 0
}
