//! Reads of pages with raw bit errors: the errors of each codeword, whether it decodes, and which sense follows a
//! failure.
//!
//! The senses of a read are planned when the read enters the array, because their results depend only on the state of
//! its pages, which is known then. Each page of a multi-plane read, or of joined reads, succeeds or fails
//! independently. A read whose data cannot be decoded goes back to the queue of its die for the pages that failed,
//! unless the die has already begun to sense them again.

use super::attempts::{Attempts, Plain};
use super::dispatch::Submitted;
use super::erase::{by_suspension, growth_of};
use super::join::joined;
use super::op::{FlashCommand, OpId};
use super::state::Flash;
use crate::containers::{NONE, bits};
use crate::nand::blocks::Found;
use crate::nand::errors::config::{ErrorsConfig, RetryPlace};
use crate::nand::errors::decodings::{At, Certain, Decodings};
use crate::nand::errors::draw::{Errors, FIRST_SENSE, Page, Vref};
use crate::nand::errors::times::DecodeTimes;
use crate::observer::{Observer, QueueStep};
use crate::policy::read_retry::{
    Aim, FailedView, Faster, Inference, Place, Predictor, ReadRetryPolicy, Sense,
};
use serde::{Deserialize, Serialize};
use std::ops::Range;
use tailcut_ldpc::{CODEWORD_BITS, Outcomes, Row, Table};
use tailcut_units::Cause;

/// Converts errors per KiB, in 1/16, to a rate in 2^-40: a KiB has 2^13 bits.
const RATE_SHIFT: u32 = 40 - 13 - 4;
/// First number of senses whose data are not decoded.
const SHORT_SENSES: u32 = 128;
/// Stands for a codeword that is not decoded, in place of a number of iterations.
pub(super) const SKIPPED: u8 = u8::MAX;

/// The model of senses and their decoding, and the scheme that reacts to failures.
#[derive(Clone, Debug)]
pub struct Senses {
    pub(super) errors: Errors,
    outcomes: Outcomes,
    pub(super) decodings: Decodings,
    pub(super) retry: ReadRetryPolicy,
    pub(super) predictor: Option<Predictor>,
    /// Time of a prediction, ns, by place ([`Place`]).
    predict_ns: [u64; 2],
    faster: Faster,
    /// Number of neighbouring blocks of a plane that share one tracked V_REF: that with which a page of them was last
    /// decoded after a retry.
    pub(super) group: u32,
    /// Whether reads can be plain ([`super::plain`]).
    pub(super) plain: bool,
    /// Pages with a rate below this have plain reads.
    pub(super) plain_below: u64,
    /// Largest number of iterations of a codeword at such a rate.
    pub(super) most_plain: u8,
    /// The share of a page whose cells have known contents, in millionths.
    known_cells: u32,
    /// The largest syndrome weight that the predictor takes as correctable; `u32::MAX` without a predictor.
    threshold: u32,
    /// Decoding times.
    times: DecodeTimes,
    /// Accuracy with which the scheme infers the optimum V_REF.
    inference: Inference,
    /// Whether a read keeps its position in the order of arrival when it is queued for a retry.
    retries_in_order: bool,
    /// Relative increase of a block's errors for each suspension of its erases, in units of 2^-32.
    pub(super) growth: u64,
    /// Largest number of codewords of one operation.
    pub(super) most_codewords: u32,
}

impl Senses {
    /// Create the model for a configuration. A page has `of_page` codewords. `growth` is the share by which 1,000
    /// suspensions of a block's erases raise its errors.
    pub fn new(
        (errors, config): (Errors, &ErrorsConfig),
        table: &Table,
        retry: ReadRetryPolicy,
        growth: f64,
        (of_page, most_codewords): (u64, u32),
    ) -> Senses {
        let times = DecodeTimes::new(config, table, of_page);
        let predictor = retry.predictor();
        let threshold = predictor.map_or(u32::MAX, |p| p.threshold.unwrap_or_else(|| weight_at_limit(table)));
        let outcomes = Outcomes::new(table);
        let decodings = Decodings::new(&errors, &outcomes, &times, threshold);
        let (plain_below, most_plain) = decodings.plain_within(u64::MAX);
        let plain = errors.has_bounds() && retry.first() == Aim::Default;
        let (group, known_cells, faster) = (retry.tracked_blocks(), retry.known_cells(), retry.faster());
        let predict_ns = [Place::Die, Place::Controller]
            .map(|place| predictor.filter(|p| p.place == place).map_or(0, |p| p.ns));
        Senses {
            errors,
            outcomes,
            decodings,
            predictor,
            predict_ns,
            faster,
            group,
            plain,
            plain_below,
            most_plain,
            known_cells,
            threshold,
            times,
            inference: retry.inference(),
            retries_in_order: config.retry_place == RetryPlace::Front,
            growth: by_suspension(growth),
            most_codewords,
            retry,
        }
    }

