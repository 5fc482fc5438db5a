//! A fixed pool of elements addressed by index; nothing is allocated after creation.

use serde::{Deserialize, Serialize};
use std::ops::{Index, IndexMut};

/// The pool.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Slab<T> {
    items: Vec<T>,
    spare: Vec<u32>,
}

impl<T: Clone> Slab<T> {
    /// `capacity` elements, all unused.
    pub fn new(capacity: usize, blank: T) -> Slab<T> {
        Slab { items: vec![blank; capacity], spare: (0..capacity as u32).rev().collect() }
    }

    /// An unused element, as it was left by its last user.
    ///
    /// # Panics
    /// When the pool is exhausted: its size is a bound that construction proved.
    #[inline]
    pub fn take(&mut self) -> u32 {
        self.spare.pop().expect("a pool is sized for the most that can be in use")
    }

    /// Give an element back.
    #[inline]
    pub fn give(&mut self, i: u32) {
        self.spare.push(i);
    }

    /// Elements in all.
    pub fn capacity(&self) -> u32 {
        self.items.len() as u32
    }

    /// Elements in use.
    pub fn used(&self) -> usize {
        self.items.len() - self.spare.len()
    }

    /// Whether all are in use.
    #[inline]
    pub fn is_exhausted(&self) -> bool {
        self.spare.is_empty()
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
