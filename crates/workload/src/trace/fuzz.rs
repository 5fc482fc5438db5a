//! Any bytes through everything that reads them: the entry for fuzzers and generators.

use super::error::TraceError;
use super::options::TraceOptions;
use super::source::TraceSource;
use super::stream::Input;
use std::io::Cursor;

/// Issues drawn at most: a small input may stand for very many.
const ISSUES_MAX: u64 = 200_000;
/// Bytes of the drive the trace is laid on; small, so that folding is exercised.
const CAPACITY: u64 = 64 << 20;

/// What came of the bytes.
#[derive(Debug)]
pub struct FuzzOutcome {
    /// The format chosen, if it came that far.
    pub format: Option<&'static str>,
    /// Issues drawn, at most 200,000.
    pub issues: u64,
    /// How it ended.
    pub result: Result<(), TraceError>,
}

/// Read `bytes` as a trace (in `format`, or by content), lay it on a 64 MiB drive and play
/// two laps. Panics only if the reader has a fault: an issue outside the drive or arrivals
/// out of order.
pub fn fuzz_reader(format: Option<&str>, bytes: &[u8]) -> FuzzOutcome {
    let options = TraceOptions { format: format.map(Into::into), loop_count: 2, ..TraceOptions::default() };
    let bytes: std::sync::Arc<[u8]> = bytes.into();
    let opener = move || Ok(Box::new(Cursor::new(bytes.clone())) as Input);
    let mut source = match TraceSource::from_opener("fuzz", Box::new(opener), &options, CAPACITY) {
        Ok(source) => source,
        Err(error) => {
            return FuzzOutcome { format: None, issues: 0, result: Err(error) };
        }
    };
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
