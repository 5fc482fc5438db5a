//! Parquet files: every request with its ledger, and the fine series.

#[cfg(not(feature = "parquet"))]
#[path = "absent.rs"]
mod columns;
#[cfg(feature = "parquet")]
mod columns;
mod requests;
mod rows;
mod series;

use crate::error::ReportError;

pub use requests::RequestsWriter;
pub use rows::RowsWriter;
pub use series::SeriesWriter;

/// Returns an error if the crate was built without Parquet, as in a quick build.
pub fn available() -> Result<(), ReportError> {
    if cfg!(feature = "parquet") { Ok(()) } else { Err(ReportError::NoParquet) }
}
