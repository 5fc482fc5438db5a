//! Writes a table as text.

use super::{Row, Table, Weights};
use crate::decoder::Schedule;
use std::fmt::{Display, Formatter, Result};

/// The first line: format and version.
pub const VERSION: &str = "tailcut-ldpc-table 1";
/// The line before the rows.
pub const COLUMNS: &str =
    "errors frames failed all-mean all-deviation first-mean first-deviation decoded-in-0 and-so-on";

impl Schedule {
    /// The name in files and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Schedule::Flooding => "flooding",
            Schedule::Layered => "layered",
        }
    }
}

/// The only form that the reader accepts: integers and fixed decimals, one blank between them.
impl Display for Table {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        writeln!(f, "{VERSION}")?;
        writeln!(f, "code qc-4x36x1024 {}", self.code_seed)?;
        writeln!(f, "seed {}", self.seed)?;
        writeln!(f, "schedule {}", self.schedule.name())?;
        writeln!(f, "factor {}", self.factor)?;
        writeln!(f, "iterations {}", self.iterations)?;
        writeln!(f, "rows {}", self.rows.len())?;
        writeln!(f, "{COLUMNS}")?;
        self.rows.iter().try_for_each(|row| writeln!(f, "{row}"))
    }
}

impl Display for Row {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        write!(f, "{} {} {} {} {}", self.errors, self.frames, self.failed, self.all, self.first)?;
        self.decoded_in.iter().try_for_each(|count| write!(f, " {count}"))
    }
}

impl Display for Weights {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        let (mean, deviation) = (self.mean, self.deviation);
        write!(f, "{}.{:02} {}.{:02}", mean / 100, mean % 100, deviation / 100, deviation % 100)
    }
}
