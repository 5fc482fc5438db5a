//! What can be wrong with a quantity's text.

use std::fmt;

/// A kind of quantity, for messages: what it is called and which units it takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kind {
    /// With its article: "a time".
    pub name: &'static str,
    /// A text that is right.
    pub example: &'static str,
    /// The units, for people.
    pub units: &'static str,
    /// What values are whole multiples of.
    pub finest: &'static str,
}

impl Kind {
    /// A length of time.
    pub const TIME: Kind =
        Kind { name: "a time", example: "100us", units: "ns, us, ms, s", finest: "nanosecond" };
    /// A number of bytes.
    pub const BYTES: Kind = Kind {
        name: "a size",
        example: "16KiB",
        units: "B, KB, MB, GB, TB, PB, KiB, MiB, GiB, TiB, PiB",
        finest: "byte",
    };
    /// A share of a whole.
    pub const FRACTION: Kind = Kind { name: "a share", example: "7%", units: "%", finest: "0.0001 %" };
    /// One quantity by another, which may exceed it.
    pub const RATIO: Kind = Kind { name: "a ratio", example: "28%", units: "%", finest: "0.0001 %" };
    /// Bytes a second.
    pub const RATE: Kind = Kind {
        name: "a rate",
        example: "1.2GB/s",
        units: "B/s, KB/s, MB/s, GB/s, TB/s, KiB/s, MiB/s, GiB/s, TiB/s; or inf",
        finest: "byte a second",
    };
    /// Electrical power.
    pub const POWER: Kind =
        Kind { name: "a power", example: "82.5mW", units: "uW, mW, W", finest: "microwatt" };
    /// Extents, counted or as a share.
    pub const LEVEL: Kind =
        Kind { name: "a level", example: "30%", units: "a whole number, or %", finest: "0.0001 %" };
}

/// Why a text is not the quantity it should be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum QuantityError {
    /// Digits, and nothing behind them.
    NoUnit(Kind, String),
    /// A number, and behind it something that is no unit of this kind.
    WrongUnit(Kind, String, String),
    /// Nothing that begins like a number.
    NotANumber(Kind, String),
    /// Below zero.
    Negative(Kind, String),
    /// More than the program can hold, or than makes sense (a share above 100 %).
    TooLarge(Kind, String, &'static str),
    /// A part smaller than the finest that is kept.
    TooFine(Kind, String),
    /// A rate of nothing, which would take for ever.
    Zero(Kind, String),
}

impl fmt::Display for QuantityError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        use QuantityError::*;
        match self {
            NoUnit(k, t) => {
                write!(f, "`{t}` has no unit; write e.g. \"{}\" ({})", k.example, k.units)
            }
            WrongUnit(k, t, unit) => {
                write!(f, "`{t}` is not {}: `{unit}` is none of its units ({})", k.name, k.units)
            }
            NotANumber(k, t) => {
                write!(f, "`{t}` is not {}; write e.g. \"{}\" ({})", k.name, k.example, k.units)
            }
            Negative(k, t) => write!(f, "`{t}` is negative; {} is 0 or more", k.name),
            TooLarge(k, t, most) => write!(f, "`{t}` is too large; {} is at most {most}", k.name),
            TooFine(k, t) => {
                write!(f, "`{t}` is too fine; {} is a whole number of times one {}", k.name, k.finest)
            }
            Zero(k, t) => write!(f, "`{t}` is zero; {} is more than that", k.name),
        }
    }
}

impl std::error::Error for QuantityError {}
