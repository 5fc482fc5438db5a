//! Reads of pages with raw bit errors: what each codeword has, whether it decodes, and which sense follows.
//!
//! The senses of a read are planned when it enters the array: all that they depend on is known of its pages.
//! Each page of a multi-plane read, and of reads that were joined, succeeds or fails for itself. A read whose
//! data cannot be decoded is queued at its die again, for the pages that failed, or the die has begun to sense them
//! again.

use super::dispatch::Submitted;
use super::erase::{by_suspension, growth_of};
use super::join::joined;
use super::op::{FlashCommand, OpId};
use super::state::Flash;
use crate::address::BlockId;
use crate::containers::NONE;
use crate::nand::blocks::Found;
use crate::nand::ecc::Decoding;
use crate::nand::errors::decodings::{At, Certain, Decodings};
use crate::nand::errors::draw::{Aged, Errors, Page, Vref};
use crate::observer::{Observer, QueueStep};
use crate::policy::read_retry::{Aim, FailedView, Faster, Place, Predictor, ReadRetryPolicy, Sense};
use serde::{Deserialize, Serialize};
use std::ops::Range;
use tailcut_ldpc::{CODEWORD_BITS, Outcomes, Row, Table};
use tailcut_units::Cause;
use tailcut_units::random::mix;

/// From errors of a KiB, in 1/16, to a rate in 2^-40: a KiB has 2^13 bits.
const RATE_SHIFT: u32 = 40 - 13 - 4;
/// In place of a number of iterations: a codeword that is not decoded.
const SKIPPED: u8 = u8::MAX;

/// What senses give, and the scheme that reacts to failures.
#[derive(Clone, Debug)]
pub struct Senses {
    pub(super) errors: Errors,
    outcomes: Outcomes,
    pub(super) decodings: Decodings,
    pub(super) retry: ReadRetryPolicy,
    pub(super) predictor: Option<Predictor>,
    faster: Faster,
    /// Neighbouring blocks of a plane that share the V_REF of the last page that was sensed again.
    group: u32,
    /// The share of a page that its known cells are, in millionths.
    known_cells: u32,
    /// The largest syndrome weight that the predictor takes as correctable; `u32::MAX` without one.
    threshold: u32,
    /// Time of one iteration of the decoder, ns.
    iteration_ns: u64,
    /// By how much a suspension of a block's erases raises its errors, of 2^32.
    pub(super) growth: u64,
    /// What a prediction takes in the die and in the controller, ns; 0 where there is none.
    in_die_ns: u64,
    in_controller_ns: u64,
    /// Codewords that one operation can move.
    pub(super) most_codewords: u32,
}

impl Senses {
    /// The senses of a drive whose decoder has this table. `growth`: the share by which 1,000 suspensions of a
    /// block's erases raise its errors.
    pub fn new(
        errors: Errors,
        table: &Table,
        retry: ReadRetryPolicy,
        iteration_ns: u64,
        growth: f64,
        most_codewords: u32,
    ) -> Senses {
        let predictor = retry.predictor();
        let threshold = predictor.map_or(u32::MAX, |p| p.threshold.unwrap_or_else(|| weight_at_limit(table)));
        let outcomes = Outcomes::new(table);
        let decodings = Decodings::new(&errors, &outcomes, threshold);
        let takes = |place| predictor.filter(|p| p.place == place).map_or(0, |p| p.ns);
        let (group, known_cells, faster) = (retry.tracked_blocks(), retry.known_cells(), retry.faster());
        Senses {
            errors,
            outcomes,
            decodings,
            retry,
            predictor,
            faster,
            group,
            known_cells,
            threshold,
            iteration_ns,
            growth: by_suspension(growth),
            in_die_ns: takes(Place::Die),
            in_controller_ns: takes(Place::Controller),
            most_codewords,
        }
    }

    /// What a prediction takes at a place, ns; 0 where there is none.
    #[inline]
    pub fn predict_ns(&self, place: Place) -> u64 {
        match place {
            Place::Die => self.in_die_ns,
            Place::Controller => self.in_controller_ns,
        }
    }

    /// Time in which the known cells of a page cross the channel, which takes `transfer` for all of it, ns.
    pub fn known_ns(&self, transfer: u64) -> u64 {
        (transfer * u64::from(self.known_cells)).div_ceil(1_000_000)
    }

