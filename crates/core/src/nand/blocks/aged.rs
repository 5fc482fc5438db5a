//! The counts of blocks that the state of an aged drive contains.

use super::{Blocks, MOST_PAST_CYCLES};

/// Largest number of cycles in an aged state. Together with the cycles of the past, it fits into a record.
const MOST_CYCLES: u32 = super::records::MOST_CYCLES - MOST_PAST_CYCLES;
/// Largest number of suspensions of a block in an aged state.
const MOST_SUSPENSIONS: u32 = u32::MAX / 4;

impl Blocks {
    /// The counts by plane and index, in the form for blocks that cannot fail. An aged state has this form, because
    /// drives with and without faults start from it.
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

    /// Take over the counts of [`Blocks::by_index`]. Returns false if they do not fit this drive.
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
