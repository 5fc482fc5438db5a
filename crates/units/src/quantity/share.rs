//! Shares of a whole, and ratios.

use super::decimal::{Decimal, split};
use super::error::{Kind, QuantityError};

/// Read a share such as `"7%"`, 0 to 100 %, as the float nearest to the written number.
pub fn parse_fraction(text: &str) -> Result<f64, QuantityError> {
    let number = percent(Kind::FRACTION, text)?;
    let above = match number.whole.len() {
        0..=2 => false,
        3 => number.whole != "100" || !number.part.is_empty(),
        _ => true,
    };
    if above {
        return Err(QuantityError::TooLarge(Kind::FRACTION, text.trim().to_string(), "100%"));
    }
    nearest(Kind::FRACTION, text, &number)
}

/// Read a ratio such as `"28%"` or `"150%"`, as the float nearest to the written number.
pub fn parse_ratio(text: &str) -> Result<f64, QuantityError> {
    let number = percent(Kind::RATIO, text)?;
    if number.whole.len() > 5 {
        return Err(QuantityError::TooLarge(Kind::RATIO, text.trim().to_string(), "99999%"));
    }
    nearest(Kind::RATIO, text, &number)
}

fn percent(kind: Kind, text: &str) -> Result<Decimal<'_>, QuantityError> {
    let (number, unit) = split(kind, text)?;
    match unit {
        "%" => Ok(number),
        "" => Err(QuantityError::NoUnit(kind, text.trim().to_string())),
        _ => Err(QuantityError::WrongUnit(kind, text.trim().to_string(), unit.to_string())),
    }
}

fn nearest(kind: Kind, text: &str, number: &Decimal<'_>) -> Result<f64, QuantityError> {
    // Moving the point in the text rounds once; dividing by 100 would round twice.
    let moved = format!("0{}{}e-{}", number.whole, number.part, number.part.len() + 2);
    moved.parse().map_err(|_| QuantityError::NotANumber(kind, text.trim().to_string()))
}

/// The shortest text that [`parse_fraction`] or [`parse_ratio`] reads back as `share`.
pub fn format_fraction(share: f64) -> String {
    // `{:e}` prints the fewest digits that name this float.
    let scientific = format!("{share:e}");
    let Some((digits, exponent)) = scientific.split_once('e') else {
        return format!("{share}%");
    };
    let digits: String = digits.chars().filter(char::is_ascii_digit).collect();
    // Digits before the point, once the value is in per cent.
    let before = exponent.parse::<i32>().unwrap_or(0) + 3;
    let text = if share == 0.0 {
        "0".to_string()
    } else if before <= 0 {
        format!("0.{}{digits}", "0".repeat(before.unsigned_abs() as usize))
    } else if digits.len() <= before as usize {
        format!("{digits}{}", "0".repeat(before as usize - digits.len()))
    } else {
        let (whole, part) = digits.split_at(before as usize);
        format!("{whole}.{part}")
    };
    format!("{text}%")
}
