//! Plain reads: reads of pages with so few raw bit errors that, whatever errors are drawn for their codewords, all
//! codewords decode after the first sense and no page is predicted to fail.
//!
//! Most reads of most drives are plain, and this file plans them faster than [`super::senses`] does. The results are
//! the same, because the draws are the same.
//!
//! A read is plain if the error rates of its pages are below a limit. For multi-plane reads, the record of a block can
//! have an entry (`nand::blocks::plain`) that says which of its pages are below the limit. An entry is made when a
//! block is read more than once. It is valid for a limited time, because rates grow with the age of the data.
//!
//! For a plain read only the decoding time of the last codeword is drawn, because each other codeword is decoded before
//! the next one arrives. If that is not certain, the iterations of all codewords are drawn.

use super::attempts::Plain;
use super::op::{FlashCommand, OpId};
use super::senses::codewords_of;
use super::state::{Flash, FlashState};
use crate::array::senses::{FoundBlock, Senses, part_of};
use crate::containers::NONE;
use crate::nand::blocks::{Found, SideBySide};
use crate::nand::errors::draw::PageFactor;
use crate::observer::Observer;

/// How long the entries of blocks stay valid, ns (18 minutes). All are cleared together.
const ENTRIES_NS: u64 = 1 << 40;
/// Error rate of pages in SLC mode, and the draw for their iterations.
const FREE_OF_ERRORS: (u64, u64) = (0, 0);

/// A block without an entry is examined only when its number of reads is odd, so that a block that is read once usually
/// costs nothing.
const LOOK_EVERY: u32 = 2;

impl FlashState {
    /// Plan the senses of plain read `id`, which has `pages` pages. `rate` and `draw` are those of the last page.
    /// `counted`: its blocks have already counted it.
    #[inline(always)]
    fn plan_plain(
        &mut self,
        senses: &Senses,
        (id, pages): (u32, u32),
        (rate, draw): (u64, u64),
        counted: bool,
    ) {
        let op = &mut self.ops[id];
        op.unread = 0;
        let codewords = op.cmd.codewords;
        let of_last = codewords - if pages == 1 { 0 } else { part_of(codewords, pages - 1, pages) };
        let attempts = &mut self.sensing.attempts[id as usize];
        (attempts.senses, attempts.to_decode) = (1, 1);
        attempts.plain = if counted { Plain::Counted } else { Plain::Uncounted };
        attempts.most = senses.most_plain;
        let at = senses.decodings.at(rate);
        attempts.last = senses.decodings.iterations_of(at, draw, of_last as usize - 1);
        self.counters.senses.count(pages, true, senses.predictor.is_some());
    }
}

impl<O> Flash<O> {
    /// Whether a read needs no check at its end: it is plain, was not joined with others, and reads cannot fail on this
    /// drive.
    #[inline]
    pub(super) fn is_plain(&self, id: u32) -> bool {
        let s = &self.state;
        s.sensing.attempts[id as usize].is_plain() && s.ops[id].joined == NONE && !self.reads_may_fail()
    }
}

impl<O: Observer> Flash<O> {
    /// Plan the senses of a read if it is plain, and count the read of its blocks unless reads may fail. Returns false
    /// without any change if the read is not plain.
    #[inline]
    pub(super) fn plan_plainly(&mut self, id: u32) -> bool {
        let s = &self.state;
        if self.fixed.timing.is_slc(s.ops[id].cmd.page) {
            return self.plan_in_slc_mode(OpId(id));
        }
        let may_be = self.senses().plain && s.sensing.attempts[id as usize].senses == 0;
        may_be && if s.ops[id].cmd.has_one_plane() { self.plan_if_plain(id) } else { self.plan_if_known(id) }
    }

    /// [`Flash::plan_plainly`] for pages in SLC mode, whose raw bit errors are neglected.
    #[cold]
    fn plan_in_slc_mode(&mut self, OpId(id): OpId) -> bool {
        let counted = !self.reads_may_fail();
        let Flash { fixed, state: s, .. } = self;
        let Some(senses) = &fixed.senses else { return false };
        let cmd = &s.ops[id].cmd;
        let (blocks, pages) = (fixed.blocks_of(cmd), cmd.plane_count());
        if counted {
            s.blocks.count_reads(blocks);
        }
        s.plan_plain(senses, (id, pages), FREE_OF_ERRORS, counted);
        true
    }

