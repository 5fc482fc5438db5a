//! FIFO queues of operations, linked through the operations themselves.

use super::op::Op;
use crate::containers::NONE;
use crate::containers::slab::Slab;
use serde::{Deserialize, Serialize};

/// A FIFO of operations, linked through `Op::next`.
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
        ops[op].next = NONE;
        match self.tail {
            NONE => self.head = op,
            tail => ops[tail].next = op,
        }
        self.tail = op;
    }

    /// Put an operation behind `before` (`NONE`: at the head).
    pub fn insert_after(&mut self, ops: &mut Slab<Op>, before: u32, op: u32) {
        let place = if before == NONE { &mut self.head } else { &mut ops[before].next };
        let next = std::mem::replace(place, op);
        ops[op].next = next;
        if next == NONE {
            self.tail = op;
        }
    }

    /// Put an operation behind those that arrived before it, which are few.
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
        self.unlink(ops, NONE, op);
        op
    }

    /// Take an operation out, from behind `before` (`NONE`: the operation is the head).
    #[inline]
    pub fn unlink(&mut self, ops: &mut Slab<Op>, before: u32, op: u32) {
        let next = ops[op].next;
        match before {
            NONE => self.head = next,
            before => ops[before].next = next,
        }
        if next == NONE {
            self.tail = before;
        }
    }

    /// Take out an operation that may be anywhere in the queue.
    pub fn remove(&mut self, ops: &mut Slab<Op>, op: u32) {
        let (mut before, mut at) = (NONE, self.head);
        while at != op {
            (before, at) = (at, ops[at].next);
        }
        self.unlink(ops, before, op);
    }

    /// The operations in the queue, in order.
    pub fn iter(self, ops: &Slab<Op>) -> impl Iterator<Item = u32> {
        let some = |id: u32| Some(id).filter(|&id| id != NONE);
        std::iter::successors(some(self.head), move |&id| some(ops[id].next))
    }
}
