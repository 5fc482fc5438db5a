//! The bus of one channel.

use super::op::Op;
use super::queue::Queue;
use crate::containers::slab::Slab;
use serde::{Deserialize, Serialize};
use tailcut_units::{Occupant, Occupants};

/// Time of a channel so far by occupant, ns.
pub type Spent = [u64; Occupant::COUNT];

/// The bus of one channel.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Channel {
    pub busy_until: u64,
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
    /// The occupants that have had the channel since its first waiter began to wait, and the one
    /// before them.
    changed: Occupants,
}

impl Channel {
    #[inline]
    pub fn has_waiters(&self) -> bool {
        !self.first.is_empty() || !self.rest.is_empty()
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

    /// The time spent as of `now`, for an operation that begins to wait; `first`: no other waits.
    #[inline]
    pub fn begin_wait(&mut self, first: bool, now: u64) -> Spent {
        if first {
            self.changed = Occupant::ALL[usize::from(self.occupant)].only();
        }
        self.spent(now)
    }

    /// The occupants that may have had the channel since an operation began to wait, by
    /// [`Channel::begin_wait`].
    #[inline]
    pub fn changed(&self) -> Occupants {
        self.changed
    }

    #[inline]
    pub fn occupy(&mut self, occupant: Occupant, now: u64, span: u64) {
        debug_assert!(now >= self.busy_until, "a channel moves one thing at a time");
        self.busy_until = now + span;
        self.occupant = occupant as u8;
        self.changed.insert(occupant);
        self.granted[occupant as usize] += span;
    }
}
