//! Errors in the text of a quantity.

use std::fmt;

/// A kind of quantity, for messages: its name and its units.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kind {
    /// The name with its article: "a time".
    pub name: &'static str,
    /// A valid text.
    pub example: &'static str,
    /// The units, as shown in messages.
    pub units: &'static str,
    /// The smallest step: values are whole multiples of it.
    pub finest: &'static str,
}

impl Kind {
    /// A length of time.
    pub const TIME: Kind =
        Kind { name: "a time", example: "100us", units: "ns, us, ms, s, h, d", finest: "nanosecond" };
    /// A number of bytes.
    pub const BYTES: Kind = Kind {
        name: "a size",
        example: "16KiB",
        units: "B, KB, MB, GB, TB, PB, KiB, MiB, GiB, TiB, PiB",
        finest: "byte",
    };
    /// A share of a whole.
    pub const FRACTION: Kind = Kind { name: "a share", example: "7%", units: "%", finest: "0.0001 %" };
    /// One quantity divided by another; it may exceed 100 %.
    pub const RATIO: Kind = Kind { name: "a ratio", example: "28%", units: "%", finest: "0.0001 %" };
    /// Bytes per second.
    pub const RATE: Kind = Kind {
        name: "a rate",
        example: "1.2GB/s",
        units: "B/s, KB/s, MB/s, GB/s, TB/s, PB/s, KiB/s, MiB/s, GiB/s, TiB/s, PiB/s; or inf",
        finest: "byte a second",
    };
    /// Electrical power.
    pub const POWER: Kind =
        Kind { name: "a power", example: "82.5mW", units: "uW, mW, W", finest: "microwatt" };
    /// A number of extents, as a count or as a share.
    pub const LEVEL: Kind =
        Kind { name: "a level", example: "30%", units: "a whole number, or %", finest: "0.0001 %" };
}

/// Why a text is not a valid quantity.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum QuantityError {
    /// A number without a unit.
    NoUnit(Kind, String),
    /// A number with a unit that is not one of this kind.
    WrongUnit(Kind, String, String),
    /// A text that does not begin with a number.
    NotANumber(Kind, String),
    /// Below zero.
    Negative(Kind, String),
    /// More than the type can hold, or more than is allowed (a share above 100 %).
    TooLarge(Kind, String, &'static str),
    /// Not a whole multiple of the smallest step.
    TooFine(Kind, String),
    /// A rate of 0, at which a transfer would never end.
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
                write!(f, "`{t}` is not {}: `{unit}` is not one of its units ({})", k.name, k.units)
            }
            NotANumber(k, t) => {
                write!(f, "`{t}` is not {}; write e.g. \"{}\" ({})", k.name, k.example, k.units)
            }
            Negative(k, t) => write!(f, "`{t}` is negative; {} is 0 or more", k.name),
            TooLarge(k, t, most) => write!(f, "`{t}` is too large; {} is at most {most}", k.name),
            TooFine(k, t) => {
                write!(f, "`{t}` is too fine; {} must be a whole multiple of one {}", k.name, k.finest)
            }
            Zero(k, t) => write!(f, "`{t}` is zero; {} must be more than 0", k.name),
        }
    }
}

impl std::error::Error for QuantityError {}
