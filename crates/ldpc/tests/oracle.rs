//! Does an independent decoder (`ldpc-toolbox`) come to the same result?
//!
//! Its message passing, over a sparse matrix and with `f64`, runs here with the rules of normalised min-sum,
//! and with its own rules of belief propagation.

mod common;

use common::{code, min_sum};
use ldpc_toolbox::decoder::arithmetic::{DecoderArithmetic, Minstarapproxf64};
use ldpc_toolbox::decoder::{Message, SentMessage, flooding, horizontal_layered};
use ldpc_toolbox::sparse::SparseMatrix;
use tailcut_ldpc::{CHECKS, CODEWORD_BITS, Channel, Decoder, Errors, Mark, Schedule, Sensing, Word};

/// The rules of normalised min-sum, without rounding.
#[derive(Debug)]
struct Normalised;

impl Normalised {
    fn answers(inputs: impl Iterator<Item = f64> + Clone) -> impl Iterator<Item = f64> {
        let (mut lowest, mut second, mut at, mut odd) = (f64::INFINITY, f64::INFINITY, 0, false);
        for (i, input) in inputs.clone().enumerate() {
            odd ^= input < 0.0;
            if input.abs() < lowest {
                (second, lowest, at) = (lowest, input.abs(), i);
            } else {
                second = second.min(input.abs());
            }
        }
        inputs.enumerate().map(move |(i, input)| {
            let size = 0.75 * if i == at { second } else { lowest };
            if odd ^ (input < 0.0) { -size } else { size }
        })
    }
}

impl DecoderArithmetic for Normalised {
    type Llr = f64;
    type CheckMessage = f64;
    type VarMessage = f64;
    type VarLlr = f64;

    fn input_llr_quantize(&self, llr: f64) -> f64 {
        llr
    }

    fn llr_hard_decision(&self, llr: f64) -> bool {
        llr < 0.0
    }

    fn llr_to_var_message(&self, llr: f64) -> f64 {
        llr
    }

    fn llr_to_var_llr(&self, llr: f64) -> f64 {
        llr
    }

    fn var_llr_to_llr(&self, llr: f64) -> f64 {
        llr
    }

    fn send_check_messages<F: FnMut(SentMessage<f64>)>(&mut self, inputs: &[Message<f64>], mut send: F) {
        let answers = Normalised::answers(inputs.iter().map(|m| m.value));
        inputs.iter().zip(answers).for_each(|(m, value)| send(SentMessage { dest: m.source, value }));
    }

    fn send_var_messages<F: FnMut(SentMessage<f64>)>(
        &mut self,
        llr: f64,
        inputs: &[Message<f64>],
        mut send: F,
    ) -> f64 {
        let total = llr + inputs.iter().map(|m| m.value).sum::<f64>();
        inputs.iter().for_each(|m| send(SentMessage { dest: m.source, value: total - m.value }));
        total
    }

    fn update_check_messages_and_vars(&mut self, messages: &mut [SentMessage<f64>], vars: &mut [f64]) {
        let inputs: Vec<f64> = messages.iter().map(|m| vars[m.dest] - m.value).collect();
        let answers = Normalised::answers(inputs.iter().copied());
        for ((message, &input), answer) in messages.iter_mut().zip(&inputs).zip(answers) {
            message.value = answer;
            vars[message.dest] = input + answer;
        }
    }
}

fn matrix() -> SparseMatrix {
    let code = code();
    let mut matrix = SparseMatrix::new(CHECKS, CODEWORD_BITS);
    (0..CHECKS).for_each(|check| matrix.insert_row(check, code.bits_of(check)));
    matrix
}

/// The channel values for the codeword of zeros. A size a little above 1 decides sums of 0 as the sense did.
fn values(marks: &[Mark]) -> Vec<f64> {
    let mut values = vec![1.0 + 1e-9; CODEWORD_BITS];
    marks.iter().for_each(|mark| values[usize::from(mark.bit)] *= -1.0);
    values
}

