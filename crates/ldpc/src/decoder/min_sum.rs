//! Normalised min-sum (Chen and Fossorier, 2002) on 16-bit integers.

use super::messages::{Seen, add, answer, answer_at_once, decide, gather, scale};
use super::{Decoded, Factor, Schedule};
use crate::channel::Mark;
use crate::code::{Code, Word};
use crate::sensing::Sensing;
use crate::{BLOCK_ROWS, CIRCULANT, CODEWORD_BITS};

/// One block of the matrix: the messages of its 1,024 edges stand in order of checks.
#[derive(Clone, Copy, Debug)]
struct Edge {
    /// First message.
    at: usize,
    /// First bit of the block column.
    bits: usize,
    shift: usize,
}

/// A min-sum decoder with its working memory: 0.5 MB, so that it stays in the cache of a core.
///
/// Bits and checks of a block are 1,024 consecutive integers. A rotation divides them in two runs, and
/// all work is done on runs.
#[derive(Clone, Debug)]
pub struct MinSum {
    code: Code,
    schedule: Schedule,
    /// Factor in units of 2^-16.
    fixed: u32,
    limit: u32,
    rows: [Vec<Edge>; BLOCK_ROWS],
    channel: Vec<i16>,
    totals: Vec<i16>,
    messages: Vec<i16>,
    seen: Seen,
    lowest: Vec<i16>,
    second: Vec<i16>,
    word: Word,
}

/// The two runs of a block: messages (from, to), first bit of the run in its block column.
fn runs(shift: usize) -> [(usize, usize, usize); 2] {
    let wrap = CIRCULANT - shift;
    [(0, wrap, shift), (wrap, CIRCULANT, 0)]
}

impl MinSum {
    /// A decoder that gives up after `limit` iterations.
    pub fn new(code: &Code, schedule: Schedule, factor: Factor, limit: u32) -> MinSum {
        let mut edges = 0;
        let rows = std::array::from_fn(|row| {
            code.row(row)
                .map(|(column, shift)| {
                    let edge = Edge { at: edges, bits: column * CIRCULANT, shift };
                    edges += CIRCULANT;
                    edge
                })
                .collect()
        });
        MinSum {
            code: code.clone(),
            schedule,
            fixed: factor.fixed(),
            limit,
            rows,
            channel: vec![0; CODEWORD_BITS],
            totals: vec![0; CODEWORD_BITS],
            messages: vec![0; edges],
            seen: Seen::new(CIRCULANT),
            lowest: vec![0; CIRCULANT],
            second: vec![0; CIRCULANT],
            word: Word::zero(),
        }
    }

    /// Decode what a channel made of a sent word.
    pub fn decode(&mut self, sent: &Word, marks: &[Mark], sensing: &Sensing) -> Decoded {
        self.receive(sent, marks, sensing);
        let mut iterations = 0;
        loop {
            self.decide();
            let success = self.code.accepts(&self.word);
            if success || iterations == self.limit {
                return Decoded { success, iterations };
            }
            match self.schedule {
                Schedule::Flooding => self.flood(),
                Schedule::Layered => self.pass_layers(),
            }
            iterations += 1;
        }
    }

    /// The decisions at the end of the last frame.
    pub fn word(&self) -> &Word {
        &self.word
    }

    fn receive(&mut self, sent: &Word, marks: &[Mark], sensing: &Sensing) {
        let values = sensing.values();
        for (block, channel) in sent.0.iter().zip(self.channel.chunks_exact_mut(CIRCULANT)) {
            if block.is_zero() {
                channel.fill(values[0]);
                continue;
            }
            for (i, channel) in channel.iter_mut().enumerate() {
                *channel = if block.bit(i) { -values[0] } else { values[0] };
            }
        }
        for mark in marks {
            let (bit, value) = (usize::from(mark.bit), values[usize::from(mark.level)]);
            self.channel[bit] = if sent.bit(bit) { -value } else { value };
        }
        self.totals.copy_from_slice(&self.channel);
        self.messages.fill(0);
    }

    fn flood(&mut self) {
        for row in 0..BLOCK_ROWS {
            self.gather(row);
            for edge in &self.rows[row] {
                let messages = &mut self.messages[edge.at..edge.at + CIRCULANT];
                answer(messages, &self.seen, &self.lowest, &self.second, 0);
            }
        }
        self.totals.copy_from_slice(&self.channel);
        for edge in self.rows.iter().flatten() {
            let messages = &self.messages[edge.at..edge.at + CIRCULANT];
            let totals = &mut self.totals[edge.bits..edge.bits + CIRCULANT];
            for (from, to, bit) in runs(edge.shift) {
                add(&mut totals[bit..bit + to - from], &messages[from..to]);
            }
        }
    }

    fn pass_layers(&mut self) {
        for row in 0..BLOCK_ROWS {
            self.gather(row);
            for edge in &self.rows[row] {
                let messages = &mut self.messages[edge.at..edge.at + CIRCULANT];
                let totals = &mut self.totals[edge.bits..edge.bits + CIRCULANT];
                for (from, to, bit) in runs(edge.shift) {
                    answer_at_once(
                        &mut totals[bit..bit + to - from],
                        &mut messages[from..to],
                        &self.seen,
                        &self.lowest,
                        &self.second,
                        from,
                    );
                }
            }
        }
    }

    /// Take the messages of all bits to the checks of a block row.
    fn gather(&mut self, row: usize) {
        self.seen.clear();
        for edge in &self.rows[row] {
            let messages = &mut self.messages[edge.at..edge.at + CIRCULANT];
            let totals = &self.totals[edge.bits..edge.bits + CIRCULANT];
            for (from, to, bit) in runs(edge.shift) {
                gather(&totals[bit..bit + to - from], &mut messages[from..to], &mut self.seen, from);
            }
        }
        scale(&self.seen, self.fixed, &mut self.lowest, &mut self.second);
    }

    fn decide(&mut self) {
        let inputs = self.totals.chunks_exact(64).zip(self.channel.chunks_exact(64));
        let words = self.word.0.iter_mut().flat_map(|block| &mut block.0);
        for (word, (totals, channel)) in words.zip(inputs) {
            *word = decide(totals, channel);
        }
    }
}
