//! The senses of a page with raw bit errors: the errors of each codeword, whether it decodes, and the read-retry scheme
//! that reacts to failures. A *sense* is one array read of a page (tR) with one read voltage (V_REF). No time passes
//! here; `flash::senses` plans the senses of a read when it enters the array.
//!
//! Nothing is decoded. The errors of a codeword are drawn, and a table of the LDPC code gives the outcome: whether the
//! codeword decodes, its iterations and its syndrome weight. Only hard decisions are modelled.

use super::eraser::by_suspension;
use crate::nand::blocks::Found;
use crate::nand::errors::config::{ErrorsConfig, RetryPlace};
use crate::nand::errors::decodings::{At, Certain, Decodings};
use crate::nand::errors::draw::{Errors, FIRST_SENSE, Page, PageFactor, Vref};
use crate::nand::errors::times::DecodeTimes;
use crate::policy::read_retry::{Aim, Faster, Inference, Predictor, PredictorSite, ReadRetryPolicy};
use serde::{Deserialize, Serialize};
use tailcut_ldpc::{CODEWORD_BITS, Outcomes, Row, Table};

/// Blocks with more reads than this have no plain reads, so that the counter cannot overflow.
const MOST_READS: u32 = 1 << 31;
/// Stands for a codeword that is not decoded, in place of a number of iterations.
pub(crate) const SKIPPED: u8 = u8::MAX;

/// The model of senses and their decoding, and the read-retry scheme that reacts to failures.
#[derive(Clone, Debug)]
pub struct Senses {
    pub(crate) errors: Errors,
    outcomes: Outcomes,
    pub(crate) decodings: Decodings,
    pub(crate) retry: ReadRetryPolicy,
    pub(crate) predictor: Option<Predictor>,
    /// Time of a prediction, ns, by place ([`PredictorSite`]).
    predict_ns: [u64; 2],
    pub(crate) faster: Faster,
    /// Number of neighbouring blocks of a plane that share one tracked V_REF. It is the V_REF of the last retry in
    /// these blocks whose data could be decoded.
    pub(crate) group: u32,
    /// Whether reads can be plain (`flash::plain`).
    pub(crate) plain: bool,
    /// Pages whose error rate is below this have plain reads. Unit: 2^-40.
    pub(crate) plain_below: u64,
    /// Largest number of iterations of a codeword at a rate below `plain_below`.
    pub(crate) most_plain: u8,
    /// The share of a page's cells that hold a known pattern, in millionths. (A scheme infers V_REF from their errors.)
    known_cells: u32,
    /// The largest syndrome weight that the predictor takes as correctable; `u32::MAX` without a predictor.
    threshold: u32,
    /// Decoding times.
    times: DecodeTimes,
    /// Accuracy with which the scheme infers the optimum V_REF.
    inference: Inference,
    /// Whether a read keeps its position in the order of arrival when it is queued for a retry.
    pub(crate) retries_in_order: bool,
    /// Relative increase of a block's errors for each suspension of its erases, in units of 2^-32.
    pub(crate) growth: u64,
    /// Largest number of codewords of one operation.
    pub(crate) most_codewords: u32,
}

impl Senses {
    /// Create the model for a configuration. A page has `of_page` codewords, and an operation at most
    /// `most_codewords`. `growth` is the share by which 1,000 suspensions of a block's erases raise its errors.
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
        let predict_ns = [PredictorSite::Die, PredictorSite::Controller]
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
    /// codewords on the channel. If there is no such rate, the limit stays.
    pub(crate) fn with_codewords_every(self, ns: u64) -> Senses {
        let most = ns.checked_div(self.times.tick_ns()).unwrap_or(u64::MAX);
        let (plain_below, most_plain) = self.decodings.plain_within(most);
        Senses { plain_below, most_plain, ..self }
    }

    /// Time of a prediction at a place, ns; 0 if none is made there.
    #[inline]
    pub fn predict_ns(&self, place: PredictorSite) -> u64 {
        self.predict_ns[place as usize]
    }

    /// [`Errors::page_of`], compiled only once for all senses that are not plain.
    #[inline(never)]
    pub(crate) fn page_of(&self, rates: [u64; 2], found: &Found, page: u32, sense: u32) -> Page {
        self.errors.page_of(rates, found, page, sense)
    }

    /// Transfer time of only the cells with a known pattern, ns, of a page whose whole transfer takes `transfer` ns.
    pub fn known_ns(&self, transfer: u64) -> u64 {
        (transfer * u64::from(self.known_cells)).div_ceil(1_000_000)
    }

    /// Time of a second or later sense of a page, ns. `sense` is the time of its first sense.
    #[inline]
    pub fn further_ns(&self, sense: u64) -> u64 {
        sense - sense * u64::from(self.faster.shorter) / 1_000_000
    }