    /// The time of `ticks` ticks of the decoder, ns.
    #[inline]
    pub fn ticks_ns(&self, ticks: u8) -> u64 {
        u64::from(ticks) * self.times.tick_ns()
    }

    /// Lower the limit for plain reads to rates at which each codeword is decoded within `ns`, the time between two
    /// codewords on the channel, if there are such rates.
    pub(super) fn with_codewords_every(self, ns: u64) -> Senses {
        let most = ns.checked_div(self.times.tick_ns()).unwrap_or(u64::MAX);
        let (plain_below, most_plain) = self.decodings.plain_within(most);
        Senses { plain_below, most_plain, ..self }
    }

    /// Time of a prediction at a place, ns; 0 if none is made there.
    #[inline]
    pub fn predict_ns(&self, place: Place) -> u64 {
        self.predict_ns[place as usize]
    }

    /// [`Errors::page_of`], compiled only once for all senses that are not plain.
    #[inline(never)]
    fn page_of(&self, rates: [u64; 2], found: &Found, page: u32, sense: u32) -> Page {
        self.errors.page_of(rates, found, page, sense)
    }

    /// Transfer time of the cells with known contents, ns, of a page whose whole transfer takes `transfer`.
    pub fn known_ns(&self, transfer: u64) -> u64 {
        (transfer * u64::from(self.known_cells)).div_ceil(1_000_000)
    }

    /// Time of a second or later sense of a page, ns. `sense` is the time of its first sense.
    #[inline]
    pub fn further_ns(&self, sense: u64) -> u64 {
        sense - sense * u64::from(self.faster.shorter) / 1_000_000
    }

    /// When a speculative sense releases the die. The sense has begun at `begun` and is dropped because the data of the
    /// sense before it are decoded at `done`. `sense` is the time of the page's first sense.
    pub fn dropped_at(&self, begun: u64, sense: u64, done: u64) -> u64 {
        let drop = self.faster.drop.unwrap_or(0);
        done.max((begun + self.further_ns(sense)).min(done + drop))
    }

    /// Whether the die begins its second sense at the same time as the prediction.
    pub fn prediction_overlaps(&self) -> bool {
        self.predictor_in(Place::Die).is_some_and(|p| p.overlaps)
    }

    #[inline]
    fn predictor_in(&self, place: Place) -> Option<Predictor> {
        self.predictor.filter(|p| p.place == place)
    }

    /// The V_REF with which a page is sensed.
    fn vref(&self, aim: Aim, page: &Page, tracked: u16) -> Vref {
        match aim {
            Aim::Default => Vref::Moved(0),
            Aim::Tracked => Vref::Moved(tracked),
            Aim::Moved(by) => Vref::Moved(by),
            Aim::Optimum(0) => Vref::Best,
            Aim::Optimum(deviation) => Vref::Beside(self.errors.off_optimum(page, deviation)),
            Aim::Inferred(number) => {
                let [draw, _] = self.errors.decode_draws(page.draw(), u32::MAX);
                let Inference { right, miss, deviation } = self.inference;
                match u64::from(draw) < right[usize::from(number)] {
                    true => self.vref(Aim::Optimum(deviation), page, tracked),
                    false => Vref::Beside(miss.min(i16::MAX as u16) as i16),
                }
            }
        }
    }

    /// Draw the errors of codeword `number` of a page. `sense` is the draw of the sense and `rate` its error rate.
    /// (Here and below, the draw of a page is passed instead of the page, so that it stays in a register.)
    #[inline(always)]
    fn draw(&self, sense: u64, rate: u64, number: u32) -> Codeword {
        let [outcome, own] = self.errors.decode_draws(sense, number);
        Codeword { errors: self.errors.codeword(sense, rate, number), outcome, own }
    }

