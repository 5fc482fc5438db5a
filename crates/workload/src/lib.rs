//! Workloads: the requests a host sends to a drive, and their times.
//!
//! A [`WorkloadSpec`] is a parsed description (a trace file, a fio job file, an inline
//! job, ACT). Opened on a host capacity and a seed it becomes a [`Workload`]: one
//! stream of [`Issue`]s per job, pulled by the driver. The same spec, capacity and
//! seed give the same issues, so every compared scheme meets the same requests.

mod error;
mod interrupt;
pub mod job;
pub mod log;
mod opened;
mod overwrite;
mod replay;
mod source;
pub mod trace;
mod trace_spec;
mod workload;

pub use error::WorkloadError;
pub use interrupt::Interrupt;
pub use opened::{Ageing, LOG_JOB, OpenLog, OpenTrace, StreamError, TRACE_JOB, Workload};
pub use overwrite::TraceWrites;
pub use replay::{TraceReplay, WarmUp};
pub use source::{Issue, JobInfo, Source};
pub use trace_spec::TraceSpec;
pub use workload::WorkloadSpec;
