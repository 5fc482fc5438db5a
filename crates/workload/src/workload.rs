//! A workload as described by the user: jobs or a trace.

use crate::error::{JOB_FILE_MAX, WorkloadError};
use crate::job::{JobSet, Overwrites};
use crate::log::{LogFile, MEASURE, SPEED};
use crate::opened::{Ageing, OpenLog, OpenTrace, Workload};
use crate::overwrite::TraceWrites;
use crate::replay::TraceReplay;
use crate::trace::TraceFile;
use crate::trace_spec::TraceSpec;
use std::collections::VecDeque;
use std::io::Read;
use std::path::Path;
use tailcut_units::{SimTime, Span};

/// How many bytes of a file are examined to tell a job file from a trace.
const LOOK: u64 = 64 << 10;
/// A workload as described.
#[derive(Clone, Debug)]
pub enum WorkloadSpec {
    /// A generated workload.
    Jobs {
        /// What the user wrote.
        text: String,
        /// The jobs.
        set: JobSet,
    },
    /// A recorded workload.
    Trace(Box<TraceSpec>),
    /// The log of a drive that was served.
    Log(Box<LogFile>),
}

impl WorkloadSpec {
    /// Interpret `text`: a file (a fio job file, else a trace), `-` for a file on standard input, a
    /// name that `preset` maps to an inline job, or an inline job.
    ///
    /// # Errors
    /// `text` is none of these, or cannot be used. A trace that is not too large is read to its end
    /// here, so that a bad record is reported before anything runs.
    pub fn parse(
        text: &str,
        preset: impl Fn(&str) -> Option<String>,
        replay: &TraceReplay,
    ) -> Result<WorkloadSpec, WorkloadError> {
        let path = Path::new(text);
        let no_file = |kind| match replay.sections.is_empty() {
            true => Ok(()),
            false => Err(WorkloadError::NotAJobFile { text: text.to_string(), kind }),
        };
        if LogFile::is_log(path) {
            no_file("a log")?;
            if !replay.given.is_empty() {
                let (option, text) = (replay.given.join(", "), text.to_string());
                return Err(WorkloadError::NotATrace { option, text });
            }
            return Ok(WorkloadSpec::Log(Box::new(LogFile::open(path)?)));
        }
        let set = if text == "-" || path.exists() {
            if text != "-" && !path.is_file() && !path.is_dir() {
                return Err(WorkloadError::NotAFile { path: text.to_string() });
            }
            let file =
                if text == "-" { TraceFile::standard_input(&replay.options)? } else { TraceFile::from(path) };
            match job_file(&file)? {
                Some(job) => JobSet::from_job_file_sections(&file.name(), &job, &replay.sections)?,
                None => {
                    no_file("a trace")?;
                    return WorkloadSpec::of_trace(file, replay);
                }
            }
        } else if let Some(job) = preset(text) {
            no_file("a preset")?;
            JobSet::from_inline(&job)?
        } else {
            no_file("no file")?;
            JobSet::from_inline(text).map_err(|why| {
                // A text without any option was probably not meant as a job.
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

    /// A trace.
    ///
    /// # Errors
    /// It cannot be read, or the options do not fit it.
    pub fn of_trace(file: TraceFile, replay: &TraceReplay) -> Result<WorkloadSpec, WorkloadError> {
        Ok(WorkloadSpec::Trace(Box::new(TraceSpec::new(file, replay)?)))
    }

    /// As [`WorkloadSpec::parse`]; several texts are trace files that follow each other as one trace.
    ///
    /// # Errors
    /// As [`WorkloadSpec::parse`], and several texts of which one is no trace file.
    pub fn parse_all(
        texts: &[String],
        preset: impl Fn(&str) -> Option<String>,
        replay: &TraceReplay,
    ) -> Result<WorkloadSpec, WorkloadError> {
        if let [text] = texts {
            return WorkloadSpec::parse(text, preset, replay);
        }
        let mut files = Vec::new();
        for text in texts {
            let path = Path::new(text);
            if !path.is_file() || job_file(&TraceFile::from(path))?.is_some() {
                return Err(WorkloadError::Several { text: text.clone() });
            }
            files.push(TraceFile::from(path));
        }
        WorkloadSpec::of_trace(TraceFile::Several(files), replay)
    }

    /// The workload's name: the text that the user gave, or the trace file's name.
    pub fn name(&self) -> String {
        match self {
            WorkloadSpec::Jobs { text, .. } => text.clone(),
            WorkloadSpec::Trace(trace) => trace.file.name(),
            WorkloadSpec::Log(log) => log.name(),
        }
    }

    /// The trace, if the workload is one. A trace is laid on the filled part of a drive.
    pub fn trace(&self) -> Option<&TraceSpec> {
        match self {
            WorkloadSpec::Jobs { .. } | WorkloadSpec::Log(_) => None,
            WorkloadSpec::Trace(trace) => Some(trace),
        }
    }

    /// The log, if the workload is one.
    pub fn log(&self) -> Option<&LogFile> {
        match self {
            WorkloadSpec::Log(log) => Some(log),
            WorkloadSpec::Jobs { .. } | WorkloadSpec::Trace(_) => None,
        }
    }

    /// Open the workload on a drive: jobs on its `capacity`, a trace on its first `filled` bytes.
    ///
    /// # Errors
    /// A job's region does not fit; a trace cannot be read.
    pub fn open(&self, capacity: u64, filled: u64, seed: u64) -> Result<Workload, WorkloadError> {
        match self {
            WorkloadSpec::Jobs { set, .. } => Ok(Workload::Jobs(set.open(capacity, seed)?)),
            WorkloadSpec::Trace(trace) => {
                let source = trace.source(trace.options.loop_count, filled, seed)?;
                let TraceSpec { depth, warm_up, .. } = **trace;
                Ok(Workload::Trace(Box::new(OpenTrace { source, depth, warm_up, filled })))
            }
            WorkloadSpec::Log(log) => {
                let needed = log.header.capacity;
                if needed > capacity {
                    return Err(WorkloadError::LogCapacity { path: log.name(), needed, capacity });
                }
                let filled = if log.has_past() { log.header.held } else { log.header.aged };
                let (commands, writes) = (log.commands, log.writes());
                let from = log.measured_from();
                Ok(Workload::Log(Box::new(OpenLog {
                    reader: log.commands()?,
                    commands,
                    filled,
                    writes,
                    from,
                })))
            }
        }
    }

    /// The workload's writes for ageing a drive, without an end: uniform over a region, or a stream
    /// to replay. For a workload without writes: uniform over the filled bytes.
    ///
    /// # Errors
    /// As [`WorkloadSpec::open`].
    pub fn ageing(&self, capacity: u64, filled: u64, seed: u64) -> Result<Ageing, WorkloadError> {
        let unwritten = Ageing::Uniform { region: 0..filled, bytes: 4096 };
        match self {
            WorkloadSpec::Jobs { set, .. } => {
                if let Overwrites::Uniform { region, bytes } = set.open(capacity, seed)?.overwrites() {
                    return Ok(Ageing::Uniform { region, bytes });
                }
                let writes = set.overwrite_stream(capacity, seed)?;
                Ok(writes.map_or(unwritten, |writes| Ageing::Jobs(Box::new(writes))))
            }
            WorkloadSpec::Log(_) => Ok(unwritten),
            WorkloadSpec::Trace(trace) => {
                let writes = TraceWrites::open(trace, filled)?;
                Ok(writes.map_or(unwritten, |writes| Ageing::Trace(Box::new(writes))))
            }
        }
    }

    /// Return a text that is part of a snapshot's key. It is the same for two workloads that age a
    /// drive alike, and differs where their writes differ. A trace is read to its end.
    ///
    /// # Errors
    /// As [`WorkloadSpec::open`].
    pub fn identity(&self, capacity: u64, filled: u64, seed: u64) -> Result<String, WorkloadError> {
        match self {
            WorkloadSpec::Jobs { set, .. } => Ok(match set.open(capacity, seed)?.overwrites() {
                Overwrites::Replay => format!("{:?}", set.specs()),
                Overwrites::None => "no writes: uniform".to_string(),
                all_there_is => format!("{all_there_is:?}"),
            }),
            WorkloadSpec::Log(_) => Ok("a log: uniform".to_string()),
            WorkloadSpec::Trace(trace) => TraceWrites::identity(trace, filled),
        }
    }

    /// The workload with its arrivals faster by `factor`: a trace's times are divided by it, the rates of jobs are
    /// multiplied. `None` if nothing sets the time of arrivals: a closed loop.
    pub fn at_rate(&self, factor: f64) -> Option<WorkloadSpec> {
        match self {
            WorkloadSpec::Jobs { text, set } => {
                Some(WorkloadSpec::Jobs { text: text.clone(), set: set.at_rate(factor)? })
            }
            // Its commands waited for each other, in the clients.
            WorkloadSpec::Log(_) => None,
            WorkloadSpec::Trace(trace) => {
                if trace.depth.is_some() {
                    return None;
                }
                let mut trace = trace.clone();
                trace.options.rate_scale *= factor;
                // The same requests are measured.
                trace.warm_up = Span((trace.warm_up.0 as f64 / factor) as u64);
                Some(WorkloadSpec::Trace(trace))
            }
        }
    }

    /// Changes to the drive other than commands, in order of time. The speed of its clock is not the drive's, and
    /// neither is what is measured.
    pub fn interventions(&self) -> VecDeque<(SimTime, String)> {
        let WorkloadSpec::Log(log) = self else { return VecDeque::new() };
        let of_drive = |text: &str| text != MEASURE && !text.starts_with(SPEED);
        log.interventions.iter().filter(|(_, text)| of_drive(text)).cloned().collect()
    }

    /// The options of the description that have no effect, or another effect than in fio.
    pub fn warnings(&self) -> Vec<String> {
        match self {
            WorkloadSpec::Jobs { set, .. } => set.warnings().iter().map(ToString::to_string).collect(),
            WorkloadSpec::Trace(trace) => trace.info.iter().flat_map(|i| i.counts.warnings.clone()).collect(),
            WorkloadSpec::Log(log) if log.end.is_none() => {
                vec![format!(
                    "{} has no end: the server was killed, and its last commands may be missing",
                    log.name()
                )]
            }
            WorkloadSpec::Log(_) => Vec::new(),
        }
    }
}

/// The text of a fio job file; `None` if the file is not a job file.
fn job_file(file: &TraceFile) -> Result<Option<String>, WorkloadError> {
    let fail = |source| WorkloadError::File { path: file.name(), source };
    let path = file.name();
    let mut file = file.open().map_err(fail)?;
    let mut start = Vec::new();
    (&mut file).take(LOOK).read_to_end(&mut start).map_err(fail)?;
    if !JobSet::looks_like_job_file(&String::from_utf8_lossy(&start)) {
        return Ok(None);
    }
    let mut rest = start;
    (&mut file).take(JOB_FILE_MAX).read_to_end(&mut rest).map_err(fail)?;
    let whole = rest.len() as u64 <= JOB_FILE_MAX;
    let text = String::from_utf8(rest).ok().filter(|_| whole);
    text.map(Some).ok_or(WorkloadError::NotText { path })
}
