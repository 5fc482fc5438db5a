//! Fields of a text line, parsed from bytes without an allocation.

use super::error::{Reason, quote};

/// The fields of one line. With `COMMA`, fields are separated by single commas, and
/// blanks around a field are dropped; without it, they are separated by runs of blanks.
pub(crate) struct Fields<'a, const COMMA: bool> {
    rest: &'a [u8],
    done: bool,
    layout: &'static str,
}

/// Fields of a comma-separated line.
pub(crate) type Csv<'a> = Fields<'a, true>;
/// Fields of a blank-separated line.
pub(crate) type Words<'a> = Fields<'a, false>;

#[inline]
fn blank(b: u8) -> bool {
    b == b' ' || b == b'\t'
}

pub(crate) fn trim(mut s: &[u8]) -> &[u8] {
    while let [b' ' | b'\t' | b'\r', rest @ ..] = s {
        s = rest;
    }
    while let [rest @ .., b' ' | b'\t' | b'\r'] = s {
        s = rest;
    }
    s
}

impl<'a, const COMMA: bool> Iterator for Fields<'a, COMMA> {
    type Item = &'a [u8];

    #[inline]
    fn next(&mut self) -> Option<&'a [u8]> {
        if COMMA {
            if self.done {
                return None;
            }
            // Fields are short: a plain loop is faster than a call to memchr.
            let field = match self.rest.iter().position(|&b| b == b',') {
                Some(at) => {
                    let field = &self.rest[..at];
                    self.rest = &self.rest[at + 1..];
                    field
                }
                None => {
                    self.done = true;
                    self.rest
                }
            };
            return Some(trim(field));
        }
        let from = self.rest.iter().position(|&b| !blank(b))?;
        let rest = &self.rest[from..];
        let length = rest.iter().position(|&b| blank(b)).unwrap_or(rest.len());
        self.rest = &rest[length..];
        Some(&rest[..length])
    }
}

impl<'a, const COMMA: bool> Fields<'a, COMMA> {
    /// `layout` describes the whole line in error messages.
    #[inline]
    pub fn new(line: &'a [u8], layout: &'static str) -> Self {
        Fields { rest: line, done: false, layout }
    }

