//! The way of sensed pages with raw bit errors through the decoder.

use super::attempts::Attempts;
use super::op::Op;
use super::senses::{SKIPPED, Senses, codewords_on};
use super::state::Flash;
use crate::nand::ecc::Decoding;
use crate::observer::Observer;
use crate::policy::read_retry::Place;
use tailcut_units::Cause;

impl<O: Observer> Flash<O> {
    /// Begin the transfer of sensed pages, which takes `transfer` if they are whole. Their codewords take different
    /// times in the decoder. Returns the time of the transfer, its end, and whether the die goes on to sense the
    /// pages. The end of the decoding includes the time of a prediction.
    pub(super) fn transfer_to_decoder(&mut self, id: u32, transfer: u64) -> (u64, Decoding, bool) {
        let Attempts { again, given_up, short, ahead, .. } = self.state.sensing.attempts[id as usize];
        if short {
            let (transfer, decoding) = self.transfer_known_cells(transfer);
            return (transfer, decoding, ahead);
        }
        let d = match self.transfer_apart(id, transfer) {
            Some(decoding) => decoding,
            None => self.transfer_each(id, transfer),
        };
        if again | given_up != 0 {
            self.count_uncorrectable(id, again | given_up, transfer);
        }
        (transfer, d, ahead)
    }

    /// The same of whole pages of which no codeword waits for another. `None`, and nothing is done, if one may.
    /// Charges the time of a prediction.
    #[inline(always)]
    pub(super) fn transfer_apart(&mut self, id: u32, transfer: u64) -> Option<Decoding> {
        let Flash { fixed, state: s, .. } = self;
        let senses = fixed.senses.as_ref().expect("the caller has seen them");
        let Attempts { senses: number, most, last, .. } = s.sensing.attempts[id as usize];
        if most == SKIPPED {
            return None;
        }
        let op = &mut s.ops[id];
        let (decoder, ns) = (&mut s.decoders[op.channel as usize], |n: u8| senses.ticks_ns(n));
        let done = decoder.transfer_apart(s.now, transfer, op.cmd.codewords, (ns(most), ns(last)))?;
        Some(with_prediction(senses, op, number, Decoding::apart(s.now + transfer, done)))
    }

    /// The same of a sense of which only the known cells cross the channel.
    #[inline(never)]
    fn transfer_known_cells(&mut self, transfer: u64) -> (u64, Decoding) {
        let Flash { fixed, state: s, .. } = self;
        let senses = fixed.senses.as_ref().expect("the caller has seen them");
        let transfer = senses.known_ns(transfer);
        s.sensing.uncorrectable_ns += transfer;
        let end = s.now + transfer;
        (transfer, Decoding::apart(end, end))
    }

    /// The same of codewords that may wait for one another, from the iterations of each.
    #[inline(never)]
    fn transfer_each(&mut self, id: u32, transfer: u64) -> Decoding {
        if self.state.sensing.attempts[id as usize].is_plain() {
            self.draw_iterations(id);
        }
        let Flash { fixed, state: s, .. } = self;
        let senses = fixed.senses.as_ref().expect("the caller has seen them");
        let op = &mut s.ops[id];
        let first = senses.most_codewords as usize * id as usize;
        let iterations = &s.sensing.iterations[first..first + op.cmd.codewords as usize];
        let time = |base, number| match iterations[number as usize] {
            SKIPPED => 0,
            n => base + senses.ticks_ns(n),
        };
        let decoder = &mut s.decoders[op.channel as usize];
        let d = decoder.transfer_each(s.now, transfer, op.cmd.codewords, time);
        with_prediction(senses, op, s.sensing.attempts[id as usize].senses, d)
    }

    /// Count the time in which the pages of these planes, a mask, cross the channel that do not decode.
    #[inline(never)]
    fn count_uncorrectable(&mut self, id: u32, planes: u32, transfer: u64) {
        let s = &mut self.state;
        let cmd = &s.ops[id].cmd;
        let failed = u64::from(codewords_on(cmd, planes));
        s.sensing.uncorrectable_ns += transfer * failed / u64::from(cmd.codewords);
    }
}

/// The decoding of sense number `number` of a read, with the time of a prediction behind the channel, which is charged.
/// A prediction delays the data, and keeps no server.
#[inline(always)]
fn with_prediction(senses: &Senses, op: &mut Op, number: u8, d: Decoding) -> Decoding {
    let predicted = if number == 1 { senses.predict_ns(Place::Controller) } else { 0 };
    op.ledger.charge(Cause::PREDICT, predicted);
    Decoding { predicted, done: d.done + predicted, ..d }
}