/// Whether the oracle found the codeword of zeros, and after how many iterations.
type Ended = (bool, u32);

/// Compare over frames with these numbers of errors; returns the frames that decoded, of all, and those that
/// ended alike.
fn compare(
    schedule: Schedule,
    errors: &[u32],
    frames: u64,
    mut oracle: impl FnMut(&[f64]) -> Ended,
) -> [u32; 3] {
    let mut decoder = Decoder::new(&code(), &min_sum(schedule, "0.75"));
    let sensing = Sensing::hard();
    let (mut decoded, mut all, mut alike) = (0, 0, 0);
    for &n in errors {
        let mut channel = Channel::new(21, Errors::Exactly(n), &sensing);
        for frame in 0..frames {
            let marks = channel.draw(frame);
            let expected = oracle(&values(marks));
            let found = decoder.decode(&Word::zero(), marks, &sensing);
            // Rounding may shift the end by an iteration in rare frames.
            let same = found.success == expected.0 && found.iterations.abs_diff(expected.1) <= 1;
            let exact = (found.success, found.iterations) == expected;
            assert!(same || n > 280, "{schedule:?}, {n} errors: {found:?}, the oracle {expected:?}");
            decoded += u32::from(found.success);
            all += 1;
            alike += u32::from(exact);
        }
    }
    [decoded, all, alike]
}

#[test]
fn flooding_ends_as_the_independent_decoder_does() {
    let mut oracle = flooding::Decoder::new(matrix(), Normalised);
    let [decoded, all, alike] = compare(Schedule::Flooding, &[60, 150, 250, 300, 316, 400], 4, |values| {
        let result = oracle.decode(values, 20);
        (result.is_ok(), result.unwrap_or_else(|failed| failed).iterations as u32)
    });
    assert!(decoded < all && decoded > all / 2, "some fail: {decoded} of {all}");
    assert!(alike * 10 >= all * 9, "{alike} of {all} ended in the same iteration");
}

#[test]
fn layers_end_as_the_independent_decoder_does() {
    let mut oracle = horizontal_layered::Decoder::new(matrix(), Normalised);
    let [decoded, all, alike] = compare(Schedule::Layered, &[60, 150, 250, 316, 330, 400], 4, |values| {
        let result = oracle.decode(values, 20);
        (result.is_ok(), result.unwrap_or_else(|failed| failed).iterations as u32)
    });
    assert!(decoded < all && decoded > all / 2, "some fail: {decoded} of {all}");
    assert!(alike * 10 >= all * 9, "{alike} of {all} ended in the same iteration");
}

#[test]
fn belief_propagation_agrees_away_from_the_limit() {
    let mut oracle = flooding::Decoder::new(matrix(), Minstarapproxf64::new());
    let mut decoder = Decoder::new(&code(), &min_sum(Schedule::Flooding, "0.75"));
    let sensing = Sensing::hard();
    for (n, expected) in [(100, true), (220, true), (460, false)] {
        let mut channel = Channel::new(22, Errors::Exactly(n), &sensing);
        // The logarithm of the likelihood ratio of the hard decision.
        let p = f64::from(n) / CODEWORD_BITS as f64;
        let scale = ((1.0 - p) / p).ln();
        for frame in 0..2 {
            let marks = channel.draw(frame);
            let values: Vec<f64> = values(marks).iter().map(|value| value * scale).collect();
            let result = oracle.decode(&values, 20);
            assert_eq!(result.is_ok(), expected, "the oracle, {n} errors, frame {frame}");
            if let Ok(result) = result {
                assert!(result.codeword.iter().all(|&bit| bit == 0));
            }
            let found = decoder.decode(&Word::zero(), marks, &sensing);
            assert_eq!(found.success, expected, "{n} errors, frame {frame}");
        }
    }
}
