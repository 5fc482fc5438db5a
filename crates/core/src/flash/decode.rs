//! The way of sensed pages with raw bit errors through the decoder.

use super::attempts::Attempts;
use super::senses::{SKIPPED, codewords_on};
use super::state::Flash;
use crate::nand::ecc::Decoding;
use crate::observer::Observer;
use crate::policy::read_retry::Place;
use tailcut_units::Cause;

impl<O: Observer> Flash<O> {
    /// Begin the transfer of sensed pages, which takes `transfer` if they are whole. Their codewords take different
    /// times in the decoder. Returns the time of the transfer and its end. The end of the decoding includes the
    /// time of a prediction.
    #[inline(always)]
    pub(super) fn transfer_to_decoder(&mut self, id: u32, transfer: u64) -> (u64, Decoding) {
        let Flash { fixed, state: s, .. } = self;
        let senses = fixed.senses.as_ref().expect("the caller has seen them");
        let Attempts { senses: number, again, given_up, short, most, last, .. } =
            s.sensing.attempts[id as usize];
        if short {
            return self.transfer_known_cells(transfer);
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
            None => self.transfer_each(id, transfer),
        };
        if again | given_up != 0 {
            self.count_uncorrectable(id, again | given_up, transfer);
        }
        let Flash { fixed, state: s, .. } = self;
        let senses = fixed.senses.as_ref().expect("the caller has seen them");
        // A prediction behind the channel delays the data, and keeps no server.
        let predicted = if number == 1 { senses.predict_ns(Place::Controller) } else { 0 };
        s.ops[id].ledger.charge(Cause::PREDICT, predicted);
        (transfer, Decoding { predicted, done: d.done + predicted, ..d })
    }

    /// The same of a sense of which only the known cells cross the channel.
    #[inline(never)]
    fn transfer_known_cells(&mut self, transfer: u64) -> (u64, Decoding) {
        let Flash { fixed, state: s, .. } = self;
        let senses = fixed.senses.as_ref().expect("the caller has seen them");
        let transfer = senses.known_ns(transfer);
        s.sensing.uncorrectable_ns += transfer;
        let end = s.now + transfer;
        (transfer, Decoding { channel_free: end, stalled: 0, waited: 0, done: end, predicted: 0 })
    }

    /// The same of codewords that may wait for one another, from the iterations of each.
    #[inline(never)]
    fn transfer_each(&mut self, id: u32, transfer: u64) -> Decoding {
        if self.state.sensing.attempts[id as usize].plain {
            self.draw_iterations(id);
        }
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

    /// Count the time in which the pages of these planes, a mask, cross the channel that do not decode.
    #[inline(never)]
    fn count_uncorrectable(&mut self, id: u32, planes: u32, transfer: u64) {
        let s = &mut self.state;
        let cmd = &s.ops[id].cmd;
        let failed = u64::from(codewords_on(cmd, planes));
        s.sensing.uncorrectable_ns += transfer * failed / u64::from(cmd.codewords);
    }
}