    /// The next field; an error if it is missing.
    #[inline]
    pub fn text(&mut self, name: &'static str) -> Result<&'a [u8], Box<Reason>> {
        let layout = self.layout;
        self.next().ok_or_else(|| Box::new(Reason::Missing { name, layout }))
    }

    /// The next field, as a whole number.
    #[inline]
    pub fn number(&mut self, name: &'static str) -> Result<u64, Box<Reason>> {
        let field = self.text(name)?;
        number(name, field)
    }

    /// The next field, as a whole number of 32 bits.
    #[inline]
    pub fn number32(&mut self, name: &'static str) -> Result<u32, Box<Reason>> {
        let field = self.text(name)?;
        number32(name, field)
    }

    /// The next field, as a time in units of `unit` ns, with or without a fraction.
    #[inline]
    pub fn time(&mut self, name: &'static str, unit: u64) -> Result<u64, Box<Reason>> {
        let field = self.text(name)?;
        time(name, field, unit)
    }
}

/// A whole decimal number.
#[inline]
pub(crate) fn number(name: &'static str, field: &[u8]) -> Result<u64, Box<Reason>> {
    // Nineteen digits cannot overflow 64 bits, so the common case needs no check per
    // digit.
    if field.is_empty() || field.len() > 19 {
        return number_slow(name, field);
    }
    let mut value = 0u64;
    for &b in field {
        let digit = b.wrapping_sub(b'0');
        if digit > 9 {
            return Err(wrong(name, field));
        }
        value = value * 10 + u64::from(digit);
    }
    Ok(value)
}

/// A whole decimal number of 32 bits.
#[inline]
pub(crate) fn number32(name: &'static str, field: &[u8]) -> Result<u32, Box<Reason>> {
    u32::try_from(number(name, field)?)
        .map_err(|_| Box::new(Reason::TooLarge { name, text: quote(field), max: u64::from(u32::MAX) }))
}

#[cold]
fn number_slow(name: &'static str, field: &[u8]) -> Result<u64, Box<Reason>> {
    if field.is_empty() || !field.iter().all(u8::is_ascii_digit) {
        return Err(wrong(name, field));
    }
    let mut value = 0u64;
    for &b in field {
        value = value
            .checked_mul(10)
            .and_then(|v| v.checked_add(u64::from(b - b'0')))
            .ok_or_else(|| Box::new(Reason::TooLarge { name, text: quote(field), max: u64::MAX }))?;
    }
    Ok(value)
}

/// Parse a time in units of `unit` nanoseconds; digits below 1 ns are cut. The result is
/// exact, except that a number with an exponent is parsed as a float.
#[inline]
pub(crate) fn time(name: &'static str, field: &[u8], unit: u64) -> Result<u64, Box<Reason>> {
    let point = field.iter().position(|&b| b == b'.');
    let (whole, fraction) = match point {
        None => (field, &[][..]),
        Some(at) => (&field[..at], &field[at + 1..]),
    };
    if field.iter().any(|b| matches!(b, b'e' | b'E')) {
        return exponent(name, field, unit);
    }
    let whole = if whole.is_empty() && !fraction.is_empty() { 0 } else { number(name, whole)? };
    let mut part = 0u64;
    let mut scale = 1u64;
    for &b in fraction {
        let digit = b.wrapping_sub(b'0');
        if digit > 9 {
            return Err(wrong(name, field));
        }
        if scale < 1_000_000_000 {
            part = part * 10 + u64::from(digit);
            scale *= 10;
        }
    }
    let part = if part == 0 { 0 } else { part * unit / scale };
    whole
        .checked_mul(unit)
        .and_then(|ns| ns.checked_add(part))
        .ok_or_else(|| Box::new(Reason::TooLarge { name, text: quote(field), max: u64::MAX / unit }))
}

#[cold]
fn exponent(name: &'static str, field: &[u8], unit: u64) -> Result<u64, Box<Reason>> {
    let value: f64 = match std::str::from_utf8(field).ok().and_then(|s| s.parse().ok()) {
        Some(v) => v,
        None => return Err(wrong(name, field)),
    };
    let ns = value * unit as f64;
    if value.is_nan() || value < 0.0 {
        return Err(wrong(name, field));
    }
    if ns >= u64::MAX as f64 {
        return Err(Box::new(Reason::TooLarge { name, text: quote(field), max: u64::MAX / unit }));
    }
    Ok(ns as u64)
}

#[cold]
fn wrong(name: &'static str, field: &[u8]) -> Box<Reason> {
    let text = quote(field);
    let digits = field.strip_prefix(b"-").unwrap_or(b"");
    let negative = digits.first().is_some_and(u8::is_ascii_digit);
    Box::new(if negative { Reason::Negative { name, text } } else { Reason::NotANumber { name, text } })
}

/// The error of a field with a value that is not allowed.
#[cold]
pub(crate) fn bad_value(name: &'static str, field: &[u8], allowed: &'static str) -> Box<Reason> {
    Box::new(Reason::BadValue { name, text: quote(field), allowed })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimals_are_exact_and_cut_below_a_nanosecond() {
        let t = |s: &str, unit| time("time", s.as_bytes(), unit).map_err(|e| e.to_string());
        assert_eq!(t("7.5", 1_000_000), Ok(7_500_000));
        assert_eq!(t("0.1234567899", 1_000_000_000), Ok(123_456_789));
        assert_eq!(t(".25", 1_000), Ok(250));
        assert_eq!(t("1.2e1", 1_000), Ok(12_000));
        assert_eq!(t("18446744073709551615", 1), Ok(u64::MAX));
        for bad in ["", ".", "-1", "1.x", "nan", "1e999", "18446744073709551616", "99999999999999999999999"] {
            assert!(t(bad, 1_000_000_000).is_err(), "{bad:?} was taken");
        }
        assert!(t("-3.5", 1).unwrap_err().contains("negative"));
    }

    #[test]
    fn fields_split_by_blanks_or_commas() {
        let words: Vec<_> = Words::new(b" a  bb\tc ", "").collect();
        assert_eq!(words, [&b"a"[..], b"bb", b"c"]);
        let csv: Vec<_> = Csv::new(b"a,, b ,", "").collect();
        assert_eq!(csv, [&b"a"[..], b"", b"b", b""]);
    }
}
