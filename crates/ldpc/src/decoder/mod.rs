//! Decoders: what they have in common, and which there are.

mod bit_flip;
mod messages;
mod min_sum;
mod settings;

pub use bit_flip::BitFlip;
pub use min_sum::MinSum;
pub use settings::{Decoder, Factor, Method, Schedule, Settings, SettingsError};

/// How decoding a frame ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Decoded {
    /// Whether all checks hold in the end.
    pub success: bool,
    /// Iterations that were made: 0 if the received word was a codeword; the limit on a failure.
    pub iterations: u32,
}
