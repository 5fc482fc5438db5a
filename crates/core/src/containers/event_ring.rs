//! A queue of events in the order of their times.

use super::timers::UNSET;
use serde::{Deserialize, Serialize};

/// An event of a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Event {
    /// When it happens, ns.
    pub at: u64,
    /// The server. Among events at the same time that of the lowest server goes first.
    pub slot: u32,
    /// What the server needs to know.
    pub item: u32,
}

impl Event {
    /// Stands behind the last event, so that taking an event needs no test for another one.
    const END: Event = Event { at: UNSET, slot: 0, item: 0 };

    /// What decides the order of events.
    #[inline]
    pub fn key(&self) -> (u64, u32) {
        (self.at, self.slot)
    }
}

/// A sorted queue. It reserves memory for as many events as it was made for, and touches as much as
/// it has needed.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(into = "Vec<Event>", from = "Vec<Event>")]
pub struct EventRing {
    /// A power of two of places, one more than there are events at least.
    places: Vec<Event>,
    head: usize,
    len: usize,
}

impl EventRing {
    /// Create an empty queue with room for `capacity` events. With more it allocates.
    pub fn new(capacity: usize) -> EventRing {
        let mut places = Vec::with_capacity((capacity + 1).next_power_of_two());
        places.push(Event::END);
        EventRing { places, head: 0, len: 0 }
    }

    /// Memory of the places, in bytes.
    pub fn bytes(&self) -> usize {
        self.places.len() * size_of::<Event>()
    }

    #[inline]
    fn place(&self, i: usize) -> usize {
        self.head.wrapping_add(i) & (self.places.len() - 1)
    }

    /// When the first event happens, and its server; ([`UNSET`], 0) if there is none.
    #[inline]
    pub fn first(&self) -> (u64, u32) {
        self.places[self.place(0)].key()
    }

    /// Add an event behind others, if there are some, none of them comes later, and there is room. Returns whether
    /// it was added.
    #[inline]
    pub fn append(&mut self, event: Event) -> bool {
        let last = &self.places[self.place(self.len.wrapping_sub(1))];
        if self.len == 0 || self.len + 1 >= self.places.len() || last.key() > event.key() {
            return false;
        }
        let (place, end) = (self.place(self.len), self.place(self.len + 1));
        self.places[place] = event;
        self.places[end] = Event::END;
        self.len += 1;
        true
    }

    /// Add an event. It is fast if few events come later. Returns whether it is the first.
    #[inline]
    pub fn insert(&mut self, event: Event) -> bool {
        let last = self.places[self.place(self.len.wrapping_sub(1))];
        let i = if self.len > 0 && last.key() > event.key() { self.make_room(&event) } else { self.len };
        let place = self.place(i);
        self.places[place] = event;
        self.len += 1;
        self.end();
        i == 0
    }

    /// Move the events that come after this one, and return its place among them.
    fn make_room(&mut self, event: &Event) -> usize {
        let mut i = self.len;
        while i > 0 && self.places[self.place(i - 1)].key() > event.key() {
            let (from, to) = (self.place(i - 1), self.place(i));
            self.places[to] = self.places[from];
            i -= 1;
        }
        i
    }

    /// Put the end behind the last event.
    #[inline]
    fn end(&mut self) {
        if self.len == self.places.len() {
            self.grow();
        }
        let end = self.place(self.len);
        self.places[end] = Event::END;
    }

    #[cold]
    fn grow(&mut self) {
        self.places.rotate_left(self.head);
        self.head = 0;
        self.places.resize(2 * self.len, Event::END);
    }

    /// Take the first event.
    ///
    /// # Panics
    /// If there is none.
    #[inline]
    pub fn pop(&mut self) -> Event {
        let event = self.places[self.place(0)];
        self.head = self.place(1);
        self.len = self.len.checked_sub(1).expect("the queue has an event");
        event
    }

    /// The events in order.
    pub fn iter(&self) -> impl Iterator<Item = &Event> {
        (0..self.len).map(|i| &self.places[self.place(i)])
    }
}

impl From<Vec<Event>> for EventRing {
    fn from(events: Vec<Event>) -> EventRing {
        let (len, mut places) = (events.len(), events);
        // Saved events are in order. Damaged ones may be in any order, in which inserting one by one would take long.
        places.sort_by_key(Event::key);
        places.resize((len + 1).next_power_of_two(), Event::END);
        EventRing { places, head: 0, len }
    }
}

impl From<EventRing> for Vec<Event> {
    fn from(ring: EventRing) -> Vec<Event> {
        ring.iter().copied().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Compare with a list that is sorted after each step.
        #[test]
        fn events_are_in_order(
            capacity in 0..4usize,
            steps in prop::collection::vec((0..4usize, 0..9u64), 0..100),
        ) {
            let mut ring = EventRing::new(capacity);
            let mut model: Vec<Event> = Vec::new();
            for (slot, (step, at)) in (0..).zip(steps) {
                match step {
                    0 if !model.is_empty() => prop_assert_eq!(ring.pop(), model.remove(0)),
                    _ => {
                        let event = Event { at, slot, item: slot / 2 };
                        model.push(event);
                        model.sort_by_key(Event::key);
                        let last = model.len() > 1 && model.last() == Some(&event);
                        let room = ring.len + 1 < ring.places.len();
                        let appended = step == 3 && ring.append(event);
                        prop_assert_eq!(appended, step == 3 && last && room);
                        prop_assert!(appended || ring.insert(event) == (model[0] == event));
                    }
                }
                prop_assert_eq!(ring.iter().copied().collect::<Vec<_>>(), &model[..]);
                prop_assert_eq!(ring.first(), model.first().map_or((UNSET, 0), Event::key));
                let restored = EventRing::from(Vec::from(ring.clone()));
                prop_assert!(restored.iter().eq(&model));
            }
        }
    }

    #[test]
    #[should_panic(expected = "the queue has an event")]
    fn an_empty_queue_gives_nothing() {
        EventRing::new(3).pop();
    }
}
