//! Electrical power.

use super::decimal::{shortest, split};
use super::error::{Kind, QuantityError};

/// Largest first.
const UNITS: [(&str, u64); 3] = [("W", 1_000_000), ("mW", 1_000), ("uW", 1)];

/// Read a power such as `"82.5mW"`, in microwatts: uW, mW, W.
pub fn parse_power(text: &str) -> Result<u64, QuantityError> {
    let (number, unit) = split(Kind::POWER, text)?;
    if unit.is_empty() {
        return Err(QuantityError::NoUnit(Kind::POWER, text.trim().to_string()));
    }
    let Some(&(_, factor)) = UNITS.iter().find(|&&(u, _)| u == unit) else {
        return Err(QuantityError::WrongUnit(Kind::POWER, text.trim().to_string(), unit.to_string()));
    };
    match number.times(Kind::POWER, text, factor, "1000 W")? {
        microwatts @ 0..=1_000_000_000 => Ok(microwatts),
        _ => Err(QuantityError::TooLarge(Kind::POWER, text.trim().to_string(), "1000 W")),
    }
}

/// The shortest text that [`parse_power`] reads back as `microwatts`.
pub fn format_power(microwatts: u64) -> String {
    shortest(microwatts, &UNITS)
}