    /// Time of a sense after the first, of a page whose first takes `sense`, ns.
    #[inline]
    pub fn further_ns(&self, sense: u64) -> u64 {
        sense - sense * u64::from(self.faster.shorter) / 1_000_000
    }

    /// Until when the die is held by a sense that it has begun ahead at `begun`, and drops because the data of the
    /// last are decoded at `done`. `sense` is the time of the page's first sense.
    pub fn dropped_at(&self, begun: u64, sense: u64, done: u64) -> u64 {
        let drop = self.faster.drop.unwrap_or(0);
        done.max((begun + self.further_ns(sense)).min(done + drop))
    }

    /// Whether a second sense of the die begins with the prediction.
    pub fn prediction_overlaps(&self) -> bool {
        self.predictor_in(Place::Die).is_some_and(|p| p.overlaps)
    }

    fn predictor_in(&self, place: Place) -> Option<Predictor> {
        self.predictor.filter(|p| p.place == place)
    }

    /// The V_REF of a sense of a page.
    fn vref(&self, aim: Aim, page: &Page, tracked: u16) -> Vref {
        match aim {
            Aim::Default => Vref::Moved(0),
            Aim::Tracked => Vref::Moved(tracked),
            Aim::Moved(by) => Vref::Moved(by),
            Aim::Optimum(0) => Vref::Best,
            Aim::Optimum(deviation) => Vref::Beside(self.errors.off_optimum(page, deviation)),
        }
    }

    /// Whether the syndrome weight of the first codeword of a page, which is sensed with this error rate, is above
    /// the threshold.
    #[inline]
    fn is_predicted_to_fail(&self, page: &Page, rate: u64, at: At) -> bool {
        match self.decodings.predicted(at) {
            Certain::All => true,
            Certain::None => false,
            Certain::Neither => {
                let errors = self.errors.codeword(page, rate, 0);
                let [outcome, own] = self.errors.decode_draws(page, 0);
                self.outcomes.first_weight(errors, outcome, own) > self.threshold
            }
        }
    }

    /// Sense a page with this error rate, and `again` if it is the first sense and the die expects the page to fail.
    /// Returns whether its data can be decoded.
    #[inline(always)]
    fn sense_page(
        &self,
        page: &Page,
        (rate, at): (u64, At),
        (first, decoded): (bool, bool),
        again: impl FnOnce() -> Page,
        iterations: &mut [u8],
        (seen, totals): (&mut Seen, &mut SenseTotals),
    ) -> bool {
        let predictor = self.predictor.filter(|_| first);
        let fails = predictor.is_some() && self.is_predicted_to_fail(page, rate, at);
        let mut decodes = self.decode(page, rate, at, iterations) && decoded;
        if let Some(predictor) = predictor {
            totals.needless += u64::from(fails && decodes);
            totals.missed += u64::from(!fails && !decodes);
            if fails && predictor.place == Place::Die {
                seen.in_die = true;
                totals.in_die += 1;
                let page = again();
                let rate = self.errors.rate(&page, self.vref(Aim::Optimum(predictor.deviation), &page, 0));
                decodes = self.decode(&page, rate, self.decodings.at(rate), iterations);
            } else if fails {
                iterations.fill(SKIPPED);
                decodes = false;
            }
        }
        if !decoded {
            iterations.fill(SKIPPED);
        } else if !decodes {
            totals.uncorrectable += 1;
        }
        seen.most = iterations.iter().copied().fold(seen.most, u8::max);
        decodes
    }

    /// Note how many iterations each codeword of a page takes, which is sensed with this error rate. Returns
    /// whether all decode.
    #[inline]
    fn decode(&self, page: &Page, rate: u64, at: At, iterations: &mut [u8]) -> bool {
        match self.decodings.decodes(at) {
            Certain::All => {
                self.iterate(at, page.draw(), iterations);
                true
            }
            Certain::None => {
                iterations.fill(self.outcomes.limit());
                false
            }
            Certain::Neither => self.decode_each(page, rate, iterations),
        }
    }

    /// The place of the rate of the first sense of a page with V_REF at its default, and the draw of its iterations.
    #[inline]
    pub(super) fn first_sense(&self, aged: [u64; 2], found: &Found, page: u32) -> (At, u64) {
        let page = self.errors.page_of(aged, found, page, 2);
        (self.decodings.at(self.errors.rate(&page, Vref::Moved(0))), page.draw())
    }

