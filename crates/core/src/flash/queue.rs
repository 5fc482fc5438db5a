//! FIFO queues of operations, linked through the operations themselves.

use super::op::Op;
use crate::containers::NONE;
use crate::containers::slab::Slab;
use serde::{Deserialize, Serialize};

/// A FIFO of operations, linked through `Op::next` and `Op::prev`.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct Queue {
    pub head: u32,
    pub tail: u32,
}

impl Default for Queue {
    fn default() -> Queue {
        Queue { head: NONE, tail: NONE }
    }
}

impl Queue {
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.head == NONE
    }

    /// Put an operation at the end.
    #[inline]
    pub fn push_back(&mut self, ops: &mut Slab<Op>, op: u32) {
        self.insert_after(ops, self.tail, op);
    }

    /// Insert an operation after `before` (`NONE`: at the head).
    #[inline]
    pub fn insert_after(&mut self, ops: &mut Slab<Op>, before: u32, op: u32) {
        let place = if before == NONE { &mut self.head } else { &mut ops[before].next };
        let next = std::mem::replace(place, op);
        (ops[op].prev, ops[op].next) = (before, next);
        match next {
            NONE => self.tail = op,
            next => ops[next].prev = op,
        }
    }

    /// Insert an operation after those that arrived before it, of which there are few.
    pub fn insert_in_order(&mut self, ops: &mut Slab<Op>, op: u32) {
        let (mut before, mut next) = (NONE, self.head);
        while next != NONE && ops[next].arrived < ops[op].arrived {
            (before, next) = (next, ops[next].next);
        }
        self.insert_after(ops, before, op);
    }

    /// Take the operation at the head.
    #[inline]
    pub fn pop_front(&mut self, ops: &mut Slab<Op>) -> u32 {
        let op = self.head;
        self.unlink(ops, op);
        op
    }

    /// Remove an operation.
    #[inline]
    pub fn unlink(&mut self, ops: &mut Slab<Op>, op: u32) {
        let Op { prev, next, .. } = ops[op];
        match prev {
            NONE => self.head = next,
            prev => ops[prev].next = next,
        }
        match next {
            NONE => self.tail = prev,
            next => ops[next].prev = prev,
        }
    }

    /// The operations in the queue, in order.
    pub fn iter(self, ops: &Slab<Op>) -> impl Iterator<Item = u32> {
        let some = |id: u32| Some(id).filter(|&id| id != NONE);
        std::iter::successors(some(self.head), move |&id| some(ops[id].next))
    }
}
