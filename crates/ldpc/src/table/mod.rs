//! The table of what decoding does, by the exact number of raw bit errors of a codeword.

mod make;
mod mix;
mod outcomes;
mod parse;
mod text;

pub use make::Plan;
pub use outcomes::Outcomes;
pub use parse::{LARGEST_TEXT, TableError};

use crate::decoder::{Factor, Schedule};

/// What decoding does, measured with min-sum.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Table {
    /// Seed of the code.
    pub code_seed: u64,
    /// Seed of the error patterns.
    pub seed: u64,
    /// Schedule of the decoder.
    pub schedule: Schedule,
    /// Factor of the decoder.
    pub factor: Factor,
    /// Largest number of iterations.
    pub iterations: u8,
    /// Rows in order of the number of errors; the first has none, and there are at least two.
    pub rows: Vec<Row>,
}

/// Frames with the same number of errors.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// Raw bit errors of each frame.
    pub errors: u32,
    /// Number of frames.
    pub frames: u32,
    /// Frames that failed to decode.
    pub failed: u32,
    /// Syndrome weight over all 4,096 checks.
    pub all: Weights,
    /// Syndrome weight over the first 1,024 checks.
    pub first: Weights,
    /// Decoded frames by their iterations, from 0 on.
    pub decoded_in: Vec<u32>,
}

/// Mean and standard deviation of a syndrome weight.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Weights {
    /// Mean, in hundredths of a check, rounded.
    pub mean: u32,
    /// Standard deviation, in hundredths of a check, rounded down.
    pub deviation: u32,
}