    /// Whether the predictor expects a page to fail: the syndrome weight of its first codeword is above the threshold.
    /// If the codeword must be drawn for this, it is returned in `first`.
    #[inline(never)]
    fn is_predicted_to_fail(&self, sense: u64, at: At, first: &mut Option<Codeword>) -> bool {
        match self.decodings.predicted(at) {
            Certain::All => true,
            Certain::None => false,
            Certain::Neither => {
                let &mut Codeword { errors, outcome, own } = first.insert(self.draw(sense, at.rate, 0));
                self.outcomes.first_weight(errors, outcome, own) > self.threshold
            }
        }
    }

    /// Sense a page with this error rate. In a first sense, `predictor` may expect the page to fail; a predictor in the
    /// die then senses it again. Returns whether the data can be decoded, and the largest number of iterations of a
    /// codeword.
    #[inline(always)]
    fn sense_page(
        &self,
        page: &Page,
        at: At,
        predictor: Option<Predictor>,
        iterations: &mut [u8],
        results: &mut SenseResults,
    ) -> (bool, u8) {
        let (mut first, sense) = (None, page.draw());
        let failing = |_: &Predictor| self.is_predicted_to_fail(sense, at, &mut first);
        let Some(predictor) = predictor.filter(failing) else {
            let decoded = self.decode(sense, at, first, iterations);
            results.missed += u64::from(predictor.is_some() && !decoded.0);
            return decoded;
        };
        results.needless += u64::from(self.would_decode(sense, at, first, iterations.len()));
        if predictor.place == Place::Die {
            results.in_die |= results.plane;
            let page = page.again();
            let vref = self.vref(Aim::Optimum(predictor.deviation), &page, 0);
            return self.decode(page.draw(), self.at(&page, vref), None, iterations);
        }
        iterations.fill(SKIPPED);
        (false, SKIPPED)
    }

    /// The error rate of a page at a V_REF.
    #[inline]
    fn at(&self, page: &Page, vref: Vref) -> At {
        self.decodings.at(self.errors.rate(page, vref))
    }

    /// Decode a page that was sensed with this error rate, and write the iterations of each codeword to `iterations`.
    /// `first` is its first codeword if that is drawn already. Returns whether all codewords decode, and the largest
    /// number of iterations.
    #[inline]
    fn decode(&self, sense: u64, at: At, first: Option<Codeword>, iterations: &mut [u8]) -> (bool, u8) {
        match self.decodings.decodes(at) {
            Certain::All => (true, self.decodings.iterate(at, sense, iterations)),
            Certain::None => {
                iterations.fill(self.times.failed());
                (false, self.times.failed())
            }
            Certain::Neither => self.decode_each(sense, at.rate, first, iterations),
        }
    }

    /// Whether all codewords of a page would decode, of which none is decoded. `first` is its first codeword if that is
    /// drawn already.
    #[inline(never)]
    fn would_decode(&self, sense: u64, at: At, mut first: Option<Codeword>, codewords: usize) -> bool {
        match self.decodings.decodes(at) {
            Certain::All => true,
            Certain::None => false,
            // Most pages that are predicted to fail do so in the first codeword.
            Certain::Neither => (0..codewords as u32).all(|number| {
                let drawn = first.take().unwrap_or_else(|| self.draw(sense, at.rate, number));
                self.outcomes.decodes(drawn.errors, drawn.outcome)
            }),
        }
    }

    #[inline(never)]
    fn decode_each(
        &self,
        sense: u64,
        rate: u64,
        mut first: Option<Codeword>,
        iterations: &mut [u8],
    ) -> (bool, u8) {
        let (mut all, mut most) = (true, 0);
        for (number, iterations) in (0..).zip(iterations) {
            let drawn = first.take().unwrap_or_else(|| self.draw(sense, rate, number));
            let outcome = self.outcomes.outcome(drawn.errors, drawn.outcome);
            let taken = self.times.ticks(drawn.errors, outcome);
            all &= outcome.0;
            most = most.max(taken);
            *iterations = taken;
        }
        (all, most)
    }
}

/// `codewords * i / planes`, if possible without a division, which takes as long as the rest of a page's plan.
#[inline]
pub(super) fn part_of(codewords: u32, i: u32, planes: u32) -> u32 {
    let product = codewords * i;
    if planes.is_power_of_two() { product >> planes.ilog2() } else { product / planes }
}

/// The range of codewords on plane number `i` of the planes that a read addresses: its codewords are divided over them.
#[inline]
pub(super) fn codewords_of(cmd: &FlashCommand, i: u32) -> Range<usize> {
    let planes = cmd.plane_count();
    part_of(cmd.codewords, i, planes) as usize..part_of(cmd.codewords, i + 1, planes) as usize
}

