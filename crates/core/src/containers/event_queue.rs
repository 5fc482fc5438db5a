//! The events to come of many servers.
//!
//! Most events come a fixed time after they are set, so that their order is that of setting them.
//! They wait in queues, where setting and firing one takes the same short time whatever the number
//! of servers. Events that may be moved or cancelled have timers in a tree.

use super::event_ring::{Event, EventRing};
use super::fronts::Fronts;
use super::timers::{Timers, UNSET};
use serde::{Deserialize, Serialize};

/// Number of queues.
pub const QUEUES: usize = 7;

/// The lane of [`Fronts`] for the tree; queue `i` has lane `i`.
const TREE: usize = QUEUES;

/// The source of the next event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// The head of this queue.
    Queue(usize),
    /// The timer of this slot.
    Timer(usize),
}

/// Timers and queues of events.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct EventQueue {
    timers: Timers,
    queues: [EventRing; QUEUES],
    fronts: Fronts,
}

impl EventQueue {
    /// Create an empty queue with timers for `slots` servers. `capacity` is the largest number of
    /// events in one of the queues; with more a queue allocates.
    pub fn new(slots: usize, capacity: usize) -> EventQueue {
        EventQueue {
            timers: Timers::new(slots),
            queues: std::array::from_fn(|_| EventRing::new(capacity)),
            fronts: Fronts::default(),
        }
    }

    /// When the next event happens, ns; [`UNSET`] if there is none.
    #[inline]
    pub fn next_at(&self) -> u64 {
        self.fronts.first().1
    }

    /// The source of the next event.
    #[inline]
    pub fn next(&self) -> Source {
        match self.fronts.first().0 {
            TREE => Source::Timer(self.timers.first().0),
            queue => Source::Queue(queue),
        }
    }

    /// Set or move the timer of a slot.
    #[inline]
    pub fn set(&mut self, slot: usize, at: u64) {
        self.timers.set(slot, at);
        let (first, at) = self.timers.first();
        self.fronts.set(TREE, at, first as u32);
    }

    /// Unset the timer of a slot.
    #[inline]
    pub fn clear(&mut self, slot: usize) {
        self.set(slot, UNSET);
    }

    /// Whether the timer of a slot is set.
    #[inline]
    pub fn is_set(&self, slot: usize) -> bool {
        self.timers.is_set(slot)
    }

    /// Add an event to a queue. It is fast if few events of the queue come later. (Its parts are passed in registers;
    /// an event would be written to memory, and read from there in other pieces.)
    #[inline]
    pub fn push(&mut self, queue: usize, at: u64, slot: u32, item: u32) {
        if !self.queues[queue].append(Event { at, slot, item }) {
            self.insert(queue, at, slot, item);
        }
    }

    #[inline(never)]
    fn insert(&mut self, queue: usize, at: u64, slot: u32, item: u32) {
        if self.queues[queue].insert(Event { at, slot, item }) {
            self.fronts.set(queue, at, slot);
        }
    }

    /// Take the next event of a queue.
    ///
    /// # Panics
    /// If the queue is empty.
    #[inline]
    pub fn pop(&mut self, queue: usize) -> Event {
        let event = self.queues[queue].pop();
        let (at, slot) = self.queues[queue].first();
        self.fronts.set(queue, at, slot);
        event
    }

    /// Memory of the timers and of the queues at their largest, in bytes.
    pub fn bytes(&self) -> usize {
        self.timers.bytes() + self.queues.iter().map(EventRing::bytes).sum::<usize>()
    }

    /// The events of a queue, in order.
    pub fn queue(&self, queue: usize) -> impl Iterator<Item = &Event> {
        self.queues[queue].iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Compare with a list of all events that is searched for the first.
        #[test]
        fn events_come_in_order_of_time_and_slot(
            steps in prop::collection::vec((0..3usize, 0..QUEUES, 0..9u64, 0..6u32), 0..200),
        ) {
            let mut events = EventQueue::new(6, 4);
            let mut timers = [UNSET; 6];
            let mut queued: Vec<(usize, Event)> = Vec::new();
            for (step, queue, at, slot) in steps {
                let item = queued.len() as u32;
                match step {
                    0 => {
                        timers[slot as usize] = at;
                        events.set(slot as usize, at);
                    }
                    1 if queued.iter().all(|q| (q.0, q.1.slot) != (queue, slot)) => {
                        let event = Event { at, slot, item };
                        queued.push((queue, event));
                        events.push(queue, at, slot, item);
                    }
                    _ => {
                        let timer = (0..6).map(|slot| (timers[slot], slot as u32)).min().unwrap();
                        let first = queued.iter().map(|q| (q.1.at, q.1.slot)).min().unwrap_or((UNSET, 0));
                        prop_assert_eq!(events.next_at(), first.0.min(timer.0));
                        if events.next_at() == UNSET {
                            continue;
                        }
                        match events.next() {
                            Source::Timer(slot) => {
                                prop_assert_eq!((timer.0, slot as u32), timer.min(first));
                                timers[slot] = UNSET;
                                events.clear(slot);
                            }
                            Source::Queue(queue) => {
                                let event = events.pop(queue);
                                prop_assert_eq!((event.at, event.slot), timer.min(first));
                                let place = queued.iter().position(|q| *q == (queue, event));
                                queued.remove(place.expect("it was queued"));
                            }
                        }
                    }
                }
                prop_assert!((0..6).all(|slot| events.is_set(slot) == (timers[slot] != UNSET)));
            }
        }
    }
}
