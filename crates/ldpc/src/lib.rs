//! The code that corrects the bit errors of a flash page, and what decoding a page costs.
//!
//! The code is the one of RiF (HPCA'24): a quasi-cyclic LDPC code of 4 × 36 circulants of 1,024 × 1,024,
//! with a payload of 4 KiB in a codeword of 4.5 KiB ([`Code`]). [`Encoder`] makes codewords. [`MinSum`] and
//! [`BitFlip`] decode what a channel ([`Channel`]) made of them, with hard decisions or with the confidence
//! that extra senses give. [`measure`] runs many codewords and counts failures, iterations and syndrome
//! weights. [`predict()`] compares predictions from the weights with the decoder. [`Table`] holds these counts by the exact number of raw bit errors. The simulator draws
//! from the table ([`Outcomes`]), since a decoder takes a millisecond and a simulated read less than one
//! microsecond.
//!
//! All random numbers are keyed by seed, purpose and number of the frame, so that results do not depend on
//! threads. No result depends on the transcendental functions of the machine.

mod block;
mod channel;
mod code;
mod decoder;
mod encode;
mod measure;
mod predict;
mod sensing;
mod table;
mod weight;
mod wilson;

/// Rows and columns of a circulant.
pub const CIRCULANT: usize = 1024;
/// Rows of circulants in the matrix.
pub const BLOCK_ROWS: usize = 4;
/// Columns of circulants in the matrix.
pub const BLOCK_COLUMNS: usize = 36;
/// Bits of a codeword.
pub const CODEWORD_BITS: usize = BLOCK_COLUMNS * CIRCULANT;
/// Checks of a codeword.
pub const CHECKS: usize = BLOCK_ROWS * CIRCULANT;

pub use block::{Block, WORDS};
pub use channel::{Channel, Errors, Mark};
pub use code::{CODE_SEED, Code, FIRST_PARITY, Syndrome, Word};
pub use decoder::{BitFlip, Decoded, Decoder, Factor, Method, MinSum, Schedule, Settings, SettingsError};
pub use encode::{Encoder, PAYLOAD_BLOCKS};
pub use measure::{Job, Tally, WeightSums, measure};
pub use predict::{PAGE_CODEWORDS, Predict, Predictions, Thresholds, Wrong, predict};
pub use sensing::{Sensing, SensingError};
pub use table::{LARGEST_TEXT, Outcomes, Plan, Row, Table, TableError, Weights};
pub use weight::{Moments, at_count, at_rate};
pub use wilson::{Interval, wilson};