    /// When a speculative sense that is not needed releases the die. It has begun at `begun`, and the data of the sense
    /// before it are decoded at `done`. It then ends by itself or is reset, whichever is earlier. `sense` is the time
    /// of the page's first sense.
    pub fn dropped_at(&self, begun: u64, sense: u64, done: u64) -> u64 {
        let drop = self.faster.drop.unwrap_or(0);
        done.max((begun + self.further_ns(sense)).min(done + drop))
    }

    /// Whether the die begins its second sense at the same time as the prediction.
    pub fn prediction_overlaps(&self) -> bool {
        self.predictor_in(PredictorSite::Die).is_some_and(|p| p.overlaps)
    }

    #[inline]
    pub(crate) fn predictor_in(&self, place: PredictorSite) -> Option<Predictor> {
        self.predictor.filter(|p| p.place == place)
    }

    /// The V_REF with which a page is sensed.
    pub(crate) fn vref(&self, aim: Aim, page: &Page, tracked: u16) -> Vref {
        match aim {
            Aim::Default => Vref::Moved(0),
            Aim::Tracked => Vref::Moved(tracked),
            Aim::Moved(by) => Vref::Moved(by),
            Aim::Optimum(0) => Vref::Best,
            Aim::Optimum(deviation) => Vref::Beside(self.errors.off_optimum(page, deviation)),
            Aim::Inferred(number) => {
                // Whether the inference is right. No codeword has the number `u32::MAX`, so the draw is independent.
                let [draw, _] = self.errors.decode_draws(page.draw(), u32::MAX);
                let Inference { right, miss, deviation } = self.inference;
                match u64::from(draw) < right[usize::from(number)] {
                    true => self.vref(Aim::Optimum(deviation), page, tracked),
                    false => Vref::Beside(miss.min(i16::MAX as u16) as i16),
                }
            }
        }
    }

    /// Draw the errors of codeword `number` of a page whose error rate is `rate`. (Here and below, the draw of a sense,
    /// [`Page::draw`], is passed instead of the page, so that it stays in a register.)
    #[inline(always)]
    fn draw(&self, sense_draw: u64, rate: u64, number: u32) -> Codeword {
        let [outcome_draw, weight_draw] = self.errors.decode_draws(sense_draw, number);
        Codeword { errors: self.errors.codeword(sense_draw, rate, number), outcome_draw, weight_draw }
    }

    /// Whether the predictor expects a page to fail: the syndrome weight of its first codeword is above the threshold.
    /// If the errors of that codeword must be drawn for this, `first` returns it.
    #[inline(never)]
    fn is_predicted_to_fail(&self, sense_draw: u64, at: At, first: &mut Option<Codeword>) -> bool {
        match self.decodings.predicted(at) {
            Certain::All => true,
            Certain::None => false,
            Certain::Neither => {
                let &mut Codeword { errors, outcome_draw, weight_draw } =
                    first.insert(self.draw(sense_draw, at.rate, 0));
                self.outcomes.first_weight(errors, outcome_draw, weight_draw) > self.threshold
            }
        }
    }

