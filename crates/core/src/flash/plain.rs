//! Reads of pages with raw bit errors that are plain: whatever is drawn for their pages, all codewords decode after
//! the first sense, and none is predicted to fail.
//!
//! Most reads of most drives are plain. The rates of their blocks tell, without the draws of their pages. What
//! is left to be drawn is how long the decoding of the last codeword takes. The other codewords are decoded before
//! the next ones arrive; if this is not certain, their iterations are drawn too. All draws are those that
//! [`super::senses`] makes.

use super::op::FlashCommand;
use super::senses::{FoundBlock, Senses, codewords_of};
use super::state::Flash;
use crate::nand::blocks::Found;
use crate::nand::errors::decodings::At;
use crate::nand::errors::draw::Vref;
use crate::observer::Observer;
use crate::policy::read_retry::Aim;

impl Senses {
    /// The rate of the first sense of a page with V_REF at its default, and the draw of its iterations. `rates` are
    /// those of its block.
    #[inline]
    fn first_sense(&self, rates: [u64; 2], found: &Found, page: u32) -> (At, u64) {
        let page = self.errors.page_of(rates, found, page, 2);
        (self.at(&page, Vref::Moved(0)), page.draw())
    }
}

impl<O: Observer> Flash<O> {
    /// Plan the senses of a read if it is plain. Returns false, and has planned nothing, if that is not certain.
    #[inline]
    pub(super) fn plan_plainly(&mut self, id: u32) -> bool {
        let senses = self.senses();
        if self.state.sensing.attempts[id as usize].senses != 0 || senses.retry.first() != Aim::Default {
            return false;
        }
        let FlashCommand { block: index, page, .. } = self.state.ops[id].cmd;
        let Some(factor) = senses.errors.most_factor(page) else { return false };
        let limit = senses.decodings.plain_below();
        let place = self.fixed.planes as usize * id as usize;
        let (mut highest, mut last, mut pages) = (0, None, 0);
        for plane in self.fixed.planes_of(&self.state.ops[id].cmd) {
            let FoundBlock { found, rates, left, growth } = self.finds(plane, index);
            let rate = self.senses().errors.most_rate(rates, found.block, factor);
            if rate >= limit || left != 0 || growth != 0 {
                return false;
            }
            self.state.sensing.plain[place + pages as usize] = found;
            pages += 1;
            highest = rate.max(highest);
            last = Some((found, rates));
        }
        let Some((found, rates)) = last else { return false };
        let Flash { fixed, state: s, .. } = self;
        let senses = fixed.senses.as_ref().expect("the caller has seen them");
        let (at, draw) = senses.first_sense(rates, &found, page);
        let codewords = codewords_of(&s.ops[id].cmd, pages - 1).len();
        let attempts = &mut s.sensing.attempts[id as usize];
        (attempts.senses, attempts.plain) = (1, true);
        attempts.most = senses.decodings.most_plain(senses.decodings.at(highest));
        attempts.last = senses.decodings.iterations_of(at, draw, codewords - 1);
        s.counters.senses.count(pages, true, senses.predictor.is_some());
        true
    }

    /// Draw the iterations of all codewords of a plain read.
    #[cold]
    pub(super) fn draw_iterations(&mut self, id: u32) {
        let Flash { fixed, state: s, .. } = self;
        let senses = fixed.senses.as_ref().expect("the caller has seen them");
        let cmd = &s.ops[id].cmd;
        let first = senses.most_codewords as usize * id as usize;
        let iterations = &mut s.sensing.iterations[first..first + cmd.codewords as usize];
        let place = fixed.planes as usize * id as usize;
        for (i, found) in (0..cmd.plane_count()).zip(&s.sensing.plain[place..]) {
            let (at, draw) = senses.first_sense(senses.errors.rates(found), found, cmd.page);
            senses.decodings.iterate(at, draw, &mut iterations[codewords_of(cmd, i)]);
        }
    }
}
