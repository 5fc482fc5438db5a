//! The channel between programming and reading a codeword: which bits come back wrong, or weak.
//!
//! All draws are keyed by seed, purpose and number of the frame.

use crate::CODEWORD_BITS;
use crate::code::Word;
use crate::sensing::Sensing;
use libm::log1p;
use tailcut_units::Stream;

/// A bit that is not at the most confident right level.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mark {
    /// Position in the codeword, below 36,864.
    pub bit: u16,
    /// Level of confidence (see [`Sensing`]), at least 1.
    pub level: u8,
}

/// How many bits of a codeword are wrong.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Errors {
    /// Exactly this number (0 to 36,864), at distinct random positions. The sense is hard.
    Exactly(u32),
    /// Each bit independently, with this probability (0 to 0.5).
    Rate(f64),
}

/// Draws the marks of frames.
#[derive(Clone, Debug)]
pub struct Channel {
    seed: u64,
    errors: Errors,
    /// Probability of each level from 1 on, accumulated, as a share of all levels from 1 on.
    levels: Vec<f64>,
    /// Logarithm of the probability that a bit has no mark.
    log_unmarked: f64,
    marks: Vec<Mark>,
    taken: Vec<u64>,
}

impl Channel {
    /// A channel with these errors and this way of sensing. With [`Errors::Exactly`] the sense must be hard,
    /// with [`Errors::Rate`] it must be made for the same rate; another is a defect of the caller, and panics.
    pub fn new(seed: u64, errors: Errors, sensing: &Sensing) -> Channel {
        let marked: f64 = sensing.shares()[1..].iter().sum();
        let mut sum = 0.0;
        let levels = sensing.shares()[1..].iter().map(|share| {
            sum += share;
            if marked > 0.0 { sum / marked } else { 1.0 }
        });
        match errors {
            Errors::Exactly(n) => {
                assert!(sensing.first_wrong() == 1, "an exact number of errors needs a hard sense");
                assert!(n as usize <= CODEWORD_BITS, "{n} errors in a codeword");
            }
            Errors::Rate(p) => {
                let wrong: f64 = sensing.shares()[sensing.first_wrong()..].iter().sum();
                assert!(
                    libm::fabs(wrong - p) <= 1e-4 * p,
                    "an error rate of {p}, and senses for one of {wrong}"
                );
            }
        }
        Channel {
            seed,
            errors,
            levels: levels.collect(),
            log_unmarked: log1p(-marked),
            marks: Vec::new(),
            taken: vec![0; CODEWORD_BITS / 64],
        }
    }

    /// The marks of a frame. Their order has no meaning.
    pub fn draw(&mut self, frame: u64) -> &[Mark] {
        self.marks.clear();
        match self.errors {
            Errors::Exactly(n) => self.exactly(n, frame),
            Errors::Rate(_) if self.log_unmarked < 0.0 => self.independent(frame),
            Errors::Rate(_) => {}
        }
        &self.marks
    }

    fn exactly(&mut self, n: u32, frame: u64) {
        // The number of errors is part of the key: rows of a table are independent.
        let mut stream = Stream::new(self.seed, "ldpc exact errors", u64::from(n) << 40 ^ frame);
        self.taken.fill(0);
        while self.marks.len() < n as usize {
            let bit = stream.below(CODEWORD_BITS as u64) as usize;
            let (word, mask) = (bit / 64, 1u64 << (bit % 64));
            if self.taken[word] & mask == 0 {
                self.taken[word] |= mask;
                self.marks.push(Mark { bit: bit as u16, level: 1 });
            }
        }
    }

    /// Skip from mark to mark: the distance is geometric.
    fn independent(&mut self, frame: u64) {
        let mut stream = Stream::new(self.seed, "ldpc errors", frame);
        let mut bit = 0;
        loop {
            let skipped = log1p(-stream.unit()) / self.log_unmarked;
            if skipped >= (CODEWORD_BITS - bit) as f64 {
                return;
            }
            bit += skipped as usize;
            let drawn = if self.levels.len() > 1 { stream.unit() } else { 0.0 };
            let level = self.levels.iter().position(|&up_to| drawn < up_to).unwrap_or(self.levels.len() - 1);
            self.marks.push(Mark { bit: bit as u16, level: level as u8 + 1 });
            bit += 1;
            if bit == CODEWORD_BITS {
                return;
            }
        }
    }

    /// The hard decisions about a sent word, given its marks.
    pub fn received(sent: &Word, marks: &[Mark], sensing: &Sensing) -> Word {
        let mut word = sent.clone();
        for mark in marks.iter().filter(|mark| usize::from(mark.level) >= sensing.first_wrong()) {
            word.flip(usize::from(mark.bit));
        }
        word
    }
}
