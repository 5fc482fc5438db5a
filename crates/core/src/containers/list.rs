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
    /// The element before, or `NONE`.
    pub fn previous(&self) -> u32 {
        self.previous
    }

    /// Whether both ends of a restored link are among `n` elements.
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
    /// Whether the ends and the length of a restored list fit `n` elements.
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

    /// Whether the list is empty.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The element behind `i`, or `NONE`.
    #[inline]
    pub fn after(&self, links: &[Link], i: u32) -> u32 {
        links[i as usize].next
    }

    /// Return the elements from front to back, for an audit that checks the length and the tail.
    ///
    /// # Errors
    /// Names the list (`name`) if its length, its tail or an element is wrong, or if it is a ring.
    pub fn walk(&self, links: &[Link], name: &str) -> Result<Vec<u32>, String> {
        let mut out = Vec::new();
        let mut at = self.head;
        while at != NONE {
            law!(out.len() < links.len(), "{name} is a ring");
            out.push(at);
            let link = links.get(at as usize);
            at = link.ok_or_else(|| format!("{name} has element {at} of {}", links.len()))?.next;
        }
        law!(out.len() as u32 == self.len, "{name} has {} elements and says {}", out.len(), self.len);
        law!(out.last().copied().unwrap_or(NONE) == self.tail, "{name} ends elsewhere than its tail");
        Ok(out)
    }

    /// Append element `i`.
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

    /// Remove element `i`, which must be in this list.
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

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::VecDeque;

    const ELEMENTS: u32 = 7;

    proptest! {
        /// Compare two lists over one set of links with two queues. An element is in at most one of
        /// them.
        #[test]
        fn lists_are_queues_from_which_any_element_can_go(
            steps in prop::collection::vec((0..ELEMENTS, 0..2usize), 0..200),
        ) {
            let mut links = vec![Link::default(); ELEMENTS as usize];
            let mut lists = [List::default(); 2];
            let mut queues = [VecDeque::new(), VecDeque::new()];
            for (element, to) in steps {
                match (0..2).find(|&q: &usize| queues[q].contains(&element)) {
                    Some(q) => {
                        lists[q].remove(&mut links, element);
                        queues[q].retain(|&e| e != element);
                    }
                    None => {
                        lists[to].push_back(&mut links, element);
                        queues[to].push_back(element);
                    }
                }
                for (list, queue) in lists.iter().zip(&queues) {
                    prop_assert_eq!(list.len() as usize, queue.len());
                    prop_assert_eq!(list.is_empty(), queue.is_empty());
                    prop_assert_eq!(list.head(), queue.front().copied().unwrap_or(NONE));
                    prop_assert_eq!(list.tail(), queue.back().copied().unwrap_or(NONE));
                    let mut at = list.head();
                    for &element in queue {
                        prop_assert_eq!(at, element);
                        at = list.after(&links, at);
                    }
                    prop_assert_eq!(at, NONE);
                    // The ends and the length decide the least number of elements that a restored
                    // list fits.
                    let ends = [list.head(), list.tail()].into_iter().filter(|&e| e != NONE);
                    let most = ends.max().map_or(0, |e| e as usize + 1).max(queue.len());
                    prop_assert!(list.is_inside(most) && (most == 0 || !list.is_inside(most - 1)));
                }
            }
        }
    }

    #[test]
    fn a_link_is_inside_when_both_its_ends_are() {
        let mut links = vec![Link::default(); 3];
        let mut list = List::default();
        for i in [2, 0, 1] {
            list.push_back(&mut links, i);
        }
        // Element 0, in the middle, has the neighbours 2 and 1.
        assert!(links[0].is_inside(3) && !links[0].is_inside(2));
        assert!(links[2].is_inside(1) && !links[2].is_inside(0), "only 0 follows it");
        assert!(links[1].is_inside(1) && !links[1].is_inside(0), "only 0 precedes it");
        assert!(Link::default().is_inside(0));
    }
}
