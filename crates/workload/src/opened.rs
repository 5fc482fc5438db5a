//! An opened workload: the requests that the driver pulls, and the writes that age the
//! drive first.

use crate::job::{OpenJobs, OverwriteStream};
use crate::log::{LogError, LogReader};
use crate::overwrite::TraceWrites;
use crate::source::{Issue, JobInfo, Source};
use crate::trace::{TraceCounts, TraceError, TraceSource};
use std::ops::Range;
use tailcut_units::{SimTime, Span};

/// The name of the only job of a trace.
pub const TRACE_JOB: &str = "trace";
/// The name of the only job of a log.
pub const LOG_JOB: &str = "served";

/// Overwrites that bring a drive to the workload's own steady state.
pub enum Ageing {
    /// Uniform over a region, `bytes` at a time; also used for a workload without writes.
    Uniform {
        /// The range of the drive, in bytes.
        region: Range<u64>,
        /// The block size, in bytes.
        bytes: u32,
    },
    /// The jobs' own writes.
    Jobs(Box<OverwriteStream>),
    /// The trace's writes, repeated without an end.
    Trace(Box<TraceWrites>),
}

/// A trace opened on a drive.
pub struct OpenTrace {
    pub(crate) source: TraceSource,
    pub(crate) depth: Option<u32>,
    pub(crate) warm_up: Span,
    pub(crate) filled: u64,
}

/// A workload opened on a drive: the source from which the driver pulls requests.
pub enum Workload {
    /// A generated workload.
    Jobs(OpenJobs),
    /// A recorded workload; boxed, since its reader's state is large.
    Trace(Box<OpenTrace>),
    /// The commands of a drive that was served.
    Log(Box<OpenLog>),
}

/// A log opened.
pub struct OpenLog {
    pub(crate) reader: LogReader,
    pub(crate) commands: u64,
    pub(crate) filled: u64,
    pub(crate) writes: bool,
    pub(crate) from: SimTime,
}

/// The error that ends a recorded workload early.
#[derive(Debug, thiserror::Error)]
pub enum StreamError {
    /// A record of a trace.
    #[error(transparent)]
    Trace(#[from] TraceError),
    /// A record of a log.
    #[error(transparent)]
    Log(#[from] LogError),
}

impl Source for Workload {
    // Boxed, because one result is moved per request.
    type Error = Box<StreamError>;

    fn jobs(&self) -> Vec<JobInfo> {
        match self {
            Workload::Jobs(jobs) => jobs.jobs(),
            Workload::Trace(trace) => vec![recorded(TRACE_JOB, trace.depth, trace.warm_up)],
            Workload::Log(log) => vec![recorded(LOG_JOB, None, log.from - SimTime::ZERO)],
        }
    }

    #[inline]
    fn next(&mut self, job: usize) -> Result<Option<Issue>, Box<StreamError>> {
        match self {
            Workload::Jobs(jobs) => Ok(jobs.next(job)),
            Workload::Trace(trace) => trace.source.next_issue().map_err(|e| Box::new(e.into())),
            Workload::Log(log) => {
                let logged = log.reader.next().map_err(|e| Box::new(e.into()))?;
                Ok(logged.map(|l| Issue { earliest: l.wanted, think: Span::ZERO, command: l.command }))
            }
        }
    }
}

/// The only job of a recorded workload: requests arrive at their times, or `depth` are kept outstanding.
fn recorded(name: &str, depth: Option<u32>, ramp: Span) -> JobInfo {
    JobInfo {
        name: name.to_string(),
        depth: depth.unwrap_or(u32::MAX),
        open_loop: depth.is_none(),
        runtime: None,
        ramp,
        group: 0,
        row: 0,
        asked: [None; 3],
        start: Span::ZERO,
    }
}

impl Workload {
    /// The range of bytes of the drive that the workload can touch.
    pub fn region(&self) -> Range<u64> {
        match self {
            Workload::Jobs(jobs) => jobs.region(),
            Workload::Trace(trace) => 0..trace.filled,
            Workload::Log(log) => 0..log.filled,
        }
    }

    /// How many requests the jobs will make, if known; `None` for a trace.
    pub fn expected_requests(&self) -> Option<u64> {
        match self {
            Workload::Jobs(jobs) => jobs.expected_requests(),
            Workload::Trace(_) => None,
            Workload::Log(log) => Some(log.commands),
        }
    }

    /// Whether the workload can write or trim; always true for a trace.
    pub fn writes(&self) -> bool {
        match self {
            Workload::Jobs(jobs) => jobs.changes_data(),
            Workload::Trace(_) => true,
            Workload::Log(log) => log.writes,
        }
    }

    /// Problems found while opening that do not stop the run.
    pub fn warnings(&self) -> Vec<String> {
        match self {
            Workload::Jobs(jobs) => jobs.warnings().iter().map(ToString::to_string).collect(),
            Workload::Trace(_) | Workload::Log(_) => Vec::new(),
        }
    }

    /// The records of a trace read, skipped and changed so far; `None` for jobs.
    pub fn trace_counts(&self) -> Option<TraceCounts> {
        match self {
            Workload::Jobs(_) | Workload::Log(_) => None,
            Workload::Trace(trace) => Some(trace.source.counts()),
        }
    }
}
