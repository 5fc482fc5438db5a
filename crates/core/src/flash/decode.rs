//! The transfer of sensed pages with raw bit errors from the die over the channel to the decoder.

use super::attempts::Attempts;
use super::op::Op;
use super::senses::codewords_on;
use super::state::Flash;
use crate::array::senses::{SKIPPED, Senses};
use crate::nand::ecc::Decoding;
use crate::observer::Observer;
use crate::policy::read_retry::PredictorSite;
use tailcut_units::Cause;

impl<O: Observer> Flash<O> {
    /// Begin the transfer of sensed pages whose codewords take different times in the decoder. `transfer` is the time
    /// for whole pages, ns. Returns the time of the transfer, the plan of the decoding, and whether the die continues
    /// with a speculative sense. The end of the decoding includes the time of a prediction in the controller.
    pub(super) fn transfer_to_decoder(&mut self, id: u32, transfer: u64) -> (u64, Decoding, bool) {
        let Attempts { again, given_up, known_cells_only, ahead, .. } =
            self.state.sensing.attempts[id as usize];
        if known_cells_only {
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

    /// [`Flash::transfer_to_decoder`] for whole pages whose codewords do not wait for one another in the decoder. If
    /// they might, returns `None` without any change. Charges the time of a prediction in the controller.
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

    /// [`Flash::transfer_to_decoder`] for a sense of which only the cells with known contents cross the channel.
    #[inline(never)]
    fn transfer_known_cells(&mut self, transfer: u64) -> (u64, Decoding) {
        let Flash { fixed, state: s, .. } = self;
        let senses = fixed.senses.as_ref().expect("the caller has seen them");
        let transfer = senses.known_ns(transfer);
        s.sensing.uncorrectable_ns += transfer;
        let end = s.now + transfer;
        (transfer, Decoding::apart(end, end))
    }

    /// [`Flash::transfer_to_decoder`] for codewords that may wait for one another, from the iterations of each.
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

    /// Count the channel time of pages that do not decode, on these planes (a mask).
    #[inline(never)]
    fn count_uncorrectable(&mut self, id: u32, planes: u32, transfer: u64) {
        let s = &mut self.state;
        let cmd = &s.ops[id].cmd;
        let failed = u64::from(codewords_on(cmd, planes));
        s.sensing.uncorrectable_ns += transfer * failed / u64::from(cmd.codewords);
    }
}

/// Add the time of a prediction in the controller to the decoding of sense number `number` of a read, and charge it.
/// The prediction delays the data but occupies neither channel nor decoder.
#[inline(always)]
fn with_prediction(senses: &Senses, op: &mut Op, number: u8, d: Decoding) -> Decoding {
    let predicted = if number == 1 { senses.predict_ns(PredictorSite::Controller) } else { 0 };
    op.ledger.charge(Cause::PREDICT, predicted);
    Decoding { predicted, done: d.done + predicted, ..d }
}
