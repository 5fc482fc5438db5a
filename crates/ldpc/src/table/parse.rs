//! Reads a table from text. Any text gives a table or an error.

use super::text::{COLUMNS, VERSION};
use super::{Row, Table, Weights};
use crate::decoder::{Factor, Schedule};
use crate::{CHECKS, CODEWORD_BITS};
use std::str::FromStr;

/// Largest text of a table, in bytes.
pub const LARGEST_TEXT: usize = 1 << 20;
/// Largest number of rows.
const MOST_ROWS: usize = 4096;
/// Largest number of frames of a row.
const MOST_FRAMES: u32 = 1_000_000_000;

/// Why a text is no table.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TableError {
    /// The text is too long.
    #[error("the table has {0} bytes; the largest has {LARGEST_TEXT}")]
    TooLong(usize),
    /// A line is not as it must be.
    #[error("line {line}: {found}: expected {allowed}")]
    Line {
        /// Number of the line, from 1 on.
        line: usize,
        /// What stands there.
        found: String,
        /// What may stand there.
        allowed: String,
    },
}

/// The lines of a text, counted.
struct Lines<'a> {
    lines: std::str::Split<'a, char>,
    number: usize,
}

impl<'a> Lines<'a> {
    fn next(&mut self, allowed: &str) -> Result<&'a str, TableError> {
        self.number += 1;
        self.lines.next().ok_or_else(|| self.error("the end of the text", allowed))
    }

    fn error(&self, found: &str, allowed: &str) -> TableError {
        // A long line is cut.
        let cut: String = found.chars().take(60).collect();
        TableError::Line { line: self.number, found: cut, allowed: allowed.to_string() }
    }

    fn quoted(&self, found: &str, allowed: &str) -> TableError {
        let cut: String = found.chars().take(40).collect();
        self.error(&format!("`{cut}`"), allowed)
    }

    /// A line that must be exactly this.
    fn exactly(&mut self, text: &str) -> Result<(), TableError> {
        let allowed = format!("`{text}`");
        let line = self.next(&allowed)?;
        if line == text { Ok(()) } else { Err(self.quoted(line, &allowed)) }
    }

    /// The value of a line with a key.
    fn value<T>(
        &mut self,
        key: &str,
        what: &str,
        parse: impl Fn(&str) -> Option<T>,
    ) -> Result<T, TableError> {
        let allowed = format!("`{key}` and {what}");
        let line = self.next(&allowed)?;
        let value = line.strip_prefix(key).and_then(|rest| rest.strip_prefix(' ')).and_then(parse);
        value.ok_or_else(|| self.quoted(line, &allowed))
    }
}

/// An integer from `low` to `high` in its shortest form.
fn integer<T: FromStr + PartialOrd>(text: &str, low: T, high: T) -> Option<T> {
    let plain = text.bytes().all(|b| b.is_ascii_digit()) && (text == "0" || !text.starts_with('0'));
    let value = text.parse().ok().filter(|_| plain)?;
    (low <= value && value <= high).then_some(value)
}

/// A number of checks with two decimals, in hundredths.
fn checks(text: &str) -> Option<u32> {
    let (whole, decimals) = text.split_once('.')?;
    let digits = decimals.len() == 2 && decimals.bytes().all(|b| b.is_ascii_digit());
    let hundredths =
        integer(whole, 0, CHECKS as u32)? * 100 + decimals.parse::<u32>().ok().filter(|_| digits)?;
    (hundredths <= CHECKS as u32 * 100).then_some(hundredths)
}

impl FromStr for Table {
    type Err = TableError;

    fn from_str(text: &str) -> Result<Table, TableError> {
        if text.len() > LARGEST_TEXT {
            return Err(TableError::TooLong(text.len()));
        }
        let mut lines = Lines { lines: text.split('\n'), number: 0 };
        lines.exactly(VERSION)?;
        let seed = |text: &str| integer(text, 0, u64::MAX);
        let code_seed = lines.value("code qc-4x36x1024", "a seed from 0 to 2^64 - 1", seed)?;
        let seed = lines.value("seed", "a number from 0 to 2^64 - 1", seed)?;
        let schedule = lines.value("schedule", "`flooding` or `layered`", |text| {
            [Schedule::Flooding, Schedule::Layered].into_iter().find(|schedule| schedule.name() == text)
        })?;
        let factor = lines.value("factor", "0.001 to 1.000 with three decimals", |text| {
            text.parse::<Factor>().ok().filter(|factor| factor.to_string() == text)
        })?;
        let iterations = lines.value("iterations", "1 to 255", |text| integer(text, 1u8, 255))?;
        let rows = lines.value("rows", "2 to 4096", |text| integer(text, 2, MOST_ROWS))?;
        lines.exactly(COLUMNS)?;
        let mut table = Table { code_seed, seed, schedule, factor, iterations, rows: Vec::new() };
        for _ in 0..rows {
            let row = row(&mut lines, iterations, table.rows.last())?;
            table.rows.push(row);
        }
        let rest = lines.next("a line break")?;
        if !rest.is_empty() {
            return Err(lines.quoted(rest, &format!("the end of the text after {rows} rows")));
        }
        match lines.next("") {
            Ok(_) => Err(lines.error("a further line", "the end of the text")),
            Err(_) => Ok(table),
        }
    }
}

/// One row, which must have more errors than the one before.
fn row(lines: &mut Lines<'_>, iterations: u8, before: Option<&Row>) -> Result<Row, TableError> {
    let line = lines.next("a row")?;
    let fields: Vec<&str> = line.split(' ').collect();
    let expected = 8 + usize::from(iterations);
    if fields.len() != expected {
        return Err(lines.error(&format!("{} fields", fields.len()), &format!("{expected} fields")));
    }
    let number = |at: usize, low: u32, high: u32, what: &str| {
        integer(fields[at], low, high)
            .ok_or_else(|| lines.quoted(fields[at], &format!("{what} from {low} to {high}")))
    };
    let (least, most) = match before {
        Some(before) => (before.errors + 1, CODEWORD_BITS as u32),
        None => (0, 0),
    };
    let errors = number(0, least, most, "errors")?;
    let frames = number(1, 1, MOST_FRAMES, "frames")?;
    let failed = number(2, 0, frames, "failed frames")?;
    let weight = |at: usize| {
        checks(fields[at]).ok_or_else(|| lines.quoted(fields[at], "0.00 to 4096.00 checks with two decimals"))
    };
    let all = Weights { mean: weight(3)?, deviation: weight(4)? };
    let first = Weights { mean: weight(5)?, deviation: weight(6)? };
    let decoded_in =
        (7..expected).map(|at| number(at, 0, frames, "frames")).collect::<Result<Vec<u32>, _>>()?;
    let sum = decoded_in.iter().map(|&count| u64::from(count)).sum::<u64>() + u64::from(failed);
    if sum != u64::from(frames) {
        return Err(lines.error(
            &format!("{sum} frames failed or decoded"),
            &format!("{frames} frames, as in the second column"),
        ));
    }
    Ok(Row { errors, frames, failed, all, first, decoded_in })
}
