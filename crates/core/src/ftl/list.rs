//! Doubly linked lists through indices, without allocation.

use super::NONE;
use serde::{Deserialize, Serialize};

/// The links of one element in one list.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Link {
    previous: u32,
    next: u32,
}

impl Default for Link {
    fn default() -> Link {
        Link { previous: NONE, next: NONE }
    }
}

impl Link {
    /// Whether a restored link stays among `n` elements.
    pub fn is_inside(&self, n: usize) -> bool {
        [self.previous, self.next].iter().all(|&i| i == NONE || (i as usize) < n)
    }
}

/// The ends and length of a list; its links live in a slice beside the elements.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct List {
    head: u32,
    tail: u32,
    len: u32,
}

impl Default for List {
    fn default() -> List {
        List { head: NONE, tail: NONE, len: 0 }
    }
}

impl List {
    /// Whether a restored list stays among `n` elements.
    pub fn is_inside(&self, n: usize) -> bool {
        self.len as usize <= n && [self.head, self.tail].iter().all(|&i| i == NONE || (i as usize) < n)
    }

    /// The element at the front, or `NONE`.
    #[inline]
    pub fn head(&self) -> u32 {
        self.head
    }

    /// The element at the back, or `NONE`.
    #[inline]
    pub fn tail(&self) -> u32 {
        self.tail
    }

    /// Number of elements.
    #[inline]
    pub fn len(&self) -> u32 {
        self.len
    }

    /// Whether there is none.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The element behind `i`, or `NONE`.
    #[inline]
    pub fn after(&self, links: &[Link], i: u32) -> u32 {
        links[i as usize].next
    }

    /// Append.
    #[inline]
    pub fn push_back(&mut self, links: &mut [Link], i: u32) {
        links[i as usize] = Link { previous: self.tail, next: NONE };
        match self.tail {
            NONE => self.head = i,
            tail => links[tail as usize].next = i,
        }
        self.tail = i;
        self.len += 1;
    }

    /// Unlink; `i` must be in this list.
    #[inline]
    pub fn remove(&mut self, links: &mut [Link], i: u32) {
        let Link { previous, next } = links[i as usize];
        match previous {
            NONE => self.head = next,
            p => links[p as usize].next = next,
        }
        match next {
            NONE => self.tail = previous,
            n => links[n as usize].previous = previous,
        }
        self.len -= 1;
    }
}
