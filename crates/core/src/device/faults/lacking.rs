//! The granules that slots in flight lack until they have been read from flash.

use crate::address::Lpn;
use serde::{Deserialize, Serialize};

/// Number of buckets, by the low bits of the logical unit: neighbours are read together.
const BUCKETS: u32 = 64;

/// The granules that a slot of one unit lacks, and the operation that reads them.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Entry {
    unit: Lpn,
    op: u32,
    granules: u64,
}

/// The granules that slots in flight lack, as masks of the write buffer. They are stored by unit and number of the read
/// (`NONE`: the reads of a flush of its stripe), because two slots of a unit may lack data at the same time.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(in crate::device) struct Lacking {
    buckets: Vec<Vec<Entry>>,
}

impl Lacking {
    pub fn new() -> Lacking {
        Lacking { buckets: vec![Vec::new(); BUCKETS as usize] }
    }

    /// Note the granules that a slot of a unit lacks until this operation has read them.
    pub fn insert(&mut self, unit: Lpn, op: u32, granules: u64) {
        self.remove(unit, op);
        self.of_mut(unit).push(Entry { unit, op, granules });
    }

    /// Remove the entry of this operation for a unit. Returns its granules; 0 without an entry.
    #[inline]
    pub fn remove(&mut self, unit: Lpn, op: u32) -> u64 {
        let bucket = self.of_mut(unit);
        match bucket.iter().position(|entry| (entry.unit, entry.op) == (unit, op)) {
            Some(at) => bucket.swap_remove(at).granules,
            None => 0,
        }
    }

    /// Note that the host has written granules of a unit, so that no slot lacks them.
    #[inline]
    pub fn written(&mut self, unit: Lpn, granules: u64) {
        for entry in self.of_mut(unit) {
            if entry.unit == unit {
                entry.granules &= !granules;
            }
        }
    }

    /// All granules that slots of a unit lack.
    pub fn of(&self, unit: Lpn) -> u64 {
        let own = self.buckets[bucket_of(unit)].iter().filter(|entry| entry.unit == unit);
        own.fold(0, |mask, entry| mask | entry.granules)
    }

    /// The units whose slots lack granules, with these granules.
    pub fn iter(&self) -> impl Iterator<Item = (Lpn, u64)> + '_ {
        self.buckets.iter().flatten().map(|entry| (entry.unit, entry.granules)).filter(|&(_, mask)| mask != 0)
    }

    fn of_mut(&mut self, unit: Lpn) -> &mut Vec<Entry> {
        &mut self.buckets[bucket_of(unit)]
    }
}

fn bucket_of(unit: Lpn) -> usize {
    (unit.0 % BUCKETS) as usize
}
