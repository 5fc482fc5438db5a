//! The entry of each block that says which of its pages have plain reads (defined in `flash::plain`).

use super::{Blocks, SideBySide, places};
use crate::nand::errors::draw::PageFactor;

impl Blocks {
    /// Whether, at `now`, all these blocks have an entry by which reads of pages with this bound are plain. If so and
    /// if `counts` is set, count a read of each block. Blocks of this drive can fail.
    #[inline(always)]
    pub(crate) fn read_if_plain(
        &mut self,
        blocks: SideBySide,
        bound: PageFactor,
        now: u64,
        counts: bool,
    ) -> bool {
        let (SideBySide { first, planes, index }, in_die) = (blocks, self.planes);
        let (at, all) = (self.side_by_side(first, index), self.all_planes());
        let Some(f) = self.fallible.as_mut().filter(|f| now < f.plain_until) else { return false };
        // The counter cannot overflow: an entry is made only for a block with fewer than 2^31 reads (`flash::plain`),
        // and is cleared long before 2^31 further reads.
        if planes == all
            && let Some(group) = f.records.group_mut(at, in_die)
        {
            let plain = group.iter().all(|record| record.has_plain(bound));
            group.iter_mut().for_each(|record| record.reads += u32::from(plain && counts));
            return plain;
        }
        let plain = places(at, planes).all(|place| f.records[place].has_plain(bound));
        places(at, planes).for_each(|place| f.records[place].reads += u32::from(plain && counts));
        plain
    }

    /// Clear all entries for plain reads if they are not valid after `now`. New entries are then valid for `valid_for`
    /// ns.
    pub(crate) fn forget_plain(&mut self, now: u64, valid_for: u64) {
        let f = self.fallible_mut();
        if now >= f.plain_until {
            f.plain_until = now.saturating_add(valid_for);
            for record in f.records.all_mut() {
                *record = record.with_plain(PageFactor::UNKNOWN);
            }
        }
    }

    /// The largest factor of the pages with plain reads, in the block at an index of a plane.
    pub(crate) fn plain(&self, plane: u32, index: u32) -> PageFactor {
        let at = self.record_at(plane, index);
        self.fallible.as_ref().map_or(PageFactor::UNKNOWN, |f| f.records[at].plain())
    }

    /// Note the largest factor of the pages whose reads are plain until [`Blocks::plain_until`], in the block at an
    /// index of a plane. Blocks of this drive can fail.
    #[inline]
    pub(crate) fn set_plain(&mut self, plane: u32, index: u32, most: PageFactor) {
        let at = self.record_at(plane, index);
        let f = self.fallible_mut();
        f.records[at] = f.records[at].with_plain(most);
    }

    /// Until when the entries for plain reads are valid, ns.
    pub(crate) fn plain_until(&self) -> u64 {
        self.fallible.as_ref().map_or(0, |f| f.plain_until)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Compared with the factors of the blocks, for dies with different numbers of planes.
        #[test]
        fn plain_reads_are_counted_at_each_block_or_at_none(
            planes in 1u32..6,
            of_die in 0u32..2,
            factors in prop::collection::vec(0u8..9, 5),
            mask in 1u32..32,
            bound in 2u8..8,
            counts in any::<bool>(),
        ) {
            let mask = (mask & ((1 << planes) - 1)).max(1);
            let mut blocks = Blocks::new(2, planes, 3);
            blocks.let_fail(&vec![Vec::new(); 2 * planes as usize], |_| 3);
            let side = SideBySide { first: of_die * planes, planes: mask, index: 1 };
            let bound = PageFactor::of_byte(bound);
            prop_assert!(!blocks.read_if_plain(side, bound, 0, counts), "nothing is known");
            blocks.forget_plain(0, 100);
            let reads = |blocks: &Blocks| (0..2 * planes).map(|plane| blocks.finds(plane, 1, 0).reads).collect::<Vec<_>>();
            for (plane, &factor) in (side.first..side.first + planes).zip(&factors) {
                blocks.set_plain(plane, 1, PageFactor::of_byte(factor));
            }
            let is_read = |plane: u32| (side.first..side.first + planes).contains(&plane) && mask >> (plane - side.first) & 1 == 1;
            let plain = (0..2 * planes).filter(|&plane| is_read(plane)).all(|plane| PageFactor::of_byte(factors[(plane - side.first) as usize]) >= bound);
            prop_assert_eq!(blocks.read_if_plain(side, bound, 99, counts), plain);
            let expected = (0..2 * planes).map(|plane| u32::from(plain && counts && is_read(plane)));
            prop_assert_eq!(reads(&blocks), expected.collect::<Vec<_>>());
            prop_assert!(!blocks.read_if_plain(side, bound, 100, counts), "it is forgotten");
        }
    }
}
