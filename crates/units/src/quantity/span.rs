//! Lengths of time.

use super::decimal::{shortest, split};
use super::error::{Kind, QuantityError};
use crate::time::Span;

/// Largest first: `format_time` prefers the first unit among texts of equal length.
const UNITS: [(&str, u64); 6] = [
    ("d", 86_400_000_000_000),
    ("h", 3_600_000_000_000),
    ("s", 1_000_000_000),
    ("ms", 1_000_000),
    ("us", 1_000),
    ("ns", 1),
];

/// Read a time such as `"100us"`: ns, us (or µs), ms, s, h, d; a whole number of nanoseconds.
pub fn parse_time(text: &str) -> Result<Span, QuantityError> {
    let (number, unit) = split(Kind::TIME, text)?;
    let name = match unit {
        // Both code points of the micro sign.
        "\u{b5}s" | "\u{3bc}s" => "us",
        other => other,
    };
    if name.is_empty() {
        return Err(QuantityError::NoUnit(Kind::TIME, text.trim().to_string()));
    }
    let Some(&(_, factor)) = UNITS.iter().find(|&&(u, _)| u == name) else {
        return Err(QuantityError::WrongUnit(Kind::TIME, text.trim().to_string(), unit.to_string()));
    };
    number.times(Kind::TIME, text, factor, "584 years").map(Span)
}

/// The shortest text that [`parse_time`] reads back as `span`.
pub fn format_time(span: Span) -> String {
    shortest(span.0, &UNITS)
}
