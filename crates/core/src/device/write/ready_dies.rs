//! The dies whose data in the write buffer fill a group (one write unit for each lane), in the order in which the
//! groups became complete.

use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// A FIFO of dies, each at most once.
#[derive(Serialize, Deserialize)]
pub(in crate::device) struct ReadyDies {
    queue: VecDeque<u32>,
    queued: Vec<bool>,
}

impl ReadyDies {
    /// Create the table for `dies` dies, of which none is ready.
    pub fn new(dies: u32) -> ReadyDies {
        ReadyDies { queue: VecDeque::with_capacity(dies as usize), queued: vec![false; dies as usize] }
    }

    /// Add a die at the end, unless it is there.
    pub fn push(&mut self, die: u32) {
        if !std::mem::replace(&mut self.queued[die as usize], true) {
            self.queue.push_back(die);
        }
    }

    /// The first die.
    pub fn first(&self) -> Option<u32> {
        self.queue.front().copied()
    }

    /// Take the first die.
    pub fn pop(&mut self) -> Option<u32> {
        let die = self.queue.pop_front()?;
        self.queued[die as usize] = false;
        Some(die)
    }

    /// Whether a die is there.
    pub fn has(&self, die: u32) -> bool {
        self.queued[die as usize]
    }
}