/// The number of codewords of a read on some of its planes (a mask).
pub(super) fn codewords_on(cmd: &FlashCommand, planes: u32) -> u32 {
    let these = (0..).zip(bits(cmd.planes)).filter(|(_, bit)| planes >> bit & 1 == 1);
    these.map(|(i, _)| codewords_of(cmd, i).len() as u32).sum()
}

/// The mean syndrome weight of the first 1,024 checks, at the correction limit of the code.
fn weight_at_limit(table: &Table) -> u32 {
    let errors = libm::round(table.limit() * CODEWORD_BITS as f64) as u32;
    let after = table.rows.partition_point(|row| row.errors < errors);
    let [before, next] = [&table.rows[after - 1], &table.rows[after]];
    let mean = |row: &Row| u64::from(row.first.mean);
    let (part, width) = (u64::from(errors - before.errors), u64::from(next.errors - before.errors));
    // The table holds hundredths.
    ((mean(before) * (width - part) + mean(next) * part) / (100 * width)) as u32
}

/// The state of a block at the beginning of a sense.
pub(super) struct FoundBlock {
    pub found: Found,
    /// The error rates of its mean page ([`Errors::rates`]).
    pub rates: [u64; 2],
    /// Errors per KiB, in 1/16, that come from its incomplete last erase.
    pub left: u32,
    /// Relative increase of its errors by all suspensions of its erases, in units of 2^-32.
    pub growth: u64,
}

impl FoundBlock {
    /// Whether erases that were incomplete or suspended have added errors.
    #[inline]
    pub fn has_erase_errors(&self) -> bool {
        u64::from(self.left) | self.growth != 0
    }
}

/// A codeword whose errors are drawn: the number of its wrong bits, and the draws for its decoding and its syndrome
/// weight.
#[derive(Clone, Copy)]
struct Codeword {
    errors: u32,
    outcome: u32,
    own: u32,
}

/// Results collected over the pages of one read.
#[derive(Default)]
struct SenseResults {
    /// Largest number of iterations of a codeword.
    most: u8,
    /// The plane of the present page in its die, as a mask.
    plane: u32,
    /// Planes whose pages the die senses again without a command, as a mask.
    in_die: u32,
    /// Pages that would have decoded and were predicted to fail.
    needless: u64,
    /// Pages that were predicted to decode, and failed.
    missed: u64,
    /// Planes whose pages could not be decoded, as a mask.
    failed: u32,
}

/// Totals of the senses of pages.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SenseTotals {
    /// Pages sensed by a command of the controller.
    pub pages: u64,
    /// Pages among these that had been sensed before.
    pub again: u64,
    /// Pages that the die sensed again without a command.
    pub in_die: u64,
    /// Pages whose speculative sense was not needed.
    pub dropped: u64,
    /// Array time, ns, of speculative senses up to the moment at which the data of the sense before them were decoded.
    /// [`super::FlashCounters::array_ns`] does not include it.
    pub ahead_ns: u64,
    /// Pages whose data could not be decoded.
    pub uncorrectable: u64,
    /// Pages among these for which no further sense was tried.
    pub given_up: u64,
    /// Pages for which a prediction was made.
    pub predicted: u64,
    /// Pages that were predicted to fail and would have decoded.
    pub needless: u64,
    /// Pages that were predicted to decode, and failed.
    pub missed: u64,
}

impl SenseTotals {
    /// Count the pages of an operation whose senses are planned. `first`: this is their first sense.
    #[inline]
    pub(super) fn count(&mut self, planes: u32, first: bool, predicted: bool) {
        let pages = u64::from(planes);
        self.pages += pages;
        self.again += if first { 0 } else { pages };
        self.predicted += if predicted { pages } else { 0 };
    }
}

impl<O: Observer> Flash<O> {
    pub(super) fn senses(&self) -> &Senses {
        self.fixed.senses.as_ref().expect("the caller has seen them")
    }

    /// Time of one sense in the array, ns, of a read and of those that joined it.
    pub(super) fn sense_ns(&self, head: u32) -> u64 {
        let whole = self.fixed.timing.read_ns(self.state.ops[head].cmd.page);
        let first = |id| self.state.sensing.attempts(id).is_first();
        match &self.fixed.senses {
            Some(senses) if !joined(&self.state.ops, head).any(first) => senses.further_ns(whole),
            _ => whole,
        }
    }

