//! Queues of commands, ordered by the time at which each continues.

use crate::containers::NONE;
use crate::containers::few_timers::FewTimers;
use crate::containers::timers::UNSET;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// A FIFO of commands with non-decreasing times, and the timer of the first one.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Ring {
    queue: VecDeque<(u64, u32)>,
    timer: usize,
}

impl Ring {
    /// An empty queue for at most `depth` commands.
    pub fn new(depth: u32, timer: usize) -> Ring {
        Ring { queue: VecDeque::with_capacity(depth as usize + 1), timer }
    }

    /// Add the command in this slot, which continues at `at`.
    #[inline]
    pub fn push(&mut self, timers: &mut FewTimers, at: u64, id: u32) {
        debug_assert!(self.queue.back().is_none_or(|&(last, _)| last <= at), "a FIFO server keeps order");
        debug_assert_ne!(id, NONE);
        if self.queue.is_empty() {
            timers.set(self.timer, at);
        }
        self.queue.push_back((at, id));
    }

    /// Take the first command. Its timer has fired.
    #[inline]
    pub fn pop(&mut self, timers: &mut FewTimers) -> u32 {
        let (_, id) = self.queue.pop_front().expect("the timer is set only while the ring holds something");
        timers.set(self.timer, self.queue.front().map_or(UNSET, |&(next, _)| next));
        id
    }

    /// Times and slots, in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (u64, u32)> {
        self.queue.iter().copied()
    }

    /// Check that the times are not before `now` and do not decrease, and that the timer is that of the first command.
    ///
    /// # Errors
    /// The first law that it breaks.
    pub fn audit(&self, timers: &FewTimers, now: u64) -> Result<(), String> {
        let timer = self.timer;
        law!(
            timers.is_set(timer) != self.queue.is_empty(),
            "timer {timer} and its ring of {}",
            self.queue.len()
        );
        let mut last = now;
        for (at, _) in self.iter() {
            law!(at >= last, "ring {timer} runs backwards to {at}");
            last = at;
        }
        Ok(())
    }
}
