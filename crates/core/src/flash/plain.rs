//! Reads of pages with raw bit errors that are plain: whatever is drawn for their pages, all codewords decode after
//! the first sense, and none is predicted to fail.
//!
//! Most reads of most drives are plain. The rates of their blocks tell, without the draws of their pages. What
//! is left to be drawn is how long the decoding of the last codeword takes. The other codewords are decoded before
//! the next ones arrive; if this is not certain, their iterations are drawn too. All draws are those that
//! [`super::senses`] makes.

use super::erase::growth_of;
use super::senses::part_of;
use super::state::Flash;
use crate::observer::Observer;
use crate::policy::read_retry::{Aim, Place};
use tailcut_units::Cause;

impl<O: Observer> Flash<O> {
    /// Plan the senses of a read if it is plain. Returns false, and has planned nothing, if that is not certain.
    #[inline]
    pub(super) fn plan_plainly(&mut self, id: u32) -> bool {
        let Flash { fixed, state: s, .. } = self;
        let senses = fixed.senses.as_ref().expect("the caller has seen them");
        let cmd = &s.ops[id].cmd;
        let sensing = &mut s.sensing;
        if sensing.attempts[id as usize].senses != 0 || senses.retry.first() != Aim::Default {
            return false;
        }
        let Some(factor) = senses.errors.most_factor(cmd.page) else { return false };
        let place = fixed.planes as usize * id as usize;
        let limit = senses.decodings.plain_below();
        let (mut highest, mut last, mut pages) = (0, None, 0);
        for (plane, place) in fixed.planes_of(cmd).zip(&mut sensing.plain[place..]) {
            let found = s.blocks.finds(plane, cmd.block, s.now);
            let aged = senses.errors.aged_like(&mut sensing.aged[plane as usize % 4], &found);
            let rate = senses.errors.most_rate(aged, found.block, factor);
            let left = fixed.eraser.as_ref().map_or(0, |e| e.left_errors(&s.blocks, plane, cmd.block));
            if rate >= limit || left != 0 || growth_of(&s.blocks, found.block, senses.growth) != 0 {
                return false;
            }
            *place = found;
            pages += 1;
            highest = rate.max(highest);
            last = Some((found, aged));
        }
        let Some((found, aged)) = last else { return false };
        let (at, draw) = senses.first_sense(aged, &found, cmd.page);
        let start = part_of(cmd.codewords, pages - 1, pages);
        let attempts = &mut sensing.attempts[id as usize];
        (attempts.senses, attempts.plain) = (1, true);
        attempts.most = senses.decodings.most_plain(senses.decodings.at(highest));
        attempts.last = senses.iterations_of(at, draw, cmd.codewords - start - 1);
        let totals = &mut s.counters.senses;
        totals.pages += u64::from(pages);
        totals.predicted += if senses.predictor.is_some() { u64::from(pages) } else { 0 };
        true
    }

    /// Charge a read with a prediction in its die. Returns its time.
    #[inline]
    pub(super) fn predict_in_die(&mut self, id: u32) -> u64 {
        let predict = self.fixed.senses.as_ref().map_or(0, |senses| senses.predict_ns(Place::Die));
        self.state.ops[id].ledger.charge(Cause::PREDICT, predict);
        predict
    }

    /// Draw the iterations of all codewords of a plain read.
    #[cold]
    pub(super) fn draw_iterations(&mut self, id: u32) {
        let Flash { fixed, state: s, .. } = self;
        let senses = fixed.senses.as_ref().expect("the caller has seen them");
        let cmd = &s.ops[id].cmd;
        let first = senses.most_codewords as usize * id as usize;
        let pages = cmd.plane_count();
        let place = fixed.planes as usize * id as usize;
        for (i, found) in (0..pages).zip(&s.sensing.plain[place..]) {
            let [start, end] = [i, i + 1].map(|i| first + part_of(cmd.codewords, i, pages) as usize);
            let aged = senses.errors.aged_like(&mut s.sensing.aged[0], found);
            let (at, draw) = senses.first_sense(aged, found, cmd.page);
            senses.iterate(at, draw, &mut s.sensing.iterations[start..end]);
        }
    }
}
