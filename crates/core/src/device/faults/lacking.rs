//! The granules that slots in flight lack while they are being read.

use crate::address::Lpn;
use serde::{Deserialize, Serialize};

/// Number of buckets, by the low bits of the logical unit: neighbours are read together.
const BUCKETS: u32 = 64;

/// What a slot of one unit lacks, and which operation reads it.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Entry {
    unit: Lpn,
    op: u32,
    granules: u64,
}

/// What slots in flight lack, as masks of the write buffer: by unit and by the number of the read
/// (`NONE`: the reads of a flush of its stripe). Two slots of a unit may lack data at once.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(in crate::device) struct Lacking {
    buckets: Vec<Vec<Entry>>,
}

impl Lacking {
    pub fn new() -> Lacking {
        Lacking { buckets: vec![Vec::new(); BUCKETS as usize] }
    }

    /// Note what a slot of a unit lacks until this operation has read it.
    pub fn insert(&mut self, unit: Lpn, op: u32, granules: u64) {
        self.remove(unit, op);
        self.of_mut(unit).push(Entry { unit, op, granules });
    }

    /// Forget what this operation was to read for a unit. Returns the granules, 0 if nothing was noted.
    #[inline]
    pub fn remove(&mut self, unit: Lpn, op: u32) -> u64 {
        let bucket = self.of_mut(unit);
        match bucket.iter().position(|entry| (entry.unit, entry.op) == (unit, op)) {
            Some(at) => bucket.swap_remove(at).granules,
            None => 0,
        }
    }

    /// Note that the host has written granules of a unit: no slot lacks these any more.
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

    /// The units whose slots lack granules, and these.
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
