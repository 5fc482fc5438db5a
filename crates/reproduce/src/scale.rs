//! A factor in an experiment file: a number, or a text with the name of an axis.

use serde::de::{self, Deserialize, Deserializer, Visitor};
use std::fmt;

/// A factor as text, or a text with the name of an axis in braces.
#[derive(Clone, Debug, PartialEq)]
pub struct Scale(pub(crate) String);

impl Scale {
    /// The factor.
    ///
    /// # Errors
    /// If the text is not a number above zero.
    pub fn value(&self) -> Result<f64, String> {
        let value = self.0.parse::<f64>().ok().filter(|v| v.is_finite() && *v > 0.0);
        value.ok_or_else(|| {
            format!(
                "`{}` is neither a number above zero nor an axis name in braces such as `\"{{load}}\"`",
                self.0
            )
        })
    }
}

impl<'de> Deserialize<'de> for Scale {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Scale, D::Error> {
        deserializer.deserialize_any(Factor)
    }
}

struct Factor;

impl Visitor<'_> for Factor {
    type Value = Scale;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a number, or an axis name in braces such as \"{load}\"")
    }

    fn visit_f64<E: de::Error>(self, v: f64) -> Result<Scale, E> {
        Ok(Scale(v.to_string()))
    }

    fn visit_i64<E: de::Error>(self, v: i64) -> Result<Scale, E> {
        Ok(Scale(v.to_string()))
    }

    fn visit_str<E: de::Error>(self, v: &str) -> Result<Scale, E> {
        Ok(Scale(v.to_string()))
    }
}
