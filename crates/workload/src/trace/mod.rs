//! Block traces: reads many formats and gives one stream of requests.
//!
//! [`TraceReader`] turns a file into [`Record`]s: it decompresses the file, recognises its
//! format by content, sorts the records within a given window, filters and scales them.
//! [`TraceSource`] lays the records on a drive of a given capacity and repeats them; a
//! simulator pulls its issues. [`info`] measures a trace, [`convert`] writes the compact
//! form, and [`fuzz_reader`] runs any bytes through all of this.
//!
//! The readers hold a 256 KiB buffer, the sort window and (in a source) the first 65,536
//! requests, for a trace of any length. Nothing is dropped without being counted in
//! [`TraceCounts`].

mod burst;
mod clock;
mod convert;
mod decode;
mod dense;
mod detect;
mod error;
mod fields;
mod file;
mod footprint;
mod formats;
mod fuzz;
mod gaps;
mod gzip;
mod info;
mod layout;
mod names;
mod options;
mod reader;
mod record;
mod sort;
mod source;
mod spool;
mod spread;
mod stream;
#[cfg(test)]
mod tests;
mod touched;
mod unit;

pub use convert::{Converted, convert};
pub use detect::format_by_name;
pub use error::{Place, Reason, TraceError};
pub use file::TraceFile;
pub use formats::Format;
pub use formats::columns::{Columns, Delimiter};
pub use formats::compact::{CompactHeader, write_compact};
pub use formats::list::FORMATS;
pub use fuzz::{FuzzOutcome, fuzz_reader};
pub(crate) use info::measure;
pub use info::{SizeBucket, TraceInfo, info, info_of};
pub use options::{DeviceRule, Remap, TimeUnit, TraceOptions};
pub use reader::TraceReader;
pub use record::{ADDRESS_MAX, Record, TIME_MAX, TraceCounts};
pub use source::TraceSource;
pub use stream::{Input, LINE_MAX};
pub(crate) use touched::Touched;
