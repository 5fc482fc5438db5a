//! A workload on a drive: what the driver pulls, and what ages the drive before it.

use crate::job::{OpenJobs, OverwriteStream};
use crate::overwrite::TraceWrites;
use crate::trace::{TraceCounts, TraceError, TraceSource};
use crate::{Issue, JobInfo, Source};
use std::ops::Range;
use tailcut_units::Span;

/// The name of a trace's one job.
pub const TRACE_JOB: &str = "trace";

/// Overwrites that bring a drive to the workload's own steady state.
pub enum Ageing {
    /// Uniform over a region, `bytes` at a time; also where the workload does not write.
    Uniform {
        /// The bytes of the drive.
        region: Range<u64>,
        /// The block size.
        bytes: u32,
    },
    /// The jobs' own writes.
    Jobs(Box<OverwriteStream>),
    /// The trace's writes, looped.
    Trace(Box<TraceWrites>),
}

/// A trace on a drive.
pub struct OpenTrace {
    pub(crate) source: TraceSource,
    pub(crate) depth: Option<u32>,
    pub(crate) warm_up: Span,
    pub(crate) filled: u64,
}

/// A workload on a drive: what the driver pulls.
pub enum Workload {
    /// Generated.
    Jobs(OpenJobs),
    /// Recorded; boxed, since its reader's state is large.
    Trace(Box<OpenTrace>),
}

impl Source for Workload {
    // Boxed, because results are moved once a request.
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
    /// The bytes of the drive it can touch: from the first to behind the last.
    pub fn region(&self) -> Range<u64> {
        match self {
            Workload::Jobs(jobs) => jobs.region(),
            Workload::Trace(trace) => 0..trace.filled,
        }
    }

    /// How many requests jobs will make, where that is known.
    pub fn expected_requests(&self) -> Option<u64> {
        match self {
            Workload::Jobs(jobs) => jobs.expected_requests(),
            Workload::Trace(_) => None,
        }
    }

    /// Whether anything in it writes or trims; a trace is taken to.
    pub fn writes(&self) -> bool {
        match self {
            Workload::Jobs(jobs) => jobs.changes_data(),
            Workload::Trace(_) => true,
        }
    }

    /// What opening found that does not stop the run.
    pub fn warnings(&self) -> Vec<String> {
        match self {
            Workload::Jobs(jobs) => jobs.warnings().iter().map(ToString::to_string).collect(),
            Workload::Trace(_) => Vec::new(),
        }
    }

    /// What was read, skipped and changed of a trace so far.
    pub fn trace_counts(&self) -> Option<TraceCounts> {
        match self {
            Workload::Jobs(_) => None,
            Workload::Trace(trace) => Some(trace.source.counts()),
        }
    }
}
