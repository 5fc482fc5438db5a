//! Runs any bytes through all readers: the entry point of fuzzers and generators.

use super::error::TraceError;
use super::info::measure;
use super::options::{Remap, TraceOptions};
use super::reader::TraceReader;
use super::source::TraceSource;
use super::stream::Input;
use super::touched::Touched;
use std::io::Cursor;
use std::sync::Arc;

/// The most issues pulled: a small input may describe very many.
const ISSUES_MAX: u64 = 200_000;
/// Capacity in bytes of the drive on which the trace is laid; small, so that folding
/// occurs.
const CAPACITY: u64 = 64 << 20;

/// The result of reading the bytes.
#[derive(Debug)]
pub struct FuzzOutcome {
    /// The format chosen, if reading got that far.
    pub format: Option<&'static str>,
    /// Issues pulled, at most 200,000.
    pub issues: u64,
    /// How reading ended.
    pub result: Result<(), TraceError>,
}

/// Read `bytes` as a trace (in `format`, or detected by content), lay it on a 64 MiB drive
/// and play two laps, twice: first with a dense remap and long gaps cut, then unchanged.
/// The outcome is that of the second replay. Panics only if the reader has a fault: an
/// issue outside the drive or arrivals out of order.
pub fn fuzz_reader(format: Option<&str>, bytes: &[u8]) -> FuzzOutcome {
    let options = TraceOptions { format: format.map(Into::into), loop_count: 2, ..TraceOptions::default() };
    let bytes: Arc<[u8]> = bytes.into();
    let dense = TraceOptions {
        remap: Remap::Dense,
        skip_gaps_ns: Some(1_000_000),
        spread_ns: Some(777),
        ..options.clone()
    };
    if let Ok(source) = numbered(&bytes, &dense) {
        play(source);
    }
    match source(&bytes, &options) {
        Ok(source) => play(source),
        Err(error) => FuzzOutcome { format: None, issues: 0, result: Err(error) },
    }
}

fn source(bytes: &Arc<[u8]>, options: &TraceOptions) -> Result<TraceSource, TraceError> {
    let bytes = Arc::clone(bytes);
    let opener = move || Ok(Box::new(Cursor::new(bytes.clone())) as Input);
    TraceSource::from_opener("fuzz", Box::new(opener), options, CAPACITY)
}

fn numbered(bytes: &Arc<[u8]>, options: &TraceOptions) -> Result<TraceSource, TraceError> {
    let reader = TraceReader::new("fuzz", Box::new(Cursor::new(Arc::clone(bytes))), options)?;
    let touched = Touched::new(measure(reader)?.1, options)?;
    let source = source(bytes, options)?;
    assert!(source.drive_footprint(&touched.pages).is_none_or(|bytes| bytes <= CAPACITY));
    match touched.dense {
        Some(dense) => source.numbered(dense, CAPACITY),
        None => Ok(source),
    }
}

fn play(mut source: TraceSource) -> FuzzOutcome {
    let format = Some(source.format().name);
    let mut last = 0;
    let mut issues = 0;
    while issues < ISSUES_MAX {
        match source.next_issue() {
            Ok(Some(issue)) => {
                let command = issue.command;
                assert!(
                    command.offset + u64::from(command.bytes) <= CAPACITY,
                    "{command:?} outside the drive"
                );
                assert!(issue.earliest.0 >= last, "arrivals out of order");
                last = issue.earliest.0;
                issues += 1;
            }
            Ok(None) => break,
            Err(error) => {
                return FuzzOutcome { format, issues, result: Err(error) };
            }
        }
    }
    FuzzOutcome { format, issues, result: Ok(()) }
}
