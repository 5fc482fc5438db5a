//! Bytes, and bytes per second.

use super::decimal::{shortest, split};
use super::error::{Kind, QuantityError};

/// Largest first. Decimal units are powers of 1000, binary ones of 1024.
const UNITS: [(&str, u64); 11] = [
    ("PiB", 1 << 50),
    ("PB", 1_000_000_000_000_000),
    ("TiB", 1 << 40),
    ("TB", 1_000_000_000_000),
    ("GiB", 1 << 30),
    ("GB", 1_000_000_000),
    ("MiB", 1 << 20),
    ("MB", 1_000_000),
    ("KiB", 1 << 10),
    ("KB", 1_000),
    ("B", 1),
];

/// Read a size such as `"16KiB"` or `"240GB"`; a whole number of bytes.
pub fn parse_bytes(text: &str) -> Result<u64, QuantityError> {
    sized(Kind::BYTES, text, "")
}

/// The shortest text that [`parse_bytes`] reads back as `bytes`.
pub fn format_bytes(bytes: u64) -> String {
    shortest(bytes, &UNITS)
}

/// Read a rate such as `"1.2GB/s"`, in bytes per second; `"inf"` is `u64::MAX`, a link that takes
/// no time.
pub fn parse_rate(text: &str) -> Result<u64, QuantityError> {
    if text.trim() == "inf" {
        return Ok(u64::MAX);
    }
    match sized(Kind::RATE, text, "/s")? {
        0 => Err(QuantityError::Zero(Kind::RATE, text.trim().to_string())),
        rate => Ok(rate),
    }
}

/// The shortest text that [`parse_rate`] reads back as `rate`.
pub fn format_rate(rate: u64) -> String {
    match rate {
        u64::MAX => "inf".to_string(),
        _ => format!("{}/s", shortest(rate, &UNITS)),
    }
}

fn sized(kind: Kind, text: &str, suffix: &str) -> Result<u64, QuantityError> {
    let (number, unit) = split(kind, text)?;
    if unit.is_empty() {
        return Err(QuantityError::NoUnit(kind, text.trim().to_string()));
    }
    let factor = unit.strip_suffix(suffix).and_then(|name| {
        // "kB" is the standard spelling of the decimal unit.
        let name = if name == "kB" { "KB" } else { name };
        UNITS.iter().find(|&&(u, _)| u == name)
    });
    let Some(&(_, factor)) = factor else {
        return Err(QuantityError::WrongUnit(kind, text.trim().to_string(), unit.to_string()));
    };
    number.times(kind, text, factor, "18.4 EB")
}
