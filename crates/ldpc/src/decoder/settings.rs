//! How to decode, and a decoder made of that.

use super::{BitFlip, Decoded, MinSum};
use crate::channel::{Channel, Mark};
use crate::code::{Code, Word};
use crate::sensing::Sensing;
use std::fmt;
use std::str::FromStr;

/// The order in which min-sum updates messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Schedule {
    /// All checks, then all bits.
    Flooding,
    /// The four block rows one after another; each uses what those before it found in this iteration.
    Layered,
}

/// The factor of normalised min-sum, in thousandths: 1 to 1000.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Factor(u16);

impl Factor {
    /// 0.75: for this code 0.69 to 0.75 is best.
    pub const DEFAULT: Factor = Factor(750);

    /// A factor from thousandths, 1 to 1000.
    pub fn from_thousandths(thousandths: u16) -> Result<Factor, SettingsError> {
        match thousandths {
            1..=1000 => Ok(Factor(thousandths)),
            _ => Err(SettingsError::Factor),
        }
    }

    /// In units of 2^-16, rounded.
    pub(crate) fn fixed(self) -> u32 {
        (u32::from(self.0) * 65_536 + 500) / 1000
    }
}

impl fmt::Display for Factor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{:03}", self.0 / 1000, self.0 % 1000)
    }
}

impl FromStr for Factor {
    type Err = SettingsError;

    /// A decimal number with at most three decimals, such as 0.75.
    fn from_str(text: &str) -> Result<Factor, SettingsError> {
        let (whole, decimals) = text.split_once('.').unwrap_or((text, "0"));
        let digits = |s: &str| (1..=3).contains(&s.len()) && s.bytes().all(|b| b.is_ascii_digit());
        if !digits(whole) || !digits(decimals) {
            return Err(SettingsError::Factor);
        }
        let number = |s: &str| s.parse::<u32>().map_err(|_| SettingsError::Factor);
        let thousandths = number(whole)? * 1000 + number(&format!("{decimals:0<3}"))?;
        Factor::from_thousandths(u16::try_from(thousandths).map_err(|_| SettingsError::Factor)?)
    }
}

/// An algorithm with its parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// Normalised min-sum.
    MinSum {
        /// Order of updates.
        schedule: Schedule,
        /// Factor of the outgoing messages of a check.
        factor: Factor,
    },
    /// Bit flipping, on hard decisions.
    BitFlip,
}

/// How to decode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settings {
    /// The algorithm.
    pub method: Method,
    /// Largest number of iterations: 1 to 255.
    pub iterations: u8,
}

/// Why settings are refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SettingsError {
    /// The factor is no number, or out of range.
    #[error("the factor must be 0.001 to 1, with at most three decimals")]
    Factor,
}

impl Settings {
    /// Min-sum with flooding, a factor of 0.75 and at most 20 iterations: the decoder of the shipped table.
    pub const DEFAULT: Settings = Settings {
        method: Method::MinSum { schedule: Schedule::Flooding, factor: Factor::DEFAULT },
        iterations: 20,
    };
}

/// A decoder of any algorithm, with its working memory.
#[derive(Clone, Debug)]
pub enum Decoder {
    /// Normalised min-sum.
    MinSum(Box<MinSum>),
    /// Bit flipping.
    BitFlip(Box<BitFlip>),
}

impl Decoder {
    /// A decoder of a code.
    pub fn new(code: &Code, settings: &Settings) -> Decoder {
        let limit = u32::from(settings.iterations);
        match settings.method {
            Method::MinSum { schedule, factor } => {
                Decoder::MinSum(Box::new(MinSum::new(code, schedule, factor, limit)))
            }
            Method::BitFlip => Decoder::BitFlip(Box::new(BitFlip::new(code, limit))),
        }
    }

    /// Decode what a channel made of a sent word.
    pub fn decode(&mut self, sent: &Word, marks: &[Mark], sensing: &Sensing) -> Decoded {
        match self {
            Decoder::MinSum(decoder) => decoder.decode(sent, marks, sensing),
            Decoder::BitFlip(decoder) => decoder.decode(&Channel::received(sent, marks, sensing)),
        }
    }

    /// The decisions at the end of the last frame.
    pub fn word(&self) -> &Word {
        match self {
            Decoder::MinSum(decoder) => decoder.word(),
            Decoder::BitFlip(decoder) => decoder.word(),
        }
    }
}