    /// Plan the senses of a read, and of those that joined it, when it enters the array. Returns the time of one sense,
    /// or `None` if it is that of an ordinary first sense, and the time that predictions and a second sense in the die
    /// take in addition. The latter is charged to the ledgers.
    #[inline(always)]
    pub(super) fn plan_senses(&mut self, head: u32) -> (Option<u64>, u64) {
        let alone = self.state.ops[head].joined == NONE;
        if alone && self.plan_plainly(head) {
            let predict = self.senses().predict_ns(Place::Die);
            self.state.ops[head].ledger.charge(Cause::PREDICT, predict);
            return (None, predict);
        }
        let (sense, beyond) = self.plan_with_draws(head, alone);
        (Some(sense), beyond)
    }

    /// [`Flash::plan_senses`] for a read that is not plain, or for joined reads.
    #[inline(never)]
    fn plan_with_draws(&mut self, head: u32, alone: bool) -> (u64, u64) {
        let in_die = self.senses().predictor_in(Place::Die);
        let mut again = false;
        let first =
            joined(&self.state.ops, head).any(|id| self.state.sensing.attempts[id as usize].senses == 0);
        let mut at = head;
        while at != NONE {
            if alone || !self.plan_plainly(at) {
                again |= self.plan_senses_of(at, first);
            }
            at = self.state.ops[at].joined;
        }
        // The die waits for its slowest plane.
        let predict = in_die.filter(|p| first && !(again && p.overlaps)).map_or(0, |p| p.ns);
        let whole = self.fixed.timing.read_ns(self.state.ops[head].cmd.page);
        let own = if first { whole } else { self.senses().further_ns(whole) };
        if self.senses().faster.drop.is_some() && self.state.ops[head].joined != NONE {
            self.sense_nothing_ahead(head);
        }
        let sense = if again { whole } else { 0 };
        let mut at = head;
        while at != NONE {
            let op = &mut self.state.ops[at];
            op.ledger.charge(Cause::PREDICT, predict);
            op.ledger.charge(Cause::RETRY_ARRAY, sense);
            at = op.joined;
        }
        (own, predict + sense)
    }

    /// The state of the block at an index of a plane, for a sense that begins now.
    #[inline(always)]
    pub(super) fn finds(&mut self, plane: u32, index: u32) -> FoundBlock {
        let Flash { fixed, state: s, .. } = self;
        let senses = fixed.senses.as_ref().expect("the caller has seen them");
        let found = s.blocks.finds(plane, index, s.now);
        FoundBlock {
            rates: s.sensing.rates(senses, plane, &found),
            left: fixed.eraser.as_ref().map_or(0, |eraser| eraser.left_errors(&s.blocks, plane, index)),
            growth: growth_of(&s.blocks, found.block, senses.growth),
            found,
        }
    }

