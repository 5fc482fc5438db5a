//! A table for other programs: CSV and Parquet with the same columns.

use crate::error::ReportError;
use crate::parquet::RowsWriter;
use std::io::Write;

/// The kind of a column. Every column may have empty cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowKind {
    /// u64.
    Number,
    /// f64.
    Float,
    /// Text.
    Text,
}

/// A cell. Its kind is that of its column.
#[derive(Clone, Debug, PartialEq)]
pub enum Cell {
    /// Nothing.
    Empty,
    /// A whole number.
    Number(u64),
    /// A number.
    Float(f64),
    /// A text.
    Text(String),
}

impl Cell {
    /// A number, or nothing.
    pub fn float(value: Option<f64>) -> Cell {
        value.map_or(Cell::Empty, Cell::Float)
    }

    /// A whole number, or nothing.
    pub fn number(value: Option<u64>) -> Cell {
        value.map_or(Cell::Empty, Cell::Number)
    }

    fn csv(&self) -> String {
        match self {
            Cell::Empty => String::new(),
            Cell::Number(n) => n.to_string(),
            Cell::Float(x) => x.to_string(),
            Cell::Text(text) => quoted(text),
        }
    }
}

/// A table.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Rows {
    /// The names and kinds of the columns.
    pub columns: Vec<(String, RowKind)>,
    /// The rows, each with a cell for each column.
    pub rows: Vec<Vec<Cell>>,
}

impl Rows {
    /// The table as CSV (RFC 4180, with line feeds), with a line of names.
    pub fn csv(&self) -> String {
        let line = |cells: Vec<String>| cells.join(",") + "\n";
        let names = line(self.columns.iter().map(|(name, _)| quoted(name)).collect());
        let rows = self.rows.iter().map(|row| line(row.iter().map(Cell::csv).collect()));
        [names].into_iter().chain(rows).collect()
    }

    /// Writes the table as Parquet.
    ///
    /// # Errors
    /// The program was built without Parquet, or the output cannot be written.
    pub fn parquet<W: Write + Send>(&self, out: W) -> Result<W, ReportError> {
        let mut writer = RowsWriter::new(out, &self.columns)?;
        for row in &self.rows {
            writer.push(row)?;
        }
        writer.finish()
    }
}

/// A cell of CSV: in quotes if it must be.
fn quoted(text: &str) -> String {
    if text.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_quoted_where_they_must_be() {
        let rows = Rows {
            columns: vec![
                ("a, b".into(), RowKind::Text),
                ("n".into(), RowKind::Number),
                ("x".into(), RowKind::Float),
            ],
            rows: vec![
                vec![Cell::Text("say \"no\"".into()), Cell::Number(3), Cell::Float(0.5)],
                vec![Cell::Text("plain".into()), Cell::Empty, Cell::Empty],
            ],
        };
        assert_eq!(rows.csv(), "\"a, b\",n,x\n\"say \"\"no\"\"\",3,0.5\nplain,,\n");
    }
}
