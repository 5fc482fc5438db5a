//! Any workload as described: jobs or a trace.

use crate::job::{JobError, JobSet, Overwrites};
use crate::opened::{Ageing, OpenTrace, Workload};
use crate::overwrite::TraceWrites;
use crate::trace::{TraceError, TraceInfo, TraceOptions, TraceSource, info};
use std::io::Read;
use std::path::{Path, PathBuf};

/// A job file is text for people; anything longer is no job file.
const JOB_FILE_MAX: u64 = 4 << 20;
/// How much of a file is looked at to tell a job file from a trace.
const LOOK: u64 = 64 << 10;
/// Compressed or not, a trace up to this is read once before the run, for its measures.
const MEASURED_MAX: u64 = 256 << 20;

/// Why there is no workload.
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
        /// Why.
        source: std::io::Error,
    },
    /// A pipe, a device, a socket: a trace is read more than once.
    #[error("{path}: not a regular file; a workload file is read more than once, so a pipe cannot be used")]
    NotAFile {
        /// What was named.
        path: String,
    },
    /// A job file that is not text, or far too long.
    #[error("{path}: a job file is UTF-8 text of at most {JOB_FILE_MAX} bytes")]
    NotText {
        /// The file.
        path: String,
    },
    /// Neither a file nor a preset nor a job.
    #[error(
        "workload `{text}` is no file, no workload preset and no inline job such as `randread,bs=4k,iodepth=16` ({why})"
    )]
    Unknown {
        /// What was given.
        text: String,
        /// Why it is no inline job.
        why: JobError,
    },
    /// Options of traces given with a job.
    #[error("{option} is for traces; `{text}` is a job (its own options shape it)")]
    NotATrace {
        /// The options.
        option: String,
        /// The workload.
        text: String,
    },
    /// A drive too small to lay a trace on.
    #[error("the drive has {bytes} bytes filled for the trace; at least 4096 are needed (age.fill)")]
    NoRoom {
        /// The bytes there are.
        bytes: u64,
    },
}

impl From<TraceError> for WorkloadError {
    fn from(error: TraceError) -> WorkloadError {
        WorkloadError::Trace(Box::new(error))
    }
}

/// How the user wants a trace replayed.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TraceReplay {
    /// How it is read and laid on the drive; `closed_loop` follows `depth`.
    pub options: TraceOptions,
    /// Keep so many requests outstanding and ignore the timestamps.
    pub depth: Option<u32>,
    /// The options given, as the user wrote them: an error with a job.
    pub given: Vec<&'static str>,
}

/// A workload as described.
#[derive(Clone, Debug)]
pub enum WorkloadSpec {
    /// Generated.
    Jobs {
        /// What the user wrote.
        text: String,
        /// The jobs.
        set: JobSet,
    },
    /// Recorded.
    Trace(Box<TraceSpec>),
}

/// A trace file and how it is replayed.
#[derive(Clone, Debug)]
pub struct TraceSpec {
    /// The file.
    pub path: PathBuf,
    /// How it is read and laid on the drive.
    pub options: TraceOptions,
    /// Requests kept outstanding, if the timestamps are ignored.
    pub depth: Option<u32>,
    /// Its measures, unless it is too large to read twice.
    pub info: Option<TraceInfo>,
}

impl WorkloadSpec {
    /// Understand `text`: a file (a fio job file, else a trace), a name that `preset`
    /// knows as an inline job, or an inline job.
    ///
    /// # Errors
    /// What is none of these or cannot be used; a trace that is not too large is read to
    /// its end, so that a bad record is known before anything runs.
    pub fn parse(
        text: &str,
        preset: impl Fn(&str) -> Option<String>,
        replay: &TraceReplay,
    ) -> Result<WorkloadSpec, WorkloadError> {
        let path = Path::new(text);
        let set = if path.exists() {
            if !path.is_file() && !path.is_dir() {
                return Err(WorkloadError::NotAFile { path: text.to_string() });
            }
            match job_file(path)? {
                Some(job) => JobSet::from_job_file(text, &job)?,
                None => return Ok(WorkloadSpec::Trace(Box::new(TraceSpec::new(path, replay)?))),
            }
        } else if let Some(job) = preset(text) {
            JobSet::from_inline(&job)?
        } else {
            JobSet::from_inline(text).map_err(|why| {
                // What has no option in it was hardly meant as a job.
                let alone = !text.contains(['=', ',', ':', ';']);
                let text = text.to_string();
                if alone { WorkloadError::Unknown { text, why } } else { WorkloadError::Job(why) }
            })?
        };
        if !replay.given.is_empty() {
            let (option, text) = (replay.given.join(", "), text.to_string());
            return Err(WorkloadError::NotATrace { option, text });
        }
        Ok(WorkloadSpec::Jobs { text: text.to_string(), set })
    }

    /// What the user called it.
    pub fn name(&self) -> String {
        match self {
            WorkloadSpec::Jobs { text, .. } => text.clone(),
            WorkloadSpec::Trace(trace) => trace.path.display().to_string(),
        }
    }

