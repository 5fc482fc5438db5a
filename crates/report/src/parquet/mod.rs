//! Parquet files: every request with its ledger, and the fine series.

mod columns;
mod requests;
mod series;

pub use requests::RequestsWriter;
pub use series::SeriesWriter;
