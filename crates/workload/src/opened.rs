//! An opened workload: the requests that the driver pulls, and the writes that age the
//! drive first.

use crate::job::{OpenJobs, OverwriteStream};
use crate::overwrite::TraceWrites;
use crate::trace::{TraceCounts, TraceError, TraceSource};
use crate::{Issue, JobInfo, Source};
use std::ops::Range;
use tailcut_units::Span;

/// The name of the only job of a trace.
pub const TRACE_JOB: &str = "trace";

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
}

impl Source for Workload {
    // Boxed, because one result is moved per request.
    type Error = Box<TraceError>;

    fn jobs(&self) -> Vec<JobInfo> {
        match self {
            Workload::Jobs(jobs) => jobs.jobs(),
            Workload::Trace(trace) => vec![JobInfo {
                name: TRACE_JOB.to_string(),
                depth: trace.depth.unwrap_or(u32::MAX),
                open_loop: trace.depth.is_none(),
                runtime: None,
                ramp: trace.warm_up,
                group: 0,
                row: 0,
                asked: [None; 3],
                start: Span::ZERO,
            }],
        }
    }

    #[inline]
    fn next(&mut self, job: usize) -> Result<Option<Issue>, Box<TraceError>> {
        match self {
            Workload::Jobs(jobs) => Ok(jobs.next(job)),
            Workload::Trace(trace) => trace.source.next_issue().map_err(Box::new),
        }
    }
}

impl Workload {
    /// The range of bytes of the drive that the workload can touch.
    pub fn region(&self) -> Range<u64> {
        match self {
            Workload::Jobs(jobs) => jobs.region(),
            Workload::Trace(trace) => 0..trace.filled,
        }
    }

    /// How many requests the jobs will make, if known; `None` for a trace.
    pub fn expected_requests(&self) -> Option<u64> {
        match self {
            Workload::Jobs(jobs) => jobs.expected_requests(),
            Workload::Trace(_) => None,
        }
    }

    /// Whether the workload can write or trim; always true for a trace.
    pub fn writes(&self) -> bool {
        match self {
            Workload::Jobs(jobs) => jobs.changes_data(),
            Workload::Trace(_) => true,
        }
    }

    /// Problems found while opening that do not stop the run.
    pub fn warnings(&self) -> Vec<String> {
        match self {
            Workload::Jobs(jobs) => jobs.warnings().iter().map(ToString::to_string).collect(),
            Workload::Trace(_) => Vec::new(),
        }
    }

    /// The records of a trace read, skipped and changed so far; `None` for jobs.
    pub fn trace_counts(&self) -> Option<TraceCounts> {
        match self {
            Workload::Jobs(_) => None,
            Workload::Trace(trace) => Some(trace.source.counts()),
        }
    }
}
