//! A number (of extents, for example), given as a count or as a share.

use super::decimal::split;
use super::error::{Kind, QuantityError};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use std::fmt;

/// A number of extents of a set: a count, or a share of the set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Level {
    /// A count.
    Count(u32),
    /// A share in millionths. An integer, so that 7 % of 100 is 7 and not 8 by a rounding error.
    Share(u32),
}

impl Level {
    /// The number out of `total`; a share is rounded up.
    pub fn of(self, total: u32) -> u32 {
        match self {
            Level::Count(n) => n,
            // At most `total`, since a share is at most a million millionths.
            Level::Share(s) => (u64::from(s) * u64::from(total)).div_ceil(1_000_000) as u32,
        }
    }
}

/// Read a level: `"4"` extents, or `"30%"` of them.
pub fn parse_level(text: &str) -> Result<Level, QuantityError> {
    let (number, unit) = split(Kind::LEVEL, text)?;
    let owned = || text.trim().to_string();
    match unit {
        "" => {
            let n = number.times(Kind::LEVEL, text, 1, "4294967295")?;
            let n = u32::try_from(n);
            n.map(Level::Count).map_err(|_| QuantityError::TooLarge(Kind::LEVEL, owned(), "4294967295"))
        }
        "%" => match number.times(Kind::LEVEL, text, 10_000, "100%")? {
            millionths @ 0..=1_000_000 => Ok(Level::Share(millionths as u32)),
            _ => Err(QuantityError::TooLarge(Kind::LEVEL, owned(), "100%")),
        },
        other => Err(QuantityError::WrongUnit(Kind::LEVEL, owned(), other.to_string())),
    }
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Level::Count(n) => write!(f, "{n}"),
            Level::Share(s) if s.is_multiple_of(10_000) => write!(f, "{}%", s / 10_000),
            Level::Share(s) => {
                let part = format!("{:04}", s % 10_000);
                write!(f, "{}.{}%", s / 10_000, part.trim_end_matches('0'))
            }
        }
    }
}

impl Serialize for Level {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        match self {
            Level::Count(n) => s.serialize_u32(*n),
            Level::Share(_) => s.collect_str(self),
        }
    }
}

struct LevelVisitor;

impl de::Visitor<'_> for LevelVisitor {
    type Value = Level;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a whole number or a share such as \"30%\"")
    }
    fn visit_str<E: de::Error>(self, text: &str) -> Result<Level, E> {
        parse_level(text).map_err(E::custom)
    }
    fn visit_u64<E: de::Error>(self, n: u64) -> Result<Level, E> {
        parse_level(&n.to_string()).map_err(E::custom)
    }
    fn visit_i64<E: de::Error>(self, n: i64) -> Result<Level, E> {
        parse_level(&n.to_string()).map_err(E::custom)
    }
}

impl<'de> Deserialize<'de> for Level {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Level, D::Error> {
        // The type of the input decides between count and share.
        d.deserialize_any(LevelVisitor)
    }
}
