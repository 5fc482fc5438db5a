//! Values as fio writes them: bytes, times, percentages, lists by direction.
//!
//! Every reader returns its error as text; the caller adds the option and the allowed
//! values.

/// Parts per million, the resolution of a percentage.
pub(super) const MILLION: u64 = 1_000_000;
/// The longest time accepted, in ns: a hundred years, which cannot overflow.
pub(super) const LONGEST_NS: u64 = 100 * 365 * 86_400 * 1_000_000_000;

/// The factors of `k` and `Ki`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Units {
    /// The factor of `k`.
    pub kilo: u64,
    /// The factor of `Ki`. In fio it is 1000 where `k` is 1024, and 1024 where `k` is
    /// 1000. `None` until the job sets `kb_base`.
    pub kibi: Option<u64>,
}

impl Default for Units {
    fn default() -> Units {
        Units { kilo: 1024, kibi: None }
    }
}

/// Bytes or a share of the host capacity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Extent {
    Bytes(u64),
    PartsPerMillion(u64),
}

impl Extent {
    /// The extent in bytes on a capacity, rounded down.
    pub fn bytes_of(self, capacity: u64) -> u64 {
        match self {
            Extent::Bytes(bytes) => bytes,
            Extent::PartsPerMillion(ppm) => {
                let product = u128::from(capacity) * u128::from(ppm);
                u64::try_from(product / u128::from(MILLION)).unwrap_or(u64::MAX)
            }
        }
    }
}

fn split_number(text: &str) -> Result<(u64, &str), String> {
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (digits, unit) = text.split_at(end);
    if digits.is_empty() {
        return Err("not a number".to_string());
    }
    let number = digits.parse().map_err(|_| "the number does not fit 64 bits".to_string())?;
    Ok((number, unit.trim()))
}

/// A count with fio's optional k/m/g/t/p suffix.
pub(super) fn integer(text: &str, units: Units) -> Result<u64, String> {
    let (number, unit) = split_number(text)?;
    let lower = unit.to_ascii_lowercase();
    let stem = lower.strip_suffix('b').unwrap_or(&lower);
    let (prefix, base) = match stem.strip_suffix('i') {
        Some(prefix) if !prefix.is_empty() => {
            let why = "fio reads this unit as a power of 1000 unless kb_base=1000 is set; \
                       write `k` for 1024, or set kb_base";
            (prefix, units.kibi.ok_or(why)?)
        }
        _ => (stem, units.kilo),
    };
    let power = match prefix {
        "" => 0,
        "k" => 1,
        "m" => 2,
        "g" => 3,
        "t" => 4,
        "p" => 5,
        _ => return Err(format!("unknown unit `{}`", super::error::excerpt(unit))),
    };
    base.checked_pow(power)
        .and_then(|factor| number.checked_mul(factor))
        .ok_or_else(|| "the number does not fit 64 bits".to_string())
}

/// An integer within bounds.
pub(super) fn bounded(text: &str, units: Units, least: u64, most: u64) -> Result<u64, String> {
    let number = integer(text, units)?;
    if number < least {
        return Err(format!("{number} is less than {least}"));
    }
    if number > most {
        return Err(format!("{number} is more than {most}"));
    }
    Ok(number)
}

/// A percentage with up to four decimals, in parts per million; at most 100 %.
pub(super) fn percent(text: &str) -> Result<u64, String> {
    let (whole, decimals) = text.split_once('.').unwrap_or((text, ""));
    let is_digits = |s: &str| s.bytes().all(|b| b.is_ascii_digit());
    if whole.is_empty() || whole.len() > 9 || !is_digits(whole) || !is_digits(decimals) {
        return Err("not a percentage".to_string());
    }
    if decimals.len() > 4 {
        return Err("more than four decimals".to_string());
    }
    let tail: u64 = format!("{decimals:0<4}").parse().unwrap_or(0);
    let ppm = whole.parse::<u64>().unwrap_or(u64::MAX).saturating_mul(10_000).saturating_add(tail);
    if ppm > MILLION {
        return Err("more than 100 percent".to_string());
    }
    Ok(ppm)
}

/// Bytes, or `N%` of the host capacity.
pub(super) fn extent(text: &str, units: Units) -> Result<Extent, String> {
    match text.strip_suffix('%') {
        Some(share) => percent(share.trim()).map(Extent::PartsPerMillion),
        None => integer(text, units).map(Extent::Bytes),
    }
}

/// A time in nanoseconds; a bare number counts in `default_unit` nanoseconds.
pub(super) fn time(text: &str, default_unit: u64) -> Result<u64, String> {
    let (number, unit) = split_number(text)?;
    let scale = match unit.to_ascii_lowercase().as_str() {
        "" => default_unit,
        "ns" | "nsec" => 1,
        "us" | "usec" => 1_000,
        "ms" | "msec" => 1_000_000,
        "s" | "sec" => 1_000_000_000,
        "m" => 60_000_000_000,
        "h" => 3_600_000_000_000,
        "d" => 86_400_000_000_000,
        _ => return Err(format!("unknown time unit `{}`", super::error::excerpt(unit))),
    };
    number
        .checked_mul(scale)
        .filter(|ns| *ns <= LONGEST_NS)
        .ok_or_else(|| "longer than 100 years".to_string())
}