    /// [`Flash::plan_plainly`] for a multi-plane read: first by the entries of its blocks, else by the rates of its
    /// pages.
    #[inline(never)]
    fn plan_if_known(&mut self, id: u32) -> bool {
        let counted = !self.reads_may_fail();
        let Flash { fixed, state: s, .. } = self;
        let Some(senses) = &fixed.senses else { return false };
        let cmd = &s.ops[id].cmd;
        let (blocks, page) = (fixed.blocks_of(cmd), cmd.page);
        if !s.blocks.read_if_plain(blocks, senses.errors.bound(page), s.now, counted) {
            return self.look_at_all_but_last(id) && self.plan_if_plain(id);
        }
        let plane = blocks.first + blocks.planes.ilog2();
        // The state before this read. The counter of reads has not reached its maximum.
        let found = s.blocks.finds(plane, blocks.index, s.now);
        let found = Found { reads: found.reads - u32::from(counted), ..found };
        let sense = senses.first_sense(s.sensing.rates(senses, plane, &found), &found, page);
        // The comparison is faster than counting bits.
        let pages = if blocks.planes == fixed.all_planes { fixed.planes } else { blocks.planes.count_ones() };
        s.plan_plain(senses, (id, pages), sense, counted);
        debug_assert!(self.has_plain_pages(id));
        true
    }

    /// Whether all pages of a read are plain, after its blocks have counted it (for a `debug_assert`).
    fn has_plain_pages(&mut self, id: u32) -> bool {
        let FlashCommand { page, block, .. } = self.state.ops[id].cmd;
        self.fixed.planes_of(&self.state.ops[id].cmd).all(|plane| {
            let block = self.finds(plane, block);
            let senses = self.senses();
            senses.is_plain(&block, senses.first_sense(block.rates, &block.found, page).0)
        })
    }

    /// [`Flash::plan_plainly`] for a read of which only the last page is still to be checked.
    #[inline(never)]
    fn plan_if_plain(&mut self, id: u32) -> bool {
        let counted = !self.reads_may_fail();
        let cmd = &self.state.ops[id].cmd;
        let (blocks, page, pages) = (self.fixed.blocks_of(cmd), cmd.page, cmd.plane_count());
        let block = self.finds(blocks.first + blocks.planes.ilog2(), blocks.index);
        let Flash { fixed, state: s, .. } = self;
        let Some(senses) = &fixed.senses else { return false };
        let sense = senses.first_sense(block.rates, &block.found, page);
        let plain = senses.is_plain(&block, sense.0);
        if plain {
            if counted {
                s.blocks.count_reads(blocks);
            }
            s.plan_plain(senses, (id, pages), sense, counted);
        }
        plain
    }

    /// Whether all pages of a multi-plane read, except for the last, are plain. Makes entries for blocks without one.
    #[inline(never)]
    fn look_at_all_but_last(&mut self, id: u32) -> bool {
        let cmd = &self.state.ops[id].cmd;
        let (SideBySide { first, planes, index }, page) = (self.fixed.blocks_of(cmd), cmd.page);
        let (now, last) = (self.state.now, first + planes.ilog2());
        self.state.blocks.forget_plain(now, ENTRIES_NS);
        self.fixed.planes_of(&self.state.ops[id].cmd).all(|plane| {
            let known = self.state.blocks.plain(plane, index);
            if known == PageFactor::NONE {
                return false;
            }
            let block = self.finds(plane, index);
            if known == PageFactor::UNKNOWN && block.found.reads % LOOK_EVERY == LOOK_EVERY - 1 {
                self.look_at(plane, index, &block);
            }
            let senses = self.senses();
            if block.rates[0] + block.rates[1] >= senses.plain_below {
                // The mean page of this block is not plain. Planning the read in the general way costs less than a
                // further search.
                return false;
            }
            plane == last || senses.is_plain(&block, senses.first_sense(block.rates, &block.found, page).0)
        })
    }

    /// Make the entry of the block at an index of a plane: find out which of its pages have plain reads until entries
    /// are cleared.
    fn look_at(&mut self, plane: u32, index: u32, block: &FoundBlock) {
        let valid_for = self.state.blocks.plain_until() - self.state.now;
        let age = block.found.age.saturating_add(valid_for);
        let most = self.senses().plain_pages(block, &Found { age, ..block.found });
        self.state.blocks.set_plain(plane, index, most);
    }

    /// Draw the iterations of all codewords of a plain read.
    #[cold]
    pub(super) fn draw_iterations(&mut self, id: u32) {
        let Flash { fixed, state: s, .. } = self;
        let Some(senses) = &fixed.senses else { return };
        let (cmd, started) = (&s.ops[id].cmd, s.ops[id].started);
        let first = senses.most_codewords as usize * id as usize;
        let iterations = &mut s.sensing.iterations[first..first + cmd.codewords as usize];
        for (i, plane) in (0..).zip(fixed.planes_of(cmd)) {
            let found = s.blocks.finds(plane, cmd.block, started);
            // The block has counted this read already. No other read can have used the plane meanwhile.
            let found = Found { reads: found.reads - 1, ..found };
            let (rate, draw) = match fixed.timing.is_slc(cmd.page) {
                true => FREE_OF_ERRORS,
                false => senses.first_sense(senses.errors.rates(&found), &found, cmd.page),
            };
            senses.decodings.iterate(senses.decodings.at(rate), draw, &mut iterations[codewords_of(cmd, i)]);
        }
        debug_assert_eq!(iterations.last(), Some(&s.sensing.attempts[id as usize].last));
    }
}
