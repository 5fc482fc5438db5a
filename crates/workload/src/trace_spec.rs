//! A trace as described by the user: its file, and how it is read and laid on a drive.

use crate::error::WorkloadError;
use crate::replay::{TraceReplay, WarmUp};
use crate::trace::{Remap, Touched, TraceFile, TraceInfo, TraceOptions, TraceReader, TraceSource, measure};
use tailcut_units::Span;
use tailcut_units::quantity::human_time;

/// A trace file up to this size in bytes (compressed or not) is read once before the run, to
/// measure it.
const MEASURED_MAX: u64 = 256 << 20;

/// A trace file and how it is replayed.
#[derive(Clone, Debug)]
pub struct TraceSpec {
    /// The file.
    pub file: TraceFile,
    /// How the trace is read and laid on the drive.
    pub options: TraceOptions,
    /// Requests kept outstanding, if the timestamps are ignored.
    pub depth: Option<u32>,
    /// The measures of the trace, unless the file is too large to be read twice.
    pub info: Option<TraceInfo>,
    /// Requests that arrive before this time of the run are not measured.
    pub warm_up: Span,
    touched: Option<Touched>,
}

impl TraceSpec {
    pub(crate) fn new(file: TraceFile, replay: &TraceReplay) -> Result<TraceSpec, WorkloadError> {
        let depth = replay.depth;
        let options = TraceOptions { closed_loop: depth.is_some(), ..replay.options.clone() };
        options.check()?;
        let size = file.size().map_err(|source| WorkloadError::File { path: file.name(), source })?;
        // A dense remap needs all pages of the trace before the first page is replayed.
        let (info, touched) = if size <= MEASURED_MAX || options.remap == Remap::Dense {
            let (info, pages) = measure(TraceReader::open(&file, &options)?)?;
            (Some(info), Some(Touched::new(pages, &options)?))
        } else {
            (None, None)
        };
        let warm_up = warm_up(replay, &options, info.as_ref())?;
        Ok(TraceSpec { file, options, depth, info, warm_up, touched })
    }

    /// The bytes of the drive that one lap touches on the first `filled` bytes; `None` if the trace
    /// was not measured before the run.
    ///
    /// # Errors
    /// As [`WorkloadSpec::open`].
    pub fn drive_footprint(&self, filled: u64) -> Result<Option<u64>, WorkloadError> {
        let Some(touched) = &self.touched else { return Ok(None) };
        Ok(self.source(1, filled, 1)?.drive_footprint(&touched.pages))
    }

    /// Open the trace on a drive's first `filled` bytes.
    pub(crate) fn source(&self, laps: u32, filled: u64, seed: u64) -> Result<TraceSource, WorkloadError> {
        if filled < 4096 {
            return Err(WorkloadError::NoRoom { bytes: filled });
        }
        let options = TraceOptions { loop_count: laps, seed, ..self.options.clone() };
        let source = TraceSource::open(self.file.clone(), &options, filled)?;
        Ok(match self.touched.as_ref().and_then(|t| t.dense.clone()) {
            Some(dense) => source.numbered(dense, filled)?,
            None => source,
        })
    }
}

/// When measurement begins, as a time of the run.
fn warm_up(
    replay: &TraceReplay,
    options: &TraceOptions,
    info: Option<&TraceInfo>,
) -> Result<Span, WorkloadError> {
    let (option, length) = match replay.warm_up {
        WarmUp::None => return Ok(Span::ZERO),
        WarmUp::For(length) => ("--warm-up", length),
        WarmUp::Until(_) if options.closed_loop => return Err(WorkloadError::MeasureFrom),
        WarmUp::Until(time) => {
            let ns = time.0.saturating_sub(options.start_ns) as f64 / options.rate_scale;
            ("--measure-from", Span(ns.min((1u64 << 61) as f64) as u64))
        }
    };
    let last = info.filter(|_| !options.closed_loop && options.loop_count == 1).map(|i| i.last_ns);
    match last {
        Some(last) if last < length.0 => Err(WorkloadError::WarmUp { option, last: human_time(Span(last)) }),
        _ => Ok(length),
    }
}