    /// Sense a page with this error rate. Returns whether the data can be decoded, and the largest number of iterations
    /// of a codeword. `predictor` is set for a first sense if the scheme has one. If it expects the page to fail, a
    /// predictor in the die senses the page again, and one in the controller skips the decoding.
    #[inline(always)]
    pub(crate) fn sense_page(
        &self,
        page: &Page,
        at: At,
        predictor: Option<Predictor>,
        iterations: &mut [u8],
        results: &mut SenseResults,
    ) -> (bool, u8) {
        let (mut first, sense_draw) = (None, page.draw());
        let failing = |_: &Predictor| self.is_predicted_to_fail(sense_draw, at, &mut first);
        let Some(predictor) = predictor.filter(failing) else {
            let decoded = self.decode(sense_draw, at, first, iterations);
            results.missed += u64::from(predictor.is_some() && !decoded.0);
            return decoded;
        };
        results.needless += u64::from(self.would_decode(sense_draw, at, first, iterations.len()));
        if predictor.place == PredictorSite::Die {
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
    pub(crate) fn at(&self, page: &Page, vref: Vref) -> At {
        self.decodings.at(self.errors.rate(page, vref))
    }

    /// Decode a page that was sensed with this error rate, and write the iterations of each codeword to `iterations`.
    /// `first` is its first codeword, if its errors are drawn already. Returns whether all codewords decode, and the
    /// largest number of iterations.
    #[inline]
    fn decode(&self, sense_draw: u64, at: At, first: Option<Codeword>, iterations: &mut [u8]) -> (bool, u8) {
        match self.decodings.decodes(at) {
            Certain::All => (true, self.decodings.iterate(at, sense_draw, iterations)),
            Certain::None => {
                iterations.fill(self.times.failed());
                (false, self.times.failed())
            }
            Certain::Neither => self.decode_each(sense_draw, at.rate, first, iterations),
        }
    }

    /// Whether all codewords of a page would decode. This only judges a prediction; it changes nothing.
    /// `first` is its first codeword, if its errors are drawn already.
    #[inline(never)]
    fn would_decode(&self, sense_draw: u64, at: At, mut first: Option<Codeword>, codewords: usize) -> bool {
        match self.decodings.decodes(at) {
            Certain::All => true,
            Certain::None => false,
            // Most pages that are predicted to fail do so in the first codeword.
            Certain::Neither => (0..codewords as u32).all(|number| {
                let drawn = first.take().unwrap_or_else(|| self.draw(sense_draw, at.rate, number));
                self.outcomes.decodes(drawn.errors, drawn.outcome_draw)
            }),
        }
    }

    #[inline(never)]
    fn decode_each(
        &self,
        sense_draw: u64,
        rate: u64,
        mut first: Option<Codeword>,
        iterations: &mut [u8],
    ) -> (bool, u8) {
        let (mut all, mut most) = (true, 0);
        for (number, iterations) in (0..).zip(iterations) {
            let drawn = first.take().unwrap_or_else(|| self.draw(sense_draw, rate, number));
            let outcome = self.outcomes.outcome(drawn.errors, drawn.outcome_draw);
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
pub(crate) fn part_of(codewords: u32, i: u32, planes: u32) -> u32 {
    let product = codewords * i;
    if planes.is_power_of_two() { product >> planes.ilog2() } else { product / planes }
}

/// The mean number of the first 1,024 parity checks that fail, at the correction limit of the code.
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
pub(crate) struct FoundBlock {
    pub found: Found,
    /// The error rates of its mean page: at the optimum V_REF, and the excess at the default V_REF ([`Errors::rates`]).
    pub rates: [u64; 2],
    /// Errors per KiB, in 1/16, that are left by its incomplete last erase.
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

/// A codeword whose errors are drawn.
#[derive(Clone, Copy)]
struct Codeword {
    /// Number of wrong bits.
    errors: u32,
    /// The draw that decides whether it decodes, and in how many iterations.
    outcome_draw: u32,
    /// The draw for its syndrome weight.
    weight_draw: u32,
}

/// Results collected over the pages of one read.
#[derive(Default)]
pub(crate) struct SenseResults {
    /// Largest number of iterations of a codeword.
    pub(crate) most: u8,
    /// The plane, in its die, of the page that is being planned, as a mask.
    pub(crate) plane: u32,
    /// Planes whose pages the die senses a second time without a command, as a mask.
    pub(crate) in_die: u32,
    /// Pages that would have decoded and were predicted to fail.
    pub(crate) needless: u64,
    /// Pages that were predicted to decode, and failed.
    pub(crate) missed: u64,
    /// Planes whose pages could not be decoded, as a mask.
    pub(crate) failed: u32,
}

/// Totals of the senses of pages.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SenseTotals {
    /// Pages sensed by a command of the controller.
    pub pages: u64,
    /// Pages counted in `pages` that had been sensed before for the same read.
    pub again: u64,
    /// Pages that the die sensed a second time without a command, because a prediction expected them to fail.
    pub in_die: u64,
    /// Pages whose speculative sense was not needed.
    pub dropped: u64,
    /// Array time, ns, of speculative senses up to the moment at which the data of the sense before them were decoded.
    /// `FlashCounters::array_ns` does not include it.
    pub ahead_ns: u64,
    /// Pages whose data could not be decoded.
    pub uncorrectable: u64,
    /// Pages counted in `uncorrectable` for which no further sense was tried.
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
    pub(crate) fn count(&mut self, planes: u32, first: bool, predicted: bool) {
        let pages = u64::from(planes);
        self.pages += pages;
        self.again += if first { 0 } else { pages };
        self.predicted += if predicted { pages } else { 0 };
    }
}

impl Senses {
    /// The error rate of a page's first sense with V_REF at its default, and the draw for its iterations. `rates` are
    /// those of its block.
    #[inline(always)]
    pub(crate) fn first_sense(&self, rates: [u64; 2], found: &Found, page: u32) -> (u64, u64) {
        self.errors.undisturbed(rates, found, page, FIRST_SENSE)
    }

    /// Whether reads of a page are plain. `rate` is the error rate of its first sense.
    #[inline(always)]
    pub(crate) fn is_plain(&self, block: &FoundBlock, rate: u64) -> bool {
        rate < self.plain_below && may_be_plain(block)
    }

    /// The pages of a block whose reads are plain until its data have the age of `oldest`.
    pub(crate) fn plain_pages(&self, block: &FoundBlock, oldest: &Found) -> PageFactor {
        if may_be_plain(block) {
            self.errors.largest_bound(oldest, self.plain_below)
        } else {
            PageFactor::NONE
        }
    }
}

/// Whether a block may have plain reads. Their error rates alone then decide which.
#[inline(always)]
fn may_be_plain(block: &FoundBlock) -> bool {
    block.found.reads < MOST_READS && !block.has_erase_errors()
}
