//! The decoding time of a codeword.
//!
//! The time is a number of ticks, which fits a byte. It is the number of iterations, or it follows from the errors of
//! the codeword by a table (`errors.decode_times`).

use super::config::ErrorsConfig;
use tailcut_ldpc::{CODEWORD_BITS, Table};

/// Largest number of ticks of a codeword. (255 has another meaning in `flash::senses`.)
const MOST_TICKS: u64 = 254;

/// The time of a codeword in the decoder.
#[derive(Clone, Debug)]
pub struct DecodeTimes {
    /// A tick, ns.
    tick_ns: u64,
    /// By number of errors: the ticks of a decoded codeword. If empty, the ticks are the iterations.
    by_errors: Vec<u8>,
    /// The ticks of a codeword that is not decoded.
    failed: u8,
}

impl DecodeTimes {
    /// The times of a checked configuration, for the decoder of this table and pages of `codewords` codewords.
    pub fn new(c: &ErrorsConfig, table: &Table, codewords: u64) -> DecodeTimes {
        let share = c.decode_unit.codewords(codewords);
        let Some(longest) = c.decode_times.iter().map(|time| time.0).max() else {
            return DecodeTimes {
                tick_ns: c.iteration.0 / share,
                by_errors: Vec::new(),
                failed: table.iterations,
            };
        };
        let tick_ns = longest.div_ceil(share).div_ceil(MOST_TICKS).max(1);
        let ticks = |ns: f64| libm::round(ns / share as f64 / tick_ns as f64) as u8;
        let limit = libm::round(table.limit() * CODEWORD_BITS as f64) as usize;
        let at = |errors: usize| {
            let place = errors as f64 / limit as f64 * (c.decode_times.len() - 1) as f64;
            let before = (place as usize).min(c.decode_times.len() - 1);
            let after = (before + 1).min(c.decode_times.len() - 1);
            let [low, high] = [before, after].map(|i| c.decode_times[i].0 as f64);
            low + (high - low) * (place - before as f64)
        };
        let last = c.decode_times[c.decode_times.len() - 1];
        DecodeTimes {
            tick_ns,
            by_errors: (0..=limit).map(|e| ticks(at(e))).collect(),
            failed: ticks(last.0 as f64),
        }
    }

    /// A tick, ns.
    #[inline]
    pub fn tick_ns(&self) -> u64 {
        self.tick_ns
    }

    /// The ticks of a codeword that is not decoded.
    #[inline]
    pub fn failed(&self) -> u8 {
        self.failed
    }

    /// The ticks of a codeword with `errors` errors: whether it was decoded, and in how many iterations.
    #[inline]
    pub fn ticks(&self, errors: u32, (decoded, iterations): (bool, u8)) -> u8 {
        match self.by_errors.last() {
            None => iterations,
            Some(_) if !decoded => self.failed,
            Some(&last) => self.by_errors.get(errors as usize).copied().unwrap_or(last),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::config::DecodeUnit;
    use super::*;
    use tailcut_units::Span;

    fn times(us: &[u64], unit: DecodeUnit) -> DecodeTimes {
        let decode_times = us.iter().map(|us| Span(us * 1000)).collect();
        let c =
            ErrorsConfig { decode_times, decode_unit: unit, iteration: Span(1000), ..ErrorsConfig::alike() };
        DecodeTimes::new(&c, &Table::shipped(), 4)
    }

    #[test]
    fn iterations_are_ticks_without_a_table() {
        for (unit, tick) in [(DecodeUnit::Codeword, 1000), (DecodeUnit::Page, 250)] {
            let t = times(&[], unit);
            assert_eq!((t.tick_ns(), t.failed()), (tick, Table::shipped().iterations));
            assert_eq!((t.ticks(100, (true, 7)), t.ticks(400, (false, 20))), (7, 20));
        }
    }

    #[test]
    fn a_table_is_straight_between_its_times() {
        let limit = Table::shipped().limit() * CODEWORD_BITS as f64;
        for (unit, share) in [(DecodeUnit::Codeword, 1.0), (DecodeUnit::Page, 4.0)] {
            let t = times(&[1, 3, 20], unit);
            let ns = |errors: f64| t.tick_ns() as f64 * f64::from(t.ticks(errors as u32, (true, 9)));
            for (part, us) in [(0.0, 1.0), (0.25, 2.0), (0.5, 3.0), (0.75, 11.5), (1.0, 20.0), (1.2, 20.0)] {
                let found = ns(part * limit) * share / 1000.0;
                assert!((found - us).abs() < 0.2, "{part} of the limit: {found} us instead of {us}");
            }
            let failed = t.tick_ns() as f64 * f64::from(t.failed()) * share / 1000.0;
            assert!((failed - 20.0).abs() < 0.2 && t.ticks(10, (false, 20)) == t.failed(), "{failed}");
        }
    }
}
