//! A fixed pool of elements addressed by index. It allocates nothing after construction.

use serde::{Deserialize, Serialize};
use std::ops::{Index, IndexMut};

/// The pool. It reserves memory for all elements, but an element that was never in use has not been
/// written: the system provides no memory for it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Slab<T> {
    /// The elements that were in use at some time.
    items: Vec<T>,
    /// Those of them that are unused now; the last one is taken first.
    spare: Vec<u32>,
    capacity: u32,
    /// The value of a new element. It is rarely needed, so it is not among the fields that are.
    blank: Box<T>,
}

impl<T: Clone> Slab<T> {
    /// Create a pool of `capacity` unused elements.
    pub fn new(capacity: usize, blank: T) -> Slab<T> {
        let (items, spare) = (Vec::with_capacity(capacity), Vec::with_capacity(capacity));
        Slab { items, spare, capacity: capacity as u32, blank: Box::new(blank) }
    }

    /// Take an unused element. It has the value that its last user left. A pool that was restored
    /// from a snapshot may allocate.
    ///
    /// # Panics
    /// If the pool is exhausted. Construction sizes it for the largest number that can be in use.
    #[inline]
    pub fn take(&mut self) -> u32 {
        match self.spare.pop() {
            Some(i) => i,
            None => self.add(),
        }
    }

    /// Take an element that was never in use.
    #[cold]
    #[inline(never)]
    fn add(&mut self) -> u32 {
        let i = self.items.len() as u32;
        assert!(i < self.capacity, "a pool is sized for the most that can be in use");
        self.items.push(T::clone(&self.blank));
        i
    }

    /// Give an element back.
    #[inline]
    pub fn give(&mut self, i: u32) {
        self.spare.push(i);
    }

    /// Number of elements, used or not.
    pub fn capacity(&self) -> u32 {
        self.capacity
    }

    /// Memory of the elements that were in use at some time, in bytes.
    pub fn bytes(&self) -> usize {
        self.items.len() * (size_of::<T>() + size_of::<u32>())
    }

    /// Number of elements in use.
    pub fn used(&self) -> usize {
        self.items.len() - self.spare.len()
    }

    /// Whether all elements are in use.
    #[inline]
    pub fn is_exhausted(&self) -> bool {
        self.spare.is_empty() && self.items.len() as u32 == self.capacity
    }

    /// The indices in use, for diagnosis.
    pub fn in_use(&self) -> Vec<u32> {
        let mut used = vec![true; self.items.len()];
        for &i in &self.spare {
            used[i as usize] = false;
        }
        (0..self.items.len() as u32).filter(|&i| used[i as usize]).collect()
    }
}

impl<T> Index<u32> for Slab<T> {
    type Output = T;
    #[inline]
    fn index(&self, i: u32) -> &T {
        &self.items[i as usize]
    }
}

impl<T> IndexMut<u32> for Slab<T> {
    #[inline]
    fn index_mut(&mut self, i: u32) -> &mut T {
        &mut self.items[i as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Compare with a vector of what each element holds and a stack of the unused elements.
        #[test]
        fn elements_are_taken_last_given_first_and_keep_what_they_held(
            capacity in 0..6usize,
            steps in prop::collection::vec((any::<bool>(), any::<usize>(), any::<u64>()), 0..100),
        ) {
            let mut slab = Slab::new(capacity, 7u64);
            let mut held = vec![7u64; capacity];
            let mut unused: Vec<u32> = (0..capacity as u32).rev().collect();
            let mut used: Vec<u32> = Vec::new();
            for (take, pick, value) in steps {
                if take && !unused.is_empty() {
                    let i = slab.take();
                    prop_assert_eq!(Some(i), unused.pop());
                    prop_assert_eq!(slab[i], held[i as usize], "as its last user left it");
                    slab[i] = value;
                    held[i as usize] = value;
                    used.push(i);
                } else if !take && !used.is_empty() {
                    let i = used.swap_remove(pick % used.len());
                    slab.give(i);
                    unused.push(i);
                }
                prop_assert_eq!(slab.capacity() as usize, capacity);
                prop_assert_eq!(slab.items.capacity(), capacity, "it has not grown");
                prop_assert_eq!(slab.used(), used.len());
                prop_assert_eq!(slab.is_exhausted(), unused.is_empty());
                let mut sorted = used.clone();
                sorted.sort_unstable();
                prop_assert_eq!(slab.in_use(), sorted);
                for &i in &used {
                    prop_assert_eq!(slab[i], held[i as usize]);
                }
            }
        }
    }

    #[test]
    #[should_panic(expected = "sized for the most")]
    fn an_exhausted_pool_gives_nothing() {
        let mut slab = Slab::new(1, ());
        slab.take();
        slab.take();
    }
}
