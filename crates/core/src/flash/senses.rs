//! Reads of pages with raw bit errors: which senses a read needs, and what follows a failure. (A sense is one array
//! read of a page with one V_REF; [`crate::array::senses`] draws its errors.)
//!
//! The senses of a read are planned when the read enters the array, because their results depend only on the state of
//! its pages, which is known then. Each page of a multi-plane read, or of joined reads, succeeds or fails
//! independently. A read whose data cannot be decoded goes back to the queue of its die for the pages that failed,
//! unless the die has already begun to sense them again ([`super::ahead`]).
//!
//! A page can be sensed again in two ways. A *retry* is a further sense by a command of the controller. Before the data
//! leave the die, a predictor in the die can also start a second sense without a command; it belongs to the first one.

use super::attempts::{Attempts, Plain};
use super::dispatch::Submitted;
use super::join::joined;
use super::op::{FlashCommand, OpId};
use super::state::Flash;
use crate::array::eraser::growth_of;
use crate::array::senses::{FoundBlock, SKIPPED, SenseResults, Senses, part_of};
use crate::containers::{NONE, bits};
use crate::nand::errors::draw::FIRST_SENSE;
use crate::observer::{Observer, QueueStep};
use crate::policy::read_retry::{FailedView, PredictorSite, Sense};
use std::ops::Range;
use tailcut_units::Cause;

/// Converts errors per KiB, in 1/16, to a rate in 2^-40: a KiB has 2^13 bits.
const RATE_SHIFT: u32 = 40 - 13 - 4;
/// In the keys of draws, senses whose data are not decoded are numbered from here, and others from [`FIRST_SENSE`].
const UNDECODED_SENSES: u32 = 128;

/// The codewords of a read on plane number `i` of the planes that it addresses. All its codewords are divided evenly
/// over these planes.
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

impl<O: Observer> Flash<O> {
    pub(super) fn senses(&self) -> &Senses {
        self.fixed.senses.as_ref().expect("the caller has seen them")
    }

    /// Time of one sense in the array, ns, of a read and of those that joined it. A scheme can shorten retries. If one
    /// of these reads is in its first sense, all take the full time.
    pub(super) fn sense_ns(&self, head: u32) -> u64 {
        let whole = self.fixed.timing.read_ns(self.state.ops[head].cmd.page);
        let first = |id| self.state.sensing.attempts(id).is_first();
        match &self.fixed.senses {
            Some(senses) if !joined(&self.state.ops, head).any(first) => senses.further_ns(whole),
            _ => whole,
        }
    }

    /// Plan the senses of a read, and of those that joined it, when it enters the array. Returns two times in ns:
    ///
    /// - of the sense by command; `None` if it is the ordinary read time of the page.
    /// - of predictions in the die and of a second sense there. This time is in addition to the first one, and is
    ///   charged to the ledgers here.
    #[inline(always)]
    pub(super) fn plan_senses(&mut self, head: u32) -> (Option<u64>, u64) {
        let alone = self.state.ops[head].joined == NONE;
        if alone && self.plan_plainly(head) {
            let predict = self.senses().predict_ns(PredictorSite::Die);
            self.state.ops[head].ledger.charge(Cause::PREDICT, predict);
            return (None, predict);
        }
        let (sense, beyond) = self.plan_with_draws(head, alone);
        (Some(sense), beyond)
    }

    /// [`Flash::plan_senses`] for a read that is not plain, or for joined reads.
    #[inline(never)]
    fn plan_with_draws(&mut self, head: u32, alone: bool) -> (u64, u64) {
        let in_die = self.senses().predictor_in(PredictorSite::Die);
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
        // The die waits for its slowest plane. A prediction takes no time of its own if it overlaps a second sense that
        // is needed.
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
    /// operation or of one that it is joined with. Returns whether the die senses a page of the operation a second time
    /// without a command.
    fn plan_senses_of(&mut self, id: u32, whole: bool) -> bool {
        let cmd = self.state.ops[id].cmd;
        let attempts = &mut self.state.sensing.attempts[id as usize];
        attempts.senses += 1;
        attempts.to_decode += u8::from(attempts.decoded);
        (attempts.known_cells_only, attempts.plain) = (!attempts.decoded, Plain::No);
        let Attempts { senses: number, decoded, aim, in_die: sensed_in_die, .. } = *attempts;
        let sense = match decoded {
            true => FIRST_SENSE - 1 + u32::from(attempts.to_decode),
            false => UNDECODED_SENSES + u32::from(number),
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
            // A block counts a read at the end of its first sense. For a retry, subtract it, so that all senses of a
            // read have the same count in the keys of their draws.
            found.reads = found.reads.saturating_sub(u32::from(!first));
            let Flash { fixed, state: s, .. } = self;
            let senses = fixed.senses.as_ref().expect("the caller has seen them");
            let left = if whole { left } else { left + senses.faster.errors };
            let in_its_die = plane - fixed.first_plane(cmd.unit);
            results.plane = 1 << in_its_die;
            // The number of a sense in the keys counts all senses of the page for decoding: those by a command, and a
            // second one by the die.
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

    /// Whether a page of a sensed read will not decode and is to be sensed again.
    #[inline]
    pub fn senses_again(&self, OpId(id): OpId) -> bool {
        self.state.sensing.attempts(id).again != 0
    }

    /// Retry a read for the pages that could not be decoded. Queue it again, unless its die has already begun to sense
    /// these pages.
    #[cold]
    pub(super) fn sense_again(&mut self, id: u32) {
        let s = &mut self.state;
        let op = &mut s.ops[id];
        let attempts = &mut s.sensing.attempts[id as usize];
        if attempts.original == (0, 0) {
            attempts.original = (op.cmd.planes, op.cmd.codewords);
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
        let original = s.sensing.attempts(id).original;
        if original != (0, 0) {
            let cmd = &mut s.ops[id].cmd;
            (cmd.planes, cmd.codewords) = original;
        }
    }
}
