//! What a driver pulls: the jobs, and the issues of each.

use tailcut_units::{Command, SimTime, Span};

/// The properties of one job that the driver needs.
#[derive(Clone, Debug, PartialEq)]
pub struct JobInfo {
    /// The job's name in output.
    pub name: String,
    /// The most commands that the job keeps outstanding (`u32::MAX`: unbounded).
    pub depth: u32,
    /// Latency counts from [`Issue::earliest`], the intended arrival, and not from the submission.
    /// Arrivals do not wait for the drive.
    pub open_loop: bool,
    /// The job issues nothing from this time on.
    pub runtime: Option<Span>,
    /// Requests that arrive before this time are not measured.
    pub ramp: Span,
    /// The job begins when all jobs of lower groups have ended. In the first group the job's times
    /// count from the start of the run. In a later group all its times are shifted by the same
    /// amount, so that `start` falls on the moment the group begins; a `start` later than that
    /// moment stays unshifted.
    pub group: u32,
    /// The row of the report in which the job counts; rows are numbered from 0 in the order of the jobs.
    pub row: u32,
    /// Reads, writes and trims a second that the job asks for, if it does.
    pub asked: [Option<f64>; 3],
    /// When the job begins: no issue of the job is earlier.
    pub start: Span,
}

/// One command and when it may be issued.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Issue {
    /// The command is not issued before this time (0: at once). The time shifts with the job's
    /// group. In an open loop it is the intended arrival.
    pub earliest: SimTime,
    /// The pause of the job before this issue: it waits until its requests outstanding have ended, and
    /// then for this long.
    pub think: Span,
    /// The command.
    pub command: Command,
}

/// A stream of issues for each job: what a driver pulls.
pub trait Source {
    /// The error that ends a stream early.
    type Error: std::error::Error;
    /// The jobs, by index.
    fn jobs(&self) -> Vec<JobInfo>;
    /// Return the next issue of a job; `None` when the job has ended.
    fn next(&mut self, job: usize) -> Result<Option<Issue>, Self::Error>;
}
