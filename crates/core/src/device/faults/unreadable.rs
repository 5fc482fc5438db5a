//! The units on flash whose last read failed.

use crate::address::Ppa;
use crate::ftl::layout::Layout;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::ops::RangeBounds;

/// A set of addresses. It costs little to ask for one in an extent that has none.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(in crate::device) struct Unreadable {
    units: BTreeSet<Ppa>,
    /// By extent: the number of its units in the set. Empty until the first unit joins.
    in_extent: Vec<u32>,
}

impl Unreadable {
    pub fn is_empty(&self) -> bool {
        self.units.is_empty()
    }

    pub fn len(&self) -> usize {
        self.units.len()
    }

    /// Whether the set has a unit of this extent.
    #[inline]
    pub fn touches(&self, extent: u32) -> bool {
        self.in_extent.get(extent as usize).is_some_and(|&units| units > 0)
    }

    #[inline]
    pub fn contains(&self, layout: &Layout, ppa: Ppa) -> bool {
        let (extent, _) = layout.extent_of(ppa);
        self.touches(extent) && self.units.contains(&ppa)
    }

    pub fn insert(&mut self, layout: &Layout, ppa: Ppa) {
        let (extent, _) = layout.extent_of(ppa);
        self.in_extent.resize(layout.extents() as usize, 0);
        self.in_extent[extent as usize] += u32::from(self.units.insert(ppa));
    }

    pub fn remove(&mut self, layout: &Layout, ppa: Ppa) {
        let (extent, _) = layout.extent_of(ppa);
        if self.touches(extent) {
            self.in_extent[extent as usize] -= u32::from(self.units.remove(&ppa));
        }
    }

    /// Remove the units of an extent. Returns whether there were any.
    pub fn remove_extent(&mut self, layout: &Layout, extent: u32) -> bool {
        if !self.touches(extent) {
            return false;
        }
        let first = Ppa(extent * layout.units_per_extent);
        let gone: Vec<Ppa> = self.range(first..first + layout.units_per_extent).collect();
        for ppa in gone {
            self.units.remove(&ppa);
        }
        self.in_extent[extent as usize] = 0;
        true
    }

    /// The units, in order.
    pub fn iter(&self) -> impl Iterator<Item = Ppa> + '_ {
        self.units.iter().copied()
    }

    /// The units of a range of addresses, in order.
    pub fn range(&self, range: impl RangeBounds<Ppa>) -> impl Iterator<Item = Ppa> + '_ {
        self.units.range(range).copied()
    }

    /// Check the counts of a set that was read from a snapshot.
    pub fn audit(&self, layout: &Layout) -> Result<(), String> {
        let mut counts = vec![0; self.in_extent.len()];
        for &ppa in &self.units {
            let (extent, _) = layout.extent_of(ppa);
            law!((extent as usize) < counts.len(), "unit {ppa} is beyond the drive");
            counts[extent as usize] += 1;
        }
        law!(counts == self.in_extent, "the counts of unreadable units by extent are wrong");
        Ok(())
    }
}
