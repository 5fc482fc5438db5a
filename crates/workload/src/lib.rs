//! Workloads: what a host asks of a drive, and when.
//!
//! A [`WorkloadSpec`] is a parsed description (a trace file, a fio job file, an inline
//! job, ACT). Opened on a host capacity and a seed it becomes a [`Workload`]: one
//! stream of [`Issue`]s per job, pulled by the driver. The same spec, capacity and
//! seed give the same issues, so every compared scheme meets the same requests.

mod interrupt;
pub mod job;
mod opened;
mod overwrite;
pub mod trace;
mod workload;

pub use interrupt::Interrupt;
pub use opened::{Ageing, OpenTrace, TRACE_JOB, Workload};
pub use overwrite::TraceWrites;
pub use workload::{TraceReplay, TraceSpec, WarmUp, WorkloadError, WorkloadSpec};

use tailcut_units::{Command, SimTime, Span};

/// What the driver must know of one job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JobInfo {
    /// The job's name in output.
    pub name: String,
    /// Most commands the job keeps outstanding (`u32::MAX`: unbounded).
    pub depth: u32,
    /// Latency counts from [`Issue::earliest`] (an arrival that does not wait for the
    /// drive), not from the submission.
    pub open_loop: bool,
    /// Stop issuing at this time.
    pub runtime: Option<Span>,
    /// Requests issued before this time are not measured.
    pub ramp: Span,
    /// The job begins when all jobs of lower groups have ended. Its times count from the
    /// start of the run in the first group; in a later one they are shifted as a whole, so
    /// that `start` comes at that moment, or where it stands if it is later.
    pub group: u32,
    /// When the job begins: the least time of its issues.
    pub start: Span,
}

/// One command and when it may be issued.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Issue {
    /// Not before this time (0: at once), which shifts with its job's group. For an open loop, the intended arrival.
    pub earliest: SimTime,
    /// Pause of the job between the completion that freed this place and the issue.
    pub think: Span,
    /// What to do.
    pub command: Command,
}

/// A stream of issues for each job: what a driver pulls.
pub trait Source {
    /// Why a stream broke off.
    type Error: std::error::Error;
    /// The jobs, by index.
    fn jobs(&self) -> Vec<JobInfo>;
    /// The next issue of a job; `None` when the job is over.
    fn next(&mut self, job: usize) -> Result<Option<Issue>, Self::Error>;
}
