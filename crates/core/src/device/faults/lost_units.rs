//! The host's units whose data are lost.

use super::filter::Filter;
use crate::address::Lpn;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The lost granules of host units, as masks of the write buffer. The query for a unit without losses is cheap.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(from = "BTreeMap<Lpn, u64>", into = "BTreeMap<Lpn, u64>")]
pub(in crate::device) struct LostUnits {
    masks: BTreeMap<Lpn, u64>,
    filter: Filter,
}

impl LostUnits {
    /// Whether this unit may have lost granules. False is certain.
    #[inline]
    pub fn may_have(&self, unit: Lpn) -> bool {
        self.filter.may_have(unit.0)
    }

    /// The granules that a unit has lost.
    #[inline]
    pub fn of(&self, unit: Lpn) -> u64 {
        if self.may_have(unit) { self.masks.get(&unit).copied().unwrap_or(0) } else { 0 }
    }

    /// Note that granules of a unit are lost.
    pub fn add(&mut self, unit: Lpn, granules: u64) {
        if granules == 0 {
            return;
        }
        let mask = self.masks.entry(unit).or_insert(0);
        if *mask == 0 {
            self.filter.insert(unit.0);
        }
        *mask |= granules;
    }

    /// Note that the host has written granules of a unit, or trimmed them.
    #[inline]
    pub fn written(&mut self, unit: Lpn, granules: u64) {
        if !self.may_have(unit) {
            return;
        }
        if let Some(mask) = self.masks.get_mut(&unit) {
            *mask &= !granules;
            if *mask == 0 {
                self.masks.remove(&unit);
                self.filter.remove(unit.0);
            }
        }
    }

    /// The units that have lost something, with their masks.
    pub fn masks(&self) -> &BTreeMap<Lpn, u64> {
        &self.masks
    }
}

impl From<BTreeMap<Lpn, u64>> for LostUnits {
    fn from(masks: BTreeMap<Lpn, u64>) -> LostUnits {
        let mut lost = LostUnits::default();
        masks.into_iter().for_each(|(unit, granules)| lost.add(unit, granules));
        lost
    }
}

impl From<LostUnits> for BTreeMap<Lpn, u64> {
    fn from(lost: LostUnits) -> BTreeMap<Lpn, u64> {
        lost.masks
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_lost_is_told_until_it_is_written() {
        let (one, other) = (Lpn(5), Lpn(6));
        let mut lost = LostUnits::default();
        assert!(!lost.may_have(one));
        lost.add(one, 0b110);
        lost.add(one, 0b1000);
        assert_eq!((lost.of(one), lost.of(other)), (0b1110, 0));
        lost.written(other, u64::MAX);
        lost.written(one, 0b11);
        assert_eq!(lost.of(one), 0b1100);
        let mut again = LostUnits::from(BTreeMap::from(lost.clone()));
        assert_eq!(again.of(one), 0b1100);
        again.written(one, u64::MAX);
        assert!(!again.may_have(one) && again.masks().is_empty());
    }
}
