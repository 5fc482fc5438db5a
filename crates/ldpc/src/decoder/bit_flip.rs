//! Bit flipping on hard decisions, 64 bits at a time.

use super::Decoded;
use crate::code::{Code, Word};
use crate::{BLOCK_COLUMNS, BLOCK_ROWS, Block, WORDS};

/// A bit-flipping decoder.
///
/// A bit of w checks, of which u fail, has the score 2u − w, plus 1 if it differs from the received bit,
/// else minus 1. Flipping a bit with a positive score decreases the number of failing checks and of changed
/// bits together. An iteration flips all bits with the highest score, if it is positive (gradient descent bit
/// flipping of Wadayama and others, 2010, for a binary symmetric channel). Decoding ends when all
/// checks hold, when no score is positive, or at the limit of iterations.
#[derive(Clone, Debug)]
pub struct BitFlip {
    code: Code,
    limit: u32,
    word: Word,
}

/// Highest score: all four checks fail of a bit that has been flipped.
const HIGHEST: usize = 5;

impl BitFlip {
    /// A decoder that gives up after `limit` iterations.
    pub fn new(code: &Code, limit: u32) -> BitFlip {
        BitFlip { code: code.clone(), limit, word: Word::zero() }
    }

    /// Decode a received word.
    pub fn decode(&mut self, received: &Word) -> Decoded {
        self.word.0.copy_from_slice(&received.0[..]);
        for iterations in 0..self.limit {
            let syndrome = self.code.syndrome(&self.word);
            if syndrome.weight() == 0 {
                return Decoded { success: true, iterations };
            }
            let scores: Vec<[Block; HIGHEST + 1]> =
                (0..BLOCK_COLUMNS).map(|column| self.scores(column, &syndrome.0, received)).collect();
            let best = (1..=HIGHEST).rev().find(|&score| scores.iter().any(|s| !s[score].is_zero()));
            let Some(best) = best else { break };
            for (block, scores) in self.word.0.iter_mut().zip(&scores) {
                block.add(&scores[best]);
            }
        }
        Decoded { success: self.code.accepts(&self.word), iterations: self.limit }
    }

    /// The decisions at the end of the last frame.
    pub fn word(&self) -> &Word {
        &self.word
    }

    /// The bits of a block column with each positive score; those of score 0 are not filled.
    fn scores(&self, column: usize, syndrome: &[Block; BLOCK_ROWS], received: &Word) -> [Block; HIGHEST + 1] {
        // Bit k of the number of failing checks, for 1,024 bits at a time.
        let mut count = [Block::ZERO; 3];
        for (row, checks) in syndrome.iter().enumerate() {
            let Some(shift) = self.code.shift(row, column) else { continue };
            let failing = checks.rotated((crate::CIRCULANT - shift) % crate::CIRCULANT);
            for i in 0..WORDS {
                let mut carry = failing.0[i];
                for bit in &mut count {
                    (bit.0[i], carry) = (bit.0[i] ^ carry, bit.0[i] & carry);
                }
            }
        }
        let weight = self.code.column_weight(column);
        let mut scores = [Block::ZERO; HIGHEST + 1];
        for failing in 0..=weight {
            for flipped in [false, true] {
                let score = 2 * failing as i32 - weight as i32 + if flipped { 1 } else { -1 };
                if score <= 0 {
                    continue;
                }
                let to = &mut scores[score as usize];
                for i in 0..WORDS {
                    let changed = self.word.0[column].0[i] ^ received.0[column].0[i];
                    let mut bits = if flipped { changed } else { !changed };
                    for (k, count) in count.iter().enumerate() {
                        bits &= if failing >> k & 1 == 1 { count.0[i] } else { !count.0[i] };
                    }
                    to.0[i] |= bits;
                }
            }
        }
        scores
    }
}
