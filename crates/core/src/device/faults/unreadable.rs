//! The units on flash whose last read failed.

use super::filter::Filter;
use crate::address::Ppa;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::ops::{Range, RangeBounds};

/// Number of neighbouring units that share a key of the filter. In most drives, a page has at most this many.
const NEIGHBOURS: u32 = 16;

/// A set of addresses. The query for an address without a neighbour in the set is cheap.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(from = "BTreeSet<Ppa>", into = "BTreeSet<Ppa>")]
pub(in crate::device) struct Unreadable {
    units: BTreeSet<Ppa>,
    filter: Filter,
}

impl Unreadable {
    pub fn is_empty(&self) -> bool {
        self.units.is_empty()
    }

    pub fn len(&self) -> usize {
        self.units.len()
    }

    /// Whether the set may contain a unit of this non-empty range. False is certain.
    #[inline]
    pub fn may_touch(&self, units: Range<Ppa>) -> bool {
        (units.start.0 / NEIGHBOURS..=(units.end.0 - 1) / NEIGHBOURS).any(|key| self.filter.may_have(key))
    }

    #[inline]
    pub fn contains(&self, ppa: Ppa) -> bool {
        self.filter.may_have(ppa.0 / NEIGHBOURS) && self.units.contains(&ppa)
    }

    pub fn insert(&mut self, ppa: Ppa) {
        if self.units.insert(ppa) {
            self.filter.insert(ppa.0 / NEIGHBOURS);
        }
    }

    pub fn remove(&mut self, ppa: Ppa) {
        if self.units.remove(&ppa) {
            self.filter.remove(ppa.0 / NEIGHBOURS);
        }
    }

    /// The units, in order.
    pub fn iter(&self) -> impl Iterator<Item = Ppa> + '_ {
        self.units.iter().copied()
    }

    /// The units of a range of addresses, in order.
    pub fn range(&self, range: impl RangeBounds<Ppa>) -> impl Iterator<Item = Ppa> + '_ {
        self.units.range(range).copied()
    }
}

impl From<BTreeSet<Ppa>> for Unreadable {
    fn from(units: BTreeSet<Ppa>) -> Unreadable {
        let mut all = Unreadable::default();
        units.into_iter().for_each(|ppa| all.insert(ppa));
        all
    }
}

impl From<Unreadable> for BTreeSet<Ppa> {
    fn from(all: Unreadable) -> BTreeSet<Ppa> {
        all.units
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_is_touched_while_it_may_have_a_unit() {
        let mut all = Unreadable::default();
        assert!(!all.may_touch(Ppa(0)..Ppa(64)));
        all.insert(Ppa(33));
        all.insert(Ppa(33));
        assert!(all.may_touch(Ppa(30)..Ppa(33)) && all.contains(Ppa(33)) && !all.contains(Ppa(32)));
        let mut again = Unreadable::from(BTreeSet::from(all));
        assert!(again.may_touch(Ppa(0)..Ppa(64)) && again.contains(Ppa(33)));
        again.remove(Ppa(32));
        again.remove(Ppa(33));
        assert!(!again.may_touch(Ppa(0)..Ppa(64)) && again.is_empty());
    }
}