/// fio's booleans: a bare option is true.
pub(super) fn boolean(text: Option<&str>) -> Result<bool, String> {
    match text {
        None | Some("1" | "true") => Ok(true),
        Some("0" | "false") => Ok(false),
        Some(_) => Err("not a boolean".to_string()),
    }
}

/// A finite float within bounds, both included.
pub(super) fn float(text: &str, least: f64, most: f64) -> Result<f64, String> {
    let number: f64 = text.parse().map_err(|_| "not a number".to_string())?;
    // The negation also refuses NaN.
    if !(number >= least && number <= most) {
        return Err(format!("outside {least}..={most}"));
    }
    Ok(number)
}

/// Parse fio's `read,write,trim` lists. A single value holds for all three directions;
/// the second of two values also holds for trims. An empty place is `None`, the default.
pub(super) fn by_direction<T: Clone>(
    text: &str,
    mut read: impl FnMut(&str) -> Result<T, String>,
) -> Result<[Option<T>; 3], String> {
    let mut values = Vec::with_capacity(3);
    for (index, piece) in text.split(',').map(str::trim).enumerate() {
        if index == 3 {
            return Err("more than three values".to_string());
        }
        values.push(if piece.is_empty() { None } else { Some(read(piece)?) });
    }
    Ok(match values.as_slice() {
        [all] => [all.clone(), all.clone(), all.clone()],
        [reads, others] => [reads.clone(), others.clone(), others.clone()],
        [reads, writes, trims] => [reads.clone(), writes.clone(), trims.clone()],
        _ => [None, None, None],
    })
}

/// Fill the blank shares of a `value/percent:value/percent` list: the blanks share the
/// rest equally. Returns the shares and their sum, in parts per million. The sum is below
/// [`MILLION`] only if there are no blanks.
pub(super) fn fill_blanks(shares: &[Option<u64>]) -> Result<(Vec<u64>, u64), String> {
    let given: u64 = shares.iter().flatten().sum();
    if given > MILLION {
        return Err("the percentages add up to more than 100".to_string());
    }
    let blanks = shares.iter().filter(|s| s.is_none()).count() as u64;
    if blanks == 0 {
        return Ok((shares.iter().flatten().copied().collect(), given));
    }
    let each = (MILLION - given) / blanks;
    // The rounding remainder goes to the first blank, so that the shares add up exactly.
    let mut rest = (MILLION - given) % blanks;
    let filled = shares.iter().map(|s| s.unwrap_or_else(|| each + std::mem::take(&mut rest)));
    Ok((filled.collect(), MILLION))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_are_fios() {
        let fio = Units::default();
        let cases = [
            ("4k", 4096),
            ("4kb", 4096),
            ("4KB", 4096),
            ("2M", 2 << 20),
            ("1g", 1 << 30),
            ("512", 512),
            ("7b", 7),
        ];
        for (text, bytes) in cases {
            assert_eq!(integer(text, fio), Ok(bytes), "{text}");
        }
        assert!(integer("4KiB", fio).unwrap_err().contains("kb_base"));
        let si = Units { kilo: 1000, kibi: Some(1024) };
        assert_eq!((integer("4k", si), integer("4KiB", si)), (Ok(4000), Ok(4096)));
        for text in ["", "k", "4q", "4kk", "-1", "1.5k", "99999999999999999999", "20000p"] {
            assert!(integer(text, fio).is_err(), "{text}");
        }
    }

    #[test]
    fn times_and_percentages() {
        let second = 1_000_000_000;
        let cases = [
            ("10", 10 * second),
            ("3ms", 3_000_000),
            ("2m", 120 * second),
            ("1h", 3600 * second),
            ("5us", 5_000),
        ];
        for (text, ns) in cases {
            assert_eq!(time(text, second), Ok(ns), "{text}");
        }
        assert!(time("200000d", second).is_err() && time("3x", second).is_err());
        assert_eq!(percent("12.5"), Ok(125_000));
        assert!(percent("100.0001").is_err() && percent("-1").is_err() && percent(".").is_err());
        assert_eq!(extent("50%", Units::default()).unwrap().bytes_of(1001), 500);
    }

    #[test]
    fn blanks_share_the_rest_exactly() {
        let (filled, _) = fill_blanks(&[Some(100_000), None, None, None]).unwrap();
        assert_eq!(filled.iter().sum::<u64>(), MILLION);
        assert_eq!(filled[1..], [300_000, 300_000, 300_000]);
        assert!(fill_blanks(&[Some(600_000), Some(600_000)]).is_err());
    }
}
