//! Reads of pages with raw bit errors that are plain: whatever is drawn for their pages, all codewords decode after
//! the first sense, and none is predicted to fail.
//!
//! Most reads of most drives are plain. The rates of a block tell which pages have plain reads, without the draws of
//! the pages; the block remembers it for some time. What is left to be drawn is how long the decoding of the last codeword
//! takes. The other codewords are decoded before the next ones arrive; if this is not certain, their iterations are
//! drawn too. All draws are those that [`super::senses`] makes.

use super::senses::{FoundBlock, Senses, codewords_of, part_of};
use super::state::Flash;
use crate::containers::NONE;
use crate::nand::blocks::Found;
use crate::nand::errors::decodings::At;
use crate::nand::errors::draw::{PageFactor, Vref};
use crate::observer::Observer;

/// What is known of plain reads holds for this time, ns.
const AHEAD: u64 = 1 << 40;
/// A block with more reads is not plain, so that their number has room to grow.
const MOST_READS: u32 = 1 << 31;

impl Senses {
    /// The rate of the first sense of a page with V_REF at its default, and the draw of its iterations. `rates` are
    /// those of its block.
    #[inline]
    fn first_sense(&self, rates: [u64; 2], found: &Found, page: u32) -> (At, u64) {
        let page = self.errors.page_of(rates, found, page, 2);
        (self.at(&page, Vref::Moved(0)), page.draw())
    }

    /// The pages of a block whose reads are plain now and as long as it is not older than `oldest` says.
    fn plain_pages(&self, FoundBlock { left, growth, .. }: &FoundBlock, oldest: &Found) -> PageFactor {
        if *left != 0 || *growth != 0 || oldest.reads >= MOST_READS {
            return PageFactor::NONE;
        }
        self.errors.largest_bound(oldest, self.plain_below)
    }
}

impl<O> Flash<O> {
    /// Whether nothing is to be judged of a read: it is plain, no other was sensed with it, and none may fail.
    #[inline]
    pub(super) fn is_plain(&self, id: u32) -> bool {
        let s = &self.state;
        s.sensing.attempts[id as usize].plain && s.ops[id].joined == NONE && !self.reads_may_fail()
    }
}

impl<O: Observer> Flash<O> {
    /// Plan the senses of a read if it is plain, and count its reads unless they may fail. Returns false, and has
    /// planned nothing, if it is not certain that the read is plain.
    #[inline(never)]
    pub(super) fn plan_plainly(&mut self, id: u32) -> bool {
        let Flash { fixed, state: s, .. } = self;
        let Some(senses) = &fixed.senses else { return false };
        if !senses.plain || s.sensing.attempts[id as usize].senses != 0 {
            return false;
        }
        let cmd = &s.ops[id].cmd;
        let bound = senses.errors.bound(cmd.page);
        if !s.blocks.are_plain(fixed.blocks_of(cmd), bound, s.now) {
            return self.plan_if_plain(id, bound);
        }
        self.plan_plain(id);
        true
    }

    /// [`Flash::plan_plainly`] of a read of which nothing is known.
    #[inline(never)]
    fn plan_if_plain(&mut self, id: u32, bound: PageFactor) -> bool {
        let plain = self.become_plain(id, bound);
        if plain {
            self.plan_plain(id);
        }
        plain
    }

    /// Plan the senses of a read that is plain.
    #[inline(always)]
    fn plan_plain(&mut self, id: u32) {
        let counted = !self.reads_may_fail();
        let Flash { fixed, state: s, .. } = self;
        let Some(senses) = &fixed.senses else { return };
        let op = &mut s.ops[id];
        op.unread = 0;
        let (blocks, page, codewords) = (fixed.blocks_of(&op.cmd), op.cmd.page, op.cmd.codewords);
        let (last, found) = s.blocks.reads_plainly(blocks, s.now, counted);
        let (at, draw) = senses.first_sense(s.sensing.rates(senses, last, &found), &found, page);
        let (pages, before_last) = if op.cmd.has_one_plane() {
            (1, 0)
        } else {
            // Counting bits takes longer.
            let pages = if blocks.planes == fixed.all_planes { fixed.planes } else { op.cmd.plane_count() };
            (pages, part_of(codewords, pages - 1, pages))
        };
        let attempts = &mut s.sensing.attempts[id as usize];
        (attempts.senses, attempts.plain, attempts.counted) = (1, true, counted);
        attempts.most = senses.most_plain;
        attempts.last = senses.decodings.iterations_of(at, draw, (codewords - before_last) as usize - 1);
        s.counters.senses.count(pages, true, senses.predictor.is_some());
    }

    /// Whether a read of which nothing is known is plain, that of pages with this bound.
    fn become_plain(&mut self, id: u32, bound: PageFactor) -> bool {
        let now = self.state.now;
        self.state.blocks.forget_plain(now, AHEAD);
        let cmd = &self.state.ops[id].cmd;
        let index = cmd.block;
        self.fixed.planes_of(cmd).all(|plane| {
            let known = self.state.blocks.plain(plane, index);
            let most = if known == PageFactor::UNKNOWN { self.look_at(plane, index) } else { known };
            most >= bound
        })
    }

    /// Find out which pages of the block at an index of a plane have plain reads.
    fn look_at(&mut self, plane: u32, index: u32) -> PageFactor {
        let block = self.finds(plane, index);
        let ahead = self.state.blocks.plain_until() - self.state.now;
        let age = block.found.age.saturating_add(ahead);
        let most = self.senses().plain_pages(&block, &Found { age, ..block.found });
        self.state.blocks.set_plain(plane, index, most);
        most
    }

    /// Draw the iterations of all codewords of a plain read, whose sense began when it was started.
    #[cold]
    pub(super) fn draw_iterations(&mut self, id: u32) {
        let Flash { fixed, state: s, .. } = self;
        let Some(senses) = &fixed.senses else { return };
        let (cmd, started) = (&s.ops[id].cmd, s.ops[id].started);
        let first = senses.most_codewords as usize * id as usize;
        let iterations = &mut s.sensing.iterations[first..first + cmd.codewords as usize];
        for (i, plane) in (0..).zip(fixed.planes_of(cmd)) {
            let found = s.blocks.finds(plane, cmd.block, started);
            // Its own read is counted by now; no other reads a plane that it holds.
            let found = Found { reads: found.reads - 1, ..found };
            let (at, draw) = senses.first_sense(senses.errors.rates(&found), &found, cmd.page);
            senses.decodings.iterate(at, draw, &mut iterations[codewords_of(cmd, i)]);
        }
        debug_assert_eq!(iterations.last(), Some(&s.sensing.attempts[id as usize].last));
    }
}
