//! The errors of a workload, with what is allowed.

use crate::job::JobError;
use crate::log::LogError;
use crate::trace::TraceError;

/// The largest job file, in bytes. Job files are written by people; a longer file is refused.
pub(crate) const JOB_FILE_MAX: u64 = 4 << 20;

/// Why a workload cannot be made.
#[derive(Debug, thiserror::Error)]
pub enum WorkloadError {
    /// A job that cannot be used.
    #[error(transparent)]
    Job(#[from] JobError),
    /// A trace that cannot be used.
    #[error(transparent)]
    Trace(#[from] Box<TraceError>),
    /// A file that cannot be read.
    #[error("{path}: {source}")]
    File {
        /// The file.
        path: String,
        /// The error of the operating system.
        source: std::io::Error,
    },
    /// A pipe, a device or a socket. A trace is read more than once, which these do not allow.
    #[error(
        "{path}: not a regular file; a workload file is read more than once, so a pipe cannot be used by name; give it as standard input, `-`"
    )]
    NotAFile {
        /// The path given.
        path: String,
    },
    /// A job file that is not text, or is too long.
    #[error("{path}: a job file is UTF-8 text of at most {JOB_FILE_MAX} bytes")]
    NotText {
        /// The file.
        path: String,
    },
    /// The text names no file and no preset, and is no inline job.
    #[error(
        "workload `{text}` is no file, no workload preset and no inline job such as `randread,bs=4k,iodepth=16` ({why})"
    )]
    Unknown {
        /// The text given.
        text: String,
        /// Why the text is no inline job.
        why: JobError,
    },
    /// Options of traces given with a job.
    #[error("{option} is for traces; `{text}` is a job (its own options shape it)")]
    NotATrace {
        /// The options, as given.
        option: String,
        /// The workload.
        text: String,
    },
    /// One of several workloads is no trace.
    #[error(
        "several workloads are traces that follow each other, and `{text}` is no trace file; jobs that run side by side \
         stand in one job file, or in one inline job separated by `;`"
    )]
    Several {
        /// The workload.
        text: String,
    },
    /// `--section` with a workload that is no job file.
    #[error("--section is for job files; `{text}` is {kind}")]
    NotAJobFile {
        /// The workload.
        text: String,
        /// What it is.
        kind: &'static str,
    },
    /// The warm-up covers the whole trace, so nothing would be measured.
    #[error("{option}: the trace ends after {last}, so nothing would be measured")]
    WarmUp {
        /// The option.
        option: &'static str,
        /// When the last request of the trace arrives.
        last: String,
    },
    /// `--measure-from` is a time of the trace, given where the times of the trace are ignored.
    #[error(
        "--measure-from is a time of the trace, which --closed-loop ignores; give --warm-up, a time of the run"
    )]
    MeasureFrom,
    /// A log that cannot be used.
    #[error(transparent)]
    Log(#[from] LogError),
    /// A drive smaller than that of a log.
    #[error("{path}: the drive that was served had {needed} bytes, and this one has {capacity}")]
    LogCapacity {
        /// The log.
        path: String,
        /// The bytes of the drive that was served.
        needed: u64,
        /// The bytes of this one.
        capacity: u64,
    },
    /// A drive too small for a trace.
    #[error("the drive has {bytes} bytes filled for the trace; at least 4096 are needed (age.fill)")]
    NoRoom {
        /// The filled bytes of the drive.
        bytes: u64,
    },
}

impl WorkloadError {
    /// Whether the cause is an interrupt by the user and not a fault.
    pub fn is_interrupt(&self) -> bool {
        matches!(self, WorkloadError::Trace(e) if matches!(**e, TraceError::Interrupted { .. }))
    }

    /// Whether a file could not be written, which is no fault of the input.
    pub fn is_write(&self) -> bool {
        matches!(self, WorkloadError::Trace(e) if matches!(**e, TraceError::Io { action: "write", .. }))
    }
}

impl From<TraceError> for WorkloadError {
    fn from(error: TraceError) -> WorkloadError {
        WorkloadError::Trace(Box::new(error))
    }
}
