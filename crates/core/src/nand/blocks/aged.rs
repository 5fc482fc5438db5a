//! The counts of blocks that an aged drive hands on.

use super::{Blocks, MOST_PAST_CYCLES};

/// More cycles of a block than this are those of no drive: with those of its past they fit its record.
const MOST_CYCLES: u32 = super::records::MOST_CYCLES - MOST_PAST_CYCLES;
/// More suspensions of a block than this are those of no drive.
const MOST_SUSPENSIONS: u32 = u32::MAX / 4;

impl Blocks {
    /// The counts by plane and index, as tables of blocks that cannot fail: those of an aged drive,
    /// which serves drives with and without faults.
    pub fn by_index(&self) -> Blocks {
        let dies = self.suspensions.len() as u32 / (self.per_plane * self.planes);
        let mut plain = Blocks::new(dies, self.planes, self.per_plane);
        for (plane, index) in self.indices() {
            let (to, from) = (plain.id(plane, index).index(), self.id(plane, index).index());
            plain.cycles[to] = self.cycles_at(self.place(plane, index)) - self.past.cycles;
            plain.suspensions[to] = self.suspensions[from];
        }
        plain.some_suspended = self.some_suspended;
        plain
    }

    /// Take over the counts of [`Blocks::by_index`]. False if they are those of another drive.
    pub fn take_counts(&mut self, aged: Blocks) -> bool {
        let lens = |blocks: &Blocks| (blocks.per_plane, blocks.planes, blocks.suspensions.len());
        let too_many = aged.cycles.iter().any(|&n| n > MOST_CYCLES)
            || aged.suspensions.iter().any(|&n| n > MOST_SUSPENSIONS);
        let plain = aged.fallible.is_none() && aged.worn.is_none();
        let plain = plain && aged.cycles.len() == aged.suspensions.len();
        if lens(self) != lens(&aged) || !plain || too_many {
            return false;
        }
        self.some_suspended = aged.suspensions.iter().any(|&n| n > 0);
        if self.fallible.is_none() {
            (self.cycles, self.suspensions) = (aged.cycles, aged.suspensions);
            return true;
        }
        for (plane, index) in self.indices().collect::<Vec<_>>() {
            let (to, from) = (self.id(plane, index).index(), aged.id(plane, index).index());
            self.suspensions[to] = aged.suspensions[from];
            let at = self.record_at(plane, index);
            let f = self.fallible.as_mut().expect("seen just now");
            f.records[at] = f.records[at].with_cycles(self.past.cycles + aged.cycles[from]);
        }
        true
    }
}
