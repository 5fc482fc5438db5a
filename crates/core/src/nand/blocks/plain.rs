//! The pages of blocks whose reads are plain ([`crate::flash`] says what that is), as the blocks remember them.

use super::{Blocks, SideBySide};
use crate::nand::errors::draw::PageFactor;

impl Blocks {
    /// Whether reads of pages with this bound are known to be plain at `now`, of these blocks, which can fail.
    #[inline]
    pub(crate) fn are_plain(&self, blocks: SideBySide, bound: PageFactor, now: u64) -> bool {
        let SideBySide { first, mut planes, index } = blocks;
        let at = self.side_by_side(first, index);
        let Some(f) = self.fallible.as_ref().filter(|f| now < f.plain_until) else { return false };
        if planes == self.all_planes()
            && let Some(group) = f.records.group(at, self.planes)
        {
            return group.iter().all(|record| record.plain() >= bound);
        }
        while planes != 0 && f.records[at + planes.trailing_zeros() as usize].plain() >= bound {
            planes &= planes - 1;
        }
        planes == 0
    }

    /// Forget which reads are plain, if this is known until `now` only, and know the next `ahead` ns after it.
    pub(crate) fn forget_plain(&mut self, now: u64, ahead: u64) {
        let f = self.fallible.as_mut().expect("only blocks that can fail have plain reads");
        if now >= f.plain_until {
            f.plain_until = now.saturating_add(ahead);
            for record in f.records.all_mut() {
                *record = record.with_plain(PageFactor::UNKNOWN);
            }
        }
    }

    /// The largest factor of the pages whose reads are plain, of the block with this index of a plane, which can fail.
    pub(crate) fn plain(&self, plane: u32, index: u32) -> PageFactor {
        let at = self.record_at(plane, index);
        self.fallible.as_ref().map_or(PageFactor::UNKNOWN, |f| f.records[at].plain())
    }

    /// Note the largest factor of the pages whose reads are plain before [`Blocks::plain_until`], of the block with
    /// this index of a plane, which can fail.
    #[inline]
    pub(crate) fn set_plain(&mut self, plane: u32, index: u32, most: PageFactor) {
        let at = self.record_at(plane, index);
        let f = self.fallible.as_mut().expect("only blocks that can fail have plain reads");
        f.records[at] = f.records[at].with_plain(most);
    }

    /// Until when what is known of plain reads holds, ns.
    pub(crate) fn plain_until(&self) -> u64 {
        self.fallible.as_ref().map_or(0, |f| f.plain_until)
    }
}