    /// Draw the iterations of the codewords of a page at a rate at which all decode.
    #[inline]
    pub(super) fn iterate(&self, at: At, mut draw: u64, iterations: &mut [u8]) {
        // One draw has 16 bits for the distribution, and eight for each of six codewords.
        for codewords in iterations.chunks_mut(6) {
            let table = self.decodings.iterations(at, (draw >> 48) as u16);
            for (i, iterations) in codewords.iter_mut().enumerate() {
                *iterations = table[usize::from((draw >> (8 * i)) as u8)];
            }
            draw = mix(draw);
        }
    }

    /// The iterations that [`Senses::iterate`] draws for one codeword of a page.
    #[inline]
    pub(super) fn iterations_of(&self, at: At, draw: u64, number: u32) -> u8 {
        let draw = (0..number / 6).fold(draw, |draw, _| mix(draw));
        self.decodings.iterations(at, (draw >> 48) as u16)[usize::from((draw >> (8 * (number % 6))) as u8)]
    }

    #[inline(never)]
    fn decode_each(&self, page: &Page, rate: u64, iterations: &mut [u8]) -> bool {
        let mut all = true;
        for (number, iterations) in (0..).zip(iterations) {
            let errors = self.errors.codeword(page, rate, number);
            let [draw, _] = self.errors.decode_draws(page, number);
            let (decoded, taken) = self.outcomes.outcome(errors, draw);
            all &= decoded;
            *iterations = taken;
        }
        all
    }
}

/// `codewords * i / planes`. (A division takes as long as all the rest of the plan of a page.)
#[inline]
pub(super) fn part_of(codewords: u32, i: u32, planes: u32) -> u32 {
    let product = codewords * i;
    if planes.is_power_of_two() { product >> planes.ilog2() } else { product / planes }
}

/// The codewords of plane number `i` of those that a read addresses: its codewords are divided over them.
fn codewords_of(cmd: &FlashCommand, i: u32) -> Range<u32> {
    let [start, end] = [i, i + 1].map(|i| cmd.codewords * i / cmd.plane_count());
    start..end
}

/// The number of codewords of a read that are on these planes, a mask.
fn codewords_on(cmd: &FlashCommand, planes: u32) -> u32 {
    let all = (0..u32::BITS).filter(|bit| cmd.planes >> bit & 1 == 1);
    let these = (0..).zip(all).filter(|(_, bit)| planes >> bit & 1 == 1);
    these.map(|(i, _)| codewords_of(cmd, i).len() as u32).sum()
}

/// The mean syndrome weight of the first 1,024 checks at the correction limit of a code.
fn weight_at_limit(table: &Table) -> u32 {
    let errors = libm::round(table.limit() * CODEWORD_BITS as f64) as u32;
    let after = table.rows.partition_point(|row| row.errors < errors);
    let [before, next] = [&table.rows[after - 1], &table.rows[after]];
    let mean = |row: &Row| u64::from(row.first.mean);
    let (part, width) = (u64::from(errors - before.errors), u64::from(next.errors - before.errors));
    // The table has hundredths.
    ((mean(before) * (width - part) + mean(next) * part) / (100 * width)) as u32
}

/// The senses under way, and what they have told.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct SenseState {
    /// By operation: its senses. Empty if pages have no raw bit errors. (It is not in the operations, so that
    /// other drives do not hold it.)
    pub attempts: Vec<Attempts>,
    /// By operation and codeword: the iterations of its decoding.
    pub iterations: Vec<u8>,
    /// By group of blocks: V_REF as its distance from the default.
    tracked: Vec<u16>,
    /// Blocks of a group.
    group: u32,
    /// The time of the channels that moved pages which did not decode, ns.
    pub uncorrectable_ns: u64,
    /// By plane, modulo 4: the rates of the last block.
    #[serde(skip)]
    pub aged: [Aged; 4],
    /// By operation and plane: what a plain read finds.
    pub plain: Vec<Found>,
}

