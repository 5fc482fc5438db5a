//! The range that a comment states: bounds that a program can test, and conditions in words.
//!
//! `1 to 256`, `at least 1`, `more than 0B, at most 256MiB`, `each 1 to 10000` (for the values of a
//! list). Conditions that depend on other keys follow after a semicolon: `at least 1; divides
//! `geometry.planes``.

use serde::Serialize;
use std::fmt;

/// One end of a range.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct KeyBound {
    /// The bound, as written in a configuration.
    pub value: String,
    /// Whether the bound itself is refused.
    pub excluded: bool,
}

/// The allowed values of a key.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct KeyRange {
    /// Whether the bounds apply to every value of a list.
    pub each: bool,
    /// The lower bound.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub least: Option<KeyBound>,
    /// The upper bound.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub most: Option<KeyBound>,
    /// Further conditions, in words.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub conditions: Vec<String>,
}

impl KeyRange {
    /// Make a range whose bounds are allowed values.
    pub(super) fn new(least: Option<&str>, most: Option<&str>) -> KeyRange {
        let bound = |value: &str| KeyBound { value: value.to_string(), excluded: false };
        KeyRange { least: least.map(bound), most: most.map(bound), ..KeyRange::default() }
    }

    /// Parse the range that a comment states. If it states no bounds, those of the type apply.
    pub(super) fn parse(text: &str, of_type: KeyRange) -> KeyRange {
        let mut parts = text.split("; ").map(str::trim);
        let first = parts.next().unwrap_or_default();
        match bounds(first) {
            Some(range) => KeyRange { conditions: parts.map(str::to_string).collect(), ..range },
            None => {
                let conditions = std::iter::once(first).chain(parts).map(str::to_string).collect();
                KeyRange { conditions, ..of_type }
            }
        }
    }
}

/// Parse the bounds; `None` if the text is anything else.
fn bounds(text: &str) -> Option<KeyRange> {
    let (each, text) = text.strip_prefix("each ").map_or((false, text), |rest| (true, rest));
    let value = |text: &str| {
        let begins = text.starts_with(|c: char| c.is_ascii_digit()) || text == "inf";
        (begins && !text.contains(' ')).then(|| text.to_string())
    };
    let bound = |value: String, excluded| Some(KeyBound { value, excluded });
    let mut range = KeyRange { each, ..KeyRange::default() };
    if let Some((least, most)) = text.split_once(" to ") {
        range.least = bound(value(least)?, false);
        range.most = bound(value(most)?, false);
        return Some(range);
    }
    for part in text.split(", ") {
        let (place, words, excluded) = if let Some(rest) = part.strip_prefix("at least ") {
            (&mut range.least, rest, false)
        } else if let Some(rest) = part.strip_prefix("more than ") {
            (&mut range.least, rest, true)
        } else if let Some(rest) = part.strip_prefix("at most ") {
            (&mut range.most, rest, false)
        } else {
            (&mut range.most, part.strip_prefix("less than ")?, true)
        };
        *place = bound(value(words)?, excluded);
    }
    Some(range)
}

impl fmt::Display for KeyRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let least =
            |b: &KeyBound| format!("{} {}", if b.excluded { "more than" } else { "at least" }, b.value);
        let most = |b: &KeyBound| format!("{} {}", if b.excluded { "less than" } else { "at most" }, b.value);
        let bounds = match (&self.least, &self.most) {
            (Some(l), Some(m)) if !l.excluded && !m.excluded => Some(format!("{} to {}", l.value, m.value)),
            (Some(l), Some(m)) => Some(format!("{}, {}", least(l), most(m))),
            (Some(l), None) => Some(least(l)),
            (None, Some(m)) => Some(most(m)),
            (None, None) => None,
        };
        let bounds = bounds.map(|b| if self.each { format!("each {b}") } else { b });
        let parts: Vec<String> = bounds.into_iter().chain(self.conditions.iter().cloned()).collect();
        f.write_str(&parts.join("; "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_stated_is_shown_as_it_was_stated() {
        let of_type = || KeyRange::new(Some("0ns"), None);
        for text in [
            "1 to 256",
            "at least 1; divides `geometry.planes`",
            "more than 0B, at most 256MiB; at least `ftl.mapping_unit`",
            "more than 0%, less than 100%",
            "each 0ns to 1000s; 1 to 16 values",
            "1000B/s to inf",
        ] {
            assert_eq!(KeyRange::parse(text, of_type()).to_string(), text);
        }
        let inside = KeyRange::parse("more than 0B, at most 256MiB", of_type());
        assert_eq!(inside.least, Some(KeyBound { value: "0B".to_string(), excluded: true }));
        assert_eq!(inside.most, Some(KeyBound { value: "256MiB".to_string(), excluded: false }));
        // A text that is not a bound is a condition in addition to the bounds of the type.
        for text in ["at least `low`", "`die` needs several planes; and more", "each of the letters once"] {
            assert_eq!(KeyRange::parse(text, of_type()).to_string(), format!("at least 0ns; {text}"));
        }
    }
}
