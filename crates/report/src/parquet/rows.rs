//! Any table as Parquet: all columns may have nulls.

use super::columns::{ByteArray, Columns, Kind};
use crate::error::ReportError;
use crate::rows::{Cell, RowKind};
use std::io::Write;

/// Writes the rows of a table.
pub struct RowsWriter<W: Write + Send> {
    columns: Columns<W>,
}

impl<W: Write + Send> RowsWriter<W> {
    /// Creates a file with these columns.
    pub fn new(out: W, columns: &[(String, RowKind)]) -> Result<RowsWriter<W>, ReportError> {
        let kind = |kind: &RowKind| match kind {
            RowKind::Number => Kind::Number,
            RowKind::Float => Kind::Float,
            RowKind::Text => Kind::Text,
        };
        let columns: Vec<_> = columns.iter().map(|(name, k)| (name.clone(), kind(k), true)).collect();
        Ok(RowsWriter { columns: Columns::new(out, &columns, &[])? })
    }

    /// Adds a row.
    ///
    /// # Panics
    /// If a cell is not of its column's kind, or cells are missing.
    pub fn push(&mut self, row: &[Cell]) -> Result<(), ReportError> {
        let c = &mut self.columns;
        for cell in row {
            match cell {
                Cell::Empty => c.null(),
                Cell::Number(n) => c.number(*n),
                Cell::Float(x) => c.float(*x),
                Cell::Text(text) => c.text(&ByteArray::from(text.as_str())),
            }
        }
        Ok(c.end_row()?)
    }

    /// Writes the remaining rows and the footer, and returns the output.
    pub fn finish(self) -> Result<W, ReportError> {
        Ok(self.columns.finish()?)
    }
}
