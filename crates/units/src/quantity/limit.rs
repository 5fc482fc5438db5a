//! Limits that may be absent: `"none"`, or the value.

use super::span::{format_time, parse_time};
use crate::time::Span;
use serde::{Deserializer, Serializer, de};
use std::fmt;

const NONE: &str = "none";

/// An optional number as `"none"` or `4`.
pub mod count_limit {
    use super::*;

    /// Write the number, or `"none"`.
    pub fn serialize<S: Serializer>(value: &Option<u32>, s: S) -> Result<S::Ok, S::Error> {
        match value {
            Some(n) => s.serialize_u32(*n),
            None => s.serialize_str(NONE),
        }
    }

    /// Read a number or `"none"`.
    pub fn deserialize<'de, D: Deserializer<'de>>(d: D) -> Result<Option<u32>, D::Error> {
        struct Visit;
        impl de::Visitor<'_> for Visit {
            type Value = Option<u32>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a whole number up to 4294967295, or \"none\"")
            }
            fn visit_str<E: de::Error>(self, text: &str) -> Result<Option<u32>, E> {
                match text.trim() {
                    NONE => Ok(None),
                    number => match number.parse() {
                        Ok(n) => Ok(Some(n)),
                        Err(_) => Err(E::invalid_value(de::Unexpected::Str(text), &self)),
                    },
                }
            }
            fn visit_u64<E: de::Error>(self, n: u64) -> Result<Option<u32>, E> {
                self.visit_str(&n.to_string())
            }
            fn visit_i64<E: de::Error>(self, n: i64) -> Result<Option<u32>, E> {
                self.visit_str(&n.to_string())
            }
        }
        d.deserialize_any(Visit)
    }
}

/// An optional [`Span`] as `"none"` or `"100us"`.
pub mod time_limit {
    use super::*;

    /// Write the time, or `"none"`.
    pub fn serialize<S: Serializer>(value: &Option<Span>, s: S) -> Result<S::Ok, S::Error> {
        s.serialize_str(&value.map_or_else(|| NONE.to_string(), format_time))
    }

    /// Read a time with a unit or `"none"`.
    pub fn deserialize<'de, D: Deserializer<'de>>(d: D) -> Result<Option<Span>, D::Error> {
        struct Visit;
        impl de::Visitor<'_> for Visit {
            type Value = Option<Span>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a time such as \"100us\" (ns, us, ms, s, h, d), or \"none\"")
            }
            fn visit_str<E: de::Error>(self, text: &str) -> Result<Option<Span>, E> {
                match text.trim() {
                    NONE => Ok(None),
                    time => parse_time(time).map(Some).map_err(E::custom),
                }
            }
        }
        d.deserialize_str(Visit)
    }
}
