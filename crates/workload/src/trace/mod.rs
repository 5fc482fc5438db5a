//! Block traces: many formats in, one stream of requests out.
//!
//! [`TraceReader`] turns a file into [`Record`]s: decompressed, recognised by content,
//! sorted in a stated window, filtered, scaled. [`TraceSource`] lays those on a drive of a
//! given capacity and repeats them: the issues a simulator pulls. [`info`] measures a
//! trace, [`convert`] writes the compact form, [`fuzz_reader`] feeds any bytes through.
//!
//! The readers hold a 256 KiB buffer, the sort window and (in a source) the first 65,536
//! requests, whatever the trace's length. Nothing is dropped without being counted in
//! [`TraceCounts`].

mod burst;
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
mod stream;
#[cfg(test)]
mod tests;
mod touched;

pub use convert::{Converted, convert};
pub use detect::format_by_name;
pub use error::{Place, Reason, TraceError};
pub use file::TraceFile;
pub use formats::Format;
pub use formats::compact::CompactHeader;
pub use fuzz::{FuzzOutcome, fuzz_reader};
pub(crate) use info::measure;
pub use info::{SizeBucket, TraceInfo, info, info_of};
pub use options::{DeviceRule, Remap, TimeUnit, TraceOptions};
pub use reader::TraceReader;
pub use record::{ADDRESS_MAX, Record, TIME_MAX, TraceCounts};
pub use source::TraceSource;
pub use stream::{Input, LINE_MAX};
pub(crate) use touched::Touched;

/// Every format: the list that detection, `--format` and the documentation use. Where two
/// claim the same lines, the earlier, which is the more specific, wins.
pub static FORMATS: &[&Format] = &[
    &formats::compact::FORMAT,
    &formats::iolog::FORMAT,
    &formats::blkparse::FORMAT,
    &formats::msr::FORMAT,
    &formats::systor::FORMAT,
    &formats::alicloud::FORMAT,
    &formats::spc::FORMAT,
    &formats::tencent::FORMAT,
    &formats::fiu::FORMAT,
    &formats::heimdall::FORMAT,
    &formats::disksim::FORMAT,
    &formats::ssdsim::FORMAT,
    &formats::vscsi::FORMAT,
    &formats::oracle::FORMAT,
];
