//! Decimal numbers in the digits of the text, so that no value passes through a float.

use super::error::{Kind, QuantityError};

/// The number `whole.part`, without superfluous zeros: `whole` does not begin and `part` does not
/// end with 0.
pub(super) struct Decimal<'a> {
    pub(super) whole: &'a str,
    pub(super) part: &'a str,
}

/// Split `text` into its number and the text after it.
pub(super) fn split<'a>(kind: Kind, text: &'a str) -> Result<(Decimal<'a>, &'a str), QuantityError> {
    let t = text.trim();
    let begins = |s: &str| s.starts_with(|c: char| c.is_ascii_digit() || c == '.');
    if let Some(rest) = t.strip_prefix(['-', '\u{2212}'])
        && begins(rest.trim_start())
    {
        return Err(QuantityError::Negative(kind, t.to_string()));
    }
    let end = t.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(t.len());
    let (number, unit) = t.split_at(end);
    let (whole, part) = number.split_once('.').unwrap_or((number, ""));
    if (whole.is_empty() && part.is_empty()) || part.contains('.') {
        return Err(QuantityError::NotANumber(kind, t.to_string()));
    }
    let whole = whole.trim_start_matches('0');
    let part = part.trim_end_matches('0');
    Ok((Decimal { whole, part }, unit.trim()))
}

impl Decimal<'_> {
    /// This number times `factor`. An error if the product is not whole or exceeds a `u64`.
    pub(super) fn times(
        &self,
        kind: Kind,
        text: &str,
        factor: u64,
        most: &'static str,
    ) -> Result<u64, QuantityError> {
        let too_large = || QuantityError::TooLarge(kind, text.trim().to_string(), most);
        let too_fine = || QuantityError::TooFine(kind, text.trim().to_string());
        // 20 digits times a u64, and 18 digits times a u64, stay within u128.
        if self.whole.len() > 20 {
            return Err(too_large());
        }
        if self.part.len() > 18 {
            return Err(too_fine());
        }
        let number = |digits: &str| digits.bytes().fold(0u128, |n, b| n * 10 + u128::from(b - b'0'));
        let scale = 10u128.pow(self.part.len() as u32);
        let part = number(self.part) * u128::from(factor);
        if !part.is_multiple_of(scale) {
            return Err(too_fine());
        }
        let total = number(self.whole) * u128::from(factor) + part / scale;
        u64::try_from(total).map_err(|_| too_large())
    }
}

/// The shortest exact text of `value` in one of `units` (name, factor); among texts of equal
/// length, that of the first unit. One of the factors is 1.
pub(super) fn shortest(value: u64, units: &[(&str, u64)]) -> String {
    let texts = units
        .iter()
        .filter(|&&(_, factor)| factor == 1 || factor <= value)
        .filter_map(|&(name, factor)| Some(format!("{}{name}", quotient(value, factor)?)));
    // `min_by_key` keeps the first of equals.
    texts.min_by_key(String::len).unwrap_or_else(|| value.to_string())
}

/// `value / factor` in decimal, if nine decimal places are enough; otherwise `None`.
fn quotient(value: u64, factor: u64) -> Option<String> {
    let mut text = (value / factor).to_string();
    let mut rest = u128::from(value % factor);
    if rest != 0 {
        text.push('.');
    }
    for _ in 0..9 {
        if rest == 0 {
            break;
        }
        rest *= 10;
        text.push(char::from(b'0' + (rest / u128::from(factor)) as u8));
        rest %= u128::from(factor);
    }
    (rest == 0).then_some(text)
}