impl SenseState {
    /// The state of a flash with these senses and blocks, whose operations have at most so many planes.
    pub fn new(senses: Option<&Senses>, ops: u32, planes: u32, blocks: usize) -> SenseState {
        let Some(senses) = senses else { return SenseState::default() };
        let tracks = senses.retry.first() == Aim::Tracked;
        SenseState {
            attempts: vec![Attempts::NONE; ops as usize],
            iterations: vec![0; ops as usize * senses.most_codewords as usize],
            tracked: vec![0; if tracks { blocks.div_ceil(senses.group as usize) } else { 0 }],
            group: senses.group,
            uncorrectable_ns: 0,
            aged: Default::default(),
            plain: vec![Found::default(); ops as usize * planes as usize],
        }
    }

    /// An operation begins.
    pub fn begin(&mut self, id: u32) {
        self.attempts[id as usize] = Attempts::NONE;
    }

    /// The senses of an operation; [`Attempts::NONE`] if pages have no raw bit errors.
    pub fn attempts(&self, id: u32) -> Attempts {
        self.attempts.get(id as usize).copied().unwrap_or(Attempts::NONE)
    }

    /// Do not sense again for an operation.
    pub fn give_up(&mut self, id: u32) {
        self.attempts[id as usize].again = 0;
    }

    fn tracked(&mut self, block: BlockId) -> Option<&mut u16> {
        if self.tracked.is_empty() {
            return None;
        }
        self.tracked.get_mut((block.0 / self.group) as usize)
    }
}

/// What the pages of one operation have told.
#[derive(Default)]
struct Seen {
    /// No codeword takes more iterations.
    most: u8,
    /// Whether the die senses one of them again by itself.
    in_die: bool,
    /// Planes whose pages cannot be decoded, as a mask; and a draw of the last one.
    failed: u32,
    draw: u32,
}

/// The senses of an operation so far, and what follows.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct Attempts {
    /// Senses that the controller has ordered.
    pub senses: u8,
    /// Whether the data of the next sense are decoded, and where its V_REF stands.
    decoded: bool,
    aim: Aim,
    /// Whether only the known cells of this sense cross the channel.
    short: bool,
    /// Whether this sense is of a plain read, whose iterations are drawn only if they are needed.
    pub plain: bool,
    /// No codeword of this sense takes more iterations; `SKIPPED` if one is not decoded.
    pub most: u8,
    /// The iterations of the last codeword.
    pub last: u8,
    /// Planes whose pages are sensed again after this sense, as a mask.
    pub again: u32,
    /// Planes whose pages are given up after this sense.
    pub given_up: u32,
    /// The planes and codewords of the command, if some of them are not sensed again.
    whole: (u32, u32),
    /// Whether the die keeps the read, and begins the next sense when this one ends.
    pub ahead: bool,
}

impl Attempts {
    /// Before the first sense.
    pub const NONE: Attempts = Attempts {
        senses: 0,
        decoded: true,
        aim: Aim::Default,
        short: false,
        plain: false,
        most: 0,
        last: 0,
        again: 0,
        given_up: 0,
        whole: (0, 0),
        ahead: false,
    };

    /// Whether this is the first sense.
    pub fn is_first(&self) -> bool {
        self.senses <= 1
    }
}

/// Totals of the senses of pages.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SenseTotals {
    /// Pages sensed on the controller's order, and those of them that were sensed before.
    pub pages: u64,
    /// See `pages`.
    pub again: u64,
    /// Pages that the die sensed again by itself.
    pub in_die: u64,
    /// Pages that the die began to sense ahead, and that were not needed.
    pub dropped: u64,
    /// Time of the arrays that senses ahead took until the data of the sense before were decoded, ns. It is not in
    /// [`super::FlashCounters::array_ns`].
    pub ahead_ns: u64,
    /// Pages whose data could not be decoded.
    pub uncorrectable: u64,
    /// Of these, pages that were given up.
    pub given_up: u64,
    /// Pages for which the prediction was asked.
    pub predicted: u64,
    /// Pages that would have decoded, and were predicted to fail.
    pub needless: u64,
    /// Pages that were predicted to decode, and failed.
    pub missed: u64,
}

impl<O: Observer> Flash<O> {
    fn senses(&self) -> &Senses {
        self.fixed.senses.as_ref().expect("the caller has seen them")
    }