    /// Whether it is a trace, which is laid on the filled part of a drive.
    pub fn trace(&self) -> Option<&TraceSpec> {
        match self {
            WorkloadSpec::Jobs { .. } => None,
            WorkloadSpec::Trace(trace) => Some(trace),
        }
    }

    /// Put it on a drive: jobs on its `capacity`, a trace on the first `filled` bytes.
    ///
    /// # Errors
    /// A job whose region does not fit; a trace that cannot be read.
    pub fn open(&self, capacity: u64, filled: u64, seed: u64) -> Result<Workload, WorkloadError> {
        match self {
            WorkloadSpec::Jobs { set, .. } => Ok(Workload::Jobs(set.open(capacity, seed)?)),
            WorkloadSpec::Trace(trace) => {
                let source = trace.source(trace.options.loop_count, filled)?;
                Ok(Workload::Trace(Box::new(OpenTrace { source, depth: trace.depth, filled })))
            }
        }
    }

    /// Its writes without an end, for ageing: none, uniform, or to be replayed.
    ///
    /// # Errors
    /// As [`WorkloadSpec::open`].
    pub fn ageing(&self, capacity: u64, filled: u64, seed: u64) -> Result<Ageing, WorkloadError> {
        match self {
            WorkloadSpec::Jobs { set, .. } => {
                let open = set.open(capacity, seed)?;
                Ok(match open.overwrites() {
                    Overwrites::None => Ageing::None,
                    Overwrites::Uniform { region, bytes } => Ageing::Uniform { region, bytes },
                    Overwrites::Replay => match set.overwrite_stream(capacity, seed)? {
                        Some(stream) => Ageing::Jobs(Box::new(stream)),
                        None => Ageing::None,
                    },
                })
            }
            WorkloadSpec::Trace(trace) => {
                let writes = TraceWrites::open(trace, filled)?;
                // As the design has it: uniform where there are no writes.
                Ok(match writes {
                    Some(writes) => Ageing::Trace(Box::new(writes)),
                    None => Ageing::Uniform { region: 0..filled, bytes: 4096 },
                })
            }
        }
    }

    /// A text that differs where the writes differ: part of a snapshot's key. Workloads
    /// that age a drive alike share it.
    ///
    /// # Errors
    /// As [`WorkloadSpec::open`].
    pub fn identity(&self, capacity: u64, seed: u64) -> Result<String, WorkloadError> {
        match self {
            WorkloadSpec::Jobs { set, .. } => Ok(match set.open(capacity, seed)?.overwrites() {
                Overwrites::Replay => format!("{:?}", set.specs()),
                all_there_is => format!("{all_there_is:?}"),
            }),
            WorkloadSpec::Trace(trace) => {
                let content = crate::overwrite::content_hash(&trace.path);
                // When they arrive makes no difference to ageing.
                let options = TraceOptions {
                    loop_count: 1,
                    rate_scale: 1.0,
                    closed_loop: false,
                    ..trace.options.clone()
                };
                Ok(format!("trace {content:016x} {options:?}"))
            }
        }
    }

    /// What the description asks for that has no effect, or another than in fio.
    pub fn warnings(&self) -> Vec<String> {
        match self {
            WorkloadSpec::Jobs { set, .. } => set.warnings().iter().map(ToString::to_string).collect(),
            WorkloadSpec::Trace(_) => Vec::new(),
        }
    }
}

impl TraceSpec {
    fn new(path: &Path, replay: &TraceReplay) -> Result<TraceSpec, WorkloadError> {
        let depth = replay.depth;
        let options = TraceOptions { closed_loop: depth.is_some(), ..replay.options.clone() };
        options.check()?;
        let size = std::fs::metadata(path)
            .map(|m| m.len())
            .map_err(|source| WorkloadError::File { path: path.display().to_string(), source })?;
        let info = (size <= MEASURED_MAX).then(|| info(path, &options)).transpose()?;
        Ok(TraceSpec { path: path.to_path_buf(), options, depth, info })
    }

    /// The trace on a drive's first `filled` bytes.
    pub(crate) fn source(&self, laps: u32, filled: u64) -> Result<TraceSource, WorkloadError> {
        if filled < 4096 {
            return Err(WorkloadError::NoRoom { bytes: filled });
        }
        let options = TraceOptions { loop_count: laps, ..self.options.clone() };
        Ok(TraceSource::open(&self.path, &options, filled)?)
    }
}

/// The text of a fio job file; `None` for a file that is none.
fn job_file(path: &Path) -> Result<Option<String>, WorkloadError> {
    let fail = |source| WorkloadError::File { path: path.display().to_string(), source };
    let mut file = std::fs::File::open(path).map_err(fail)?;
    let mut start = Vec::new();
    (&mut file).take(LOOK).read_to_end(&mut start).map_err(fail)?;
    if !JobSet::looks_like_job_file(&String::from_utf8_lossy(&start)) {
        return Ok(None);
    }
    let mut rest = start;
    (&mut file).take(JOB_FILE_MAX).read_to_end(&mut rest).map_err(fail)?;
    let whole = rest.len() as u64 <= JOB_FILE_MAX;
    let text = String::from_utf8(rest).ok().filter(|_| whole);
    text.map(Some).ok_or_else(|| WorkloadError::NotText { path: path.display().to_string() })
}
