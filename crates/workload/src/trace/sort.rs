//! Sorts a trace that is nearly in time order, in bounded memory.

use super::decode::Entry;
use super::record::TraceCounts;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

/// Holds records until no older record can follow: until the newest record is later by
/// more than the window, or too many records are held. Records of equal times keep the
/// file's order.
///
/// Records in order go through a queue; only records out of order use a heap.
pub(crate) struct Sorter {
    window_ns: u64,
    records_max: usize,
    ordered: VecDeque<(u64, Entry)>,
    stragglers: BinaryHeap<Reverse<Straggler>>,
    next_number: u64,
    newest: u64,
    newest_place: u64,
    released: u64,
}

/// A record jumps back further in time than the window allows.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TooLate {
    /// The length of the jump, in ns.
    pub back: u64,
    /// The place of the newest record.
    pub newest: u64,
}

struct Straggler {
    number: u64,
    entry: Entry,
}

impl Straggler {
    fn key(&self) -> (u64, u64) {
        (self.entry.record.time, self.number)
    }
}

impl PartialEq for Straggler {
    fn eq(&self, other: &Straggler) -> bool {
        self.key() == other.key()
    }
}

impl Eq for Straggler {}

impl PartialOrd for Straggler {
    fn partial_cmp(&self, other: &Straggler) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Straggler {
    fn cmp(&self, other: &Straggler) -> std::cmp::Ordering {
        self.key().cmp(&other.key())
    }
}

impl Sorter {
    /// `records_max` must be at least 1.
    pub fn new(window_ns: u64, records_max: usize) -> Sorter {
        Sorter {
            window_ns,
            records_max,
            ordered: VecDeque::new(),
            stragglers: BinaryHeap::new(),
            next_number: 0,
            newest: 0,
            newest_place: 0,
            released: 0,
        }
    }

    /// Add a record. Fails if a later record was already released, or if the jump back
    /// exceeds the window.
    #[inline]
    pub fn push(&mut self, entry: Entry, counts: &mut TraceCounts) -> Result<(), TooLate> {
        let time = entry.record.time;
        let number = self.next_number;
        self.next_number += 1;
        if time >= self.newest {
            (self.newest, self.newest_place) = (time, entry.place);
            self.ordered.push_back((number, entry));
            return Ok(());
        }
        let back = self.newest - time;
        if back > self.window_ns || time < self.released {
            return Err(TooLate { back, newest: self.newest_place });
        }
        counts.reordered += 1;
        counts.backward_max_ns = counts.backward_max_ns.max(back);
        self.stragglers.push(Reverse(Straggler { number, entry }));
        Ok(())
    }

    /// Remove and return the oldest record, if no older record can follow.
    #[inline]
    pub fn pop_settled(&mut self) -> Option<Entry> {
        let oldest = self.oldest()?;
        let settled = self.newest - oldest > self.window_ns || self.len() >= self.records_max;
        if settled { self.pop() } else { None }
    }

    /// Remove and return the oldest record.
    #[inline]
    pub fn pop(&mut self) -> Option<Entry> {
        let entry = match (self.ordered.front(), self.stragglers.peek()) {
            (None, None) => return None,
            (Some(&(number, entry)), straggler)
                if straggler.is_none_or(|s| (entry.record.time, number) < s.0.key()) =>
            {
                self.ordered.pop_front();
                entry
            }
            _ => self.stragglers.pop()?.0.entry,
        };
        self.released = entry.record.time;
        Some(entry)
    }

    fn len(&self) -> usize {
        self.ordered.len() + self.stragglers.len()
    }

    #[inline]
    fn oldest(&self) -> Option<u64> {
        let ordered = self.ordered.front().map(|(_, e)| e.record.time);
        let straggler = self.stragglers.peek().map(|s| s.0.entry.record.time);
        match (ordered, straggler) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        }
    }
}