    /// Time of the sense that a read and those that joined it have in the array, ns.
    pub(super) fn sense_ns(&self, head: u32) -> u64 {
        let whole = self.fixed.timing.read_ns(self.state.ops[head].cmd.page);
        let first = |id| self.state.sensing.attempts(id).is_first();
        match &self.fixed.senses {
            Some(senses) if !joined(&self.state.ops, head).any(first) => senses.further_ns(whole),
            _ => whole,
        }
    }

    /// Plan the senses of a read that is not plain, or of several that have joined, as they enter the array. Returns
    /// the time of one sense. Charges what they take beyond it, and returns that too.
    #[inline(never)]
    pub(super) fn plan_senses(&mut self, head: u32) -> (u64, u64) {
        let in_die = self.senses().predictor_in(Place::Die);
        let alone = self.state.ops[head].joined == NONE;
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
        // The die waits for the longest of its planes.
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

    /// Plan the senses of one operation. `whole`: it, or one that it is sensed with, has its first sense, which takes
    /// its whole time. Returns whether the die senses a page of it again by itself.
    fn plan_senses_of(&mut self, id: u32, whole: bool) -> bool {
        let Flash { fixed, state: s, .. } = self;
        let senses = fixed.senses.as_ref().expect("the caller has seen them");
        let cmd = s.ops[id].cmd;
        let attempts = &mut s.sensing.attempts[id as usize];
        let aim = if attempts.senses == 0 { senses.retry.first() } else { attempts.aim };
        attempts.senses += 1;
        (attempts.short, attempts.plain) = (!attempts.decoded, false);
        let (number, decoded) = (attempts.senses, attempts.decoded);
        let first = number == 1;
        let planes = cmd.plane_count();
        let totals = &mut s.counters.senses;
        totals.pages += u64::from(planes);
        totals.again += if first { 0 } else { u64::from(planes) };
        totals.predicted += if first && senses.predictor.is_some() { u64::from(planes) } else { 0 };
        let place = senses.most_codewords as usize * id as usize;
        let mut seen = Seen::default();
        let mut end = 0;
        for (i, plane) in (1..).zip(fixed.planes_of(&cmd)) {
            let start = end;
            end = part_of(cmd.codewords, i, planes);
            let found = s.blocks.finds(plane, cmd.block, s.now);
            let growth = growth_of(&s.blocks, found.block, senses.growth);
            let left = fixed.eraser.as_ref().map_or(0, |e| e.left_errors(&s.blocks, plane, cmd.block));
            let left = if whole { left } else { left + senses.faster.errors };
            let besides = u64::from(left) << RATE_SHIFT;
            let aged = senses.errors.aged_like(&mut s.sensing.aged[plane as usize % 4], &found);
            let page = senses.errors.page_of(aged, &found, cmd.page, 2 * u32::from(number));
            let page = page.worsened(besides, growth);
            let tracked = s.sensing.tracked(found.block).map_or(0, |tracked| *tracked);
            let rate = senses.errors.rate(&page, senses.vref(aim, &page, tracked));
            let iterations = &mut s.sensing.iterations[place + start as usize..place + end as usize];
            let at = senses.decodings.at(rate);
            if first && rate < senses.decodings.plain_below() {
                senses.iterate(at, page.draw(), iterations);
                seen.most = senses.decodings.most_plain(at).max(seen.most);
                continue;
            }
            let again = || {
                senses
                    .errors
                    .page_of(aged, &found, cmd.page, 2 * u32::from(number) + 1)
                    .worsened(besides, growth)
            };
            let decodes = senses.sense_page(
                &page,
                (rate, at),
                (first, decoded),
                again,
                iterations,
                (&mut seen, &mut s.counters.senses),
            );
            if decodes
                && !first
                && let Some(tracked) = s.sensing.tracked(found.block)
            {
                *tracked = senses.errors.optimum(&page);
            }
            if !decodes {
                seen.failed |= 1 << (plane - fixed.first_plane(cmd.unit));
                seen.draw = senses.errors.decode_draws(&page, u32::MAX)[0];
            }
        }
        let attempts = &mut s.sensing.attempts[id as usize];
        let codewords = &s.sensing.iterations[place..place + cmd.codewords as usize];
        (attempts.most, attempts.last) = (seen.most, codewords.last().copied().unwrap_or(0));
        if first && seen.failed == 0 {
            return seen.in_die;
        }
        let ahead = !first && senses.faster.drop.is_some();
        let asks = ahead || seen.failed != 0;
        let view = FailedView { senses: number.into(), draw: seen.draw };
        let next = asks.then(|| senses.retry.next(&view)).flatten();
        attempts.ahead = ahead && next.is_some();
        attempts.again = 0;
        if seen.failed != 0 {
            match next {
                Some(Sense { aim, decoded }) => {
                    (attempts.again, attempts.aim, attempts.decoded) = (seen.failed, aim, decoded)
                }
                None => {
                    attempts.given_up = seen.failed;
                    s.counters.senses.given_up += u64::from(seen.failed.count_ones());
                }
            }
        }
        seen.in_die
    }

    /// Whether the data of a sensed read will not be decoded, so that the read is queued again.
    #[inline]
    pub fn senses_again(&self, OpId(id): OpId) -> bool {
        self.state.sensing.attempts(id).again != 0
    }

    /// Begin the transfer of a sensed page, which takes `transfer` if it is whole. Its codewords take different
    /// times in the decoder. Returns the time of the transfer and its end. The end of the decoding includes the
    /// time of a prediction.
    #[inline(never)]
    pub(super) fn transfer_to_decoder(&mut self, id: u32, transfer: u64) -> (u64, Decoding) {
        let Flash { fixed, state: s, .. } = self;
        let senses = fixed.senses.as_ref().expect("the caller has seen them");
        let Attempts { senses: number, again, given_up, short, plain, most, last, .. } =
            s.sensing.attempts[id as usize];
        if short {
            let transfer = senses.known_ns(transfer);
            s.sensing.uncorrectable_ns += transfer;
            let end = s.now + transfer;
            return (
                transfer,
                Decoding { channel_free: end, stalled: 0, waited: 0, done: end, predicted: 0 },
            );
        }
        let op = &s.ops[id];
        let (codewords, decoder) = (op.cmd.codewords, &mut s.decoders[op.channel as usize]);
        let ns = |n: u8| u64::from(n) * senses.iteration_ns;
        let apart = match most {
            SKIPPED => None,
            _ => decoder.transfer_apart(s.now, transfer, codewords, (ns(most), ns(last))),
        };
        let d = match apart {
            Some(decoding) => decoding,
            None => {
                if plain {
                    self.draw_iterations(id);
                }
                self.transfer_each(id, transfer)
            }
        };
        let Flash { fixed, state: s, .. } = self;
        let senses = fixed.senses.as_ref().expect("the caller has seen them");
        let op = &mut s.ops[id];
        if again | given_up != 0 {
            let failed = u64::from(codewords_on(&op.cmd, again | given_up));
            s.sensing.uncorrectable_ns += transfer * failed / u64::from(op.cmd.codewords);
        }
        // A prediction behind the channel delays the data, and keeps no server.
        let predicted = if number == 1 { senses.predict_ns(Place::Controller) } else { 0 };
        op.ledger.charge(Cause::PREDICT, predicted);
        (transfer, Decoding { predicted, done: d.done + predicted, ..d })
    }

    /// The same of codewords that may wait for one another, from the iterations of each.
    fn transfer_each(&mut self, id: u32, transfer: u64) -> Decoding {
        let Flash { fixed, state: s, .. } = self;
        let senses = fixed.senses.as_ref().expect("the caller has seen them");
        let op = &s.ops[id];
        let first = senses.most_codewords as usize * id as usize;
        let iterations = &s.sensing.iterations[first..first + op.cmd.codewords as usize];
        s.decoders[op.channel as usize].transfer_each(s.now, transfer, op.cmd.codewords, |base, number| {
            match iterations[number as usize] {
                SKIPPED => 0,
                n => base + u64::from(n) * senses.iteration_ns,
            }
        })
    }

    /// Go on with a read whose data could not be decoded: for the pages that failed, it is queued again, or its
    /// die has begun to sense them.
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
        op.arrived = s.arrivals;
        s.arrivals += 1;
        let unit = op.cmd.unit;
        self.observe_queue(id, QueueStep::Retries);
        if self.enqueue(id) == Submitted::Gathers {
            self.begin_gathered(unit);
        }
    }

    /// Give a read that was sensed again its whole command back.
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