    /// Plan the senses of one operation. `whole`: the sense takes the full time, because it is the first one of this
    /// operation or of one that it is joined with. Returns whether the die senses a page of the operation again without
    /// a command.
    fn plan_senses_of(&mut self, id: u32, whole: bool) -> bool {
        let cmd = self.state.ops[id].cmd;
        let attempts = &mut self.state.sensing.attempts[id as usize];
        attempts.senses += 1;
        attempts.to_decode += u8::from(attempts.decoded);
        (attempts.short, attempts.plain) = (!attempts.decoded, Plain::No);
        let Attempts { senses: number, decoded, aim, in_die: sensed_in_die, .. } = *attempts;
        let sense = match decoded {
            true => FIRST_SENSE - 1 + u32::from(attempts.to_decode),
            false => SHORT_SENSES + u32::from(number),
        };
        let first = number == 1;
        let aim = if first { self.senses().retry.first() } else { aim };
        let predictor = self.senses().predictor.filter(|_| first);
        let (mut results, mut end) = (SenseResults::default(), 0);
        let place = self.senses().most_codewords as usize * id as usize;
        let planes = cmd.plane_count();
        for (i, plane) in (1..).zip(self.fixed.planes_of(&cmd)) {
            let start = end;
            end = part_of(cmd.codewords, i, planes) as usize;
            let FoundBlock { mut found, rates, left, growth } = self.finds(plane, cmd.block);
            // The first sense was counted when it ended.
            found.reads = found.reads.saturating_sub(u32::from(!first));
            let Flash { fixed, state: s, .. } = self;
            let senses = fixed.senses.as_ref().expect("the caller has seen them");
            let left = if whole { left } else { left + senses.faster.errors };
            let in_its_die = plane - fixed.first_plane(cmd.unit);
            results.plane = 1 << in_its_die;
            // The draws of a page depend on how often it was sensed for decoding, whether by a command or by the die
            // itself.
            let before = sensed_in_die >> in_its_die & 1;
            let page = senses.page_of(rates, &found, cmd.page, sense + before);
            let page = page.worsened(u64::from(left) << RATE_SHIFT, growth);
            let vref = senses.vref(aim, &page, s.sensing.tracked(found.block));
            let at = senses.at(&page, vref);
            let iterations = &mut s.sensing.iterations[place + start..place + end];
            if first && at.rate < senses.decodings.plain_below() {
                results.most = results.most.max(senses.decodings.iterate(at, page.draw(), iterations));
                continue;
            }
            let (mut decodes, mut most) = senses.sense_page(&page, at, predictor, iterations, &mut results);
            if !decoded {
                iterations.fill(SKIPPED);
                (decodes, most) = (false, SKIPPED);
            } else if !decodes {
                s.counters.senses.uncorrectable += 1;
            }
            results.most = results.most.max(most);
            if !decodes {
                results.failed |= results.plane;
            } else if !first {
                s.sensing.note_vref(id, in_its_die, found.block, senses.errors.distance(&page, vref));
            }
        }
        let Flash { fixed, state: s, .. } = self;
        let senses = fixed.senses.as_ref().expect("the caller has seen them");
        let totals = &mut s.counters.senses;
        totals.count(planes, first, predictor.is_some());
        totals.in_die += u64::from(results.in_die.count_ones());
        totals.needless += results.needless;
        totals.missed += results.missed;
        let attempts = &mut s.sensing.attempts[id as usize];
        let codewords = &s.sensing.iterations[place..place + cmd.codewords as usize];
        attempts.in_die |= results.in_die;
        (attempts.most, attempts.last) = (results.most, codewords.last().copied().unwrap_or(0));
        let ahead = !first && senses.faster.drop.is_some();
        let asks = ahead || results.failed != 0;
        let view = FailedView { senses: number.into() };
        let next = asks.then(|| senses.retry.next(&view)).flatten();
        attempts.ahead = ahead && next.is_some();
        attempts.again = 0;
        if results.failed != 0 {
            match next {
                Some(Sense { aim, decoded }) => {
                    (attempts.again, attempts.aim, attempts.decoded) = (results.failed, aim, decoded)
                }
                None => {
                    attempts.given_up = results.failed;
                    s.counters.senses.given_up += u64::from(results.failed.count_ones());
                }
            }
        }
        results.in_die != 0
    }

    /// Whether the data of a sensed read will not decode, so that the read is queued again.
    #[inline]
    pub fn senses_again(&self, OpId(id): OpId) -> bool {
        self.state.sensing.attempts(id).again != 0
    }

    /// Continue a read whose data could not be decoded: queue it again for the pages that failed, unless its die has
    /// already begun to sense them.
    #[cold]
    pub(super) fn sense_again(&mut self, id: u32) {
        let s = &mut self.state;
        let op = &mut s.ops[id];
        let attempts = &mut s.sensing.attempts[id as usize];
        if attempts.whole == (0, 0) {
            attempts.whole = (op.cmd.planes, op.cmd.codewords);
        }
        let again = std::mem::take(&mut attempts.again);
        let codewords = codewords_on(&op.cmd, again);
        (op.cmd.planes, op.cmd.codewords) = (again, codewords);
        op.ledger = op.ledger.retried();
        if attempts.ahead {
            return self.sensed_ahead(id);
        }
        op.second = false;
        op.joined = NONE;
        let unit = op.cmd.unit;
        let in_order = self.senses().retries_in_order;
        let s = &mut self.state;
        if !in_order {
            s.ops[id].arrived = s.arrivals;
            s.arrivals += 1;
        }
        self.observe_queue(id, QueueStep::Retries);
        if self.enqueue(id, in_order) == Submitted::Gathers {
            self.begin_gathered(unit);
        }
    }

    /// Restore the original command of a read that was retried for some of its pages.
    #[inline]
    pub(super) fn make_whole(&mut self, id: u32) {
        let s = &mut self.state;
        let whole = s.sensing.attempts(id).whole;
        if whole != (0, 0) {
            let cmd = &mut s.ops[id].cmd;
            (cmd.planes, cmd.codewords) = whole;
        }
    }
}
