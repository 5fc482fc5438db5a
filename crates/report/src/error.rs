//! The errors of writing and reading results.

use std::path::{Path, PathBuf};

/// An error of this crate. Messages are lower-case fragments that name the file.
#[derive(Debug, thiserror::Error)]
pub enum ReportError {
    /// The output folder holds results and overwriting was not asked for.
    #[error("`{}` already holds a run (`{file}`): name another folder, or replace it with --force", path.display())]
    HoldsRun {
        /// The folder.
        path: PathBuf,
        /// The first result found in it.
        file: String,
    },
    /// The output folder is not empty and never held a run.
    #[error("`{}` is not empty (`{file}`) and holds no run of tailcut: name a new or an empty folder", path.display())]
    NotARun {
        /// The folder.
        path: PathBuf,
        /// The first of its files by name.
        file: String,
    },
    /// Another process is writing to the output folder.
    #[error(
        "another run{} is writing to `{}`: wait until it ends, or name another folder",
        process.map_or(String::new(), |p| format!(" (process {p})")),
        path.display()
    )]
    Busy {
        /// The folder.
        path: PathBuf,
        /// The number of that process, if the lock file holds it.
        process: Option<u32>,
    },
    /// The output folder changed during the run.
    #[error("the results in `{}` changed after this run began; they were not replaced, and the results of this run are in `{}`", path.display(), to.display())]
    Changed {
        /// The folder.
        path: PathBuf,
        /// The new folder that holds the results of this run.
        to: PathBuf,
    },
    /// The output folder cannot be created or written.
    #[error("cannot write to folder `{}`: {source}", path.display())]
    NotWritable {
        /// The folder.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// Reading or writing a file failed.
    #[error("`{}`: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// A file is not JSON of the expected form.
    #[error("`{}`, line {line}: {source}", path.display())]
    Json {
        /// The file.
        path: PathBuf,
        /// Line, from 1.
        line: usize,
        /// Why.
        source: serde_json::Error,
    },
    /// A file is cut, or not of the expected form.
    #[error("`{}`, line {line}: {reason}", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// Line, from 1.
        line: usize,
        /// What is wrong.
        reason: String,
    },
    /// The summary is too long to be one.
    #[error("`{}`: a summary of {bytes} bytes; at most {most} are read", path.display())]
    TooLong {
        /// The file.
        path: PathBuf,
        /// Its length.
        bytes: u64,
        /// The most that is read.
        most: u64,
    },
    /// The summary has another version of the contract.
    #[error("`{}`: summary schema {found}, this program reads {known}", path.display())]
    Schema {
        /// The file.
        path: PathBuf,
        /// The version in the file.
        found: u32,
        /// The version this program reads.
        known: u32,
    },
    /// The program was built without Parquet support.
    #[error(
        "this is the quick build of `make demo`, which writes no Parquet files; `make build` builds one that does"
    )]
    NoParquet,
    /// A Parquet file could not be written.
    #[cfg(feature = "parquet")]
    #[error("parquet: {0}")]
    Parquet(#[from] ::parquet::errors::ParquetError),
    /// A histogram could not be written.
    #[error("latency log: {0}")]
    Hlog(String),
    /// Stopped by the user.
    #[error("interrupted")]
    Interrupted,
    /// The requested scheme is not in the run.
    #[error("no scheme `{name}` in this run; it has {}", known.join(", "))]
    NoScheme {
        /// The requested name.
        name: String,
        /// The names of the run's schemes.
        known: Vec<String>,
    },
    /// A run has several schemes, and one is wanted.
    #[error("`{text}` has the schemes {}: name one, as in `{text}:{}`, or with --scheme", known.join(", "), known.first().map_or("", String::as_str))]
    ChooseScheme {
        /// The run, as the user named it.
        text: String,
        /// The names of its schemes.
        known: Vec<String>,
    },
    /// The requested job is not in the run.
    #[error("no job `{name}` in this run; it has {} (a number from 1 on names one too)", known.join(", "))]
    NoJob {
        /// The requested name or number.
        name: String,
        /// The names of the run's jobs.
        known: Vec<String>,
    },
    /// The summary holds no blame above this percentile, and too few requests were kept to
    /// compute it.
    #[error(
        "the blame above {above} was not kept; ask for {}at least {least:.6}",
        if levels.is_empty() { String::new() } else { format!("one of {} or for ", levels.join(", ")) }
    )]
    NoLevel {
        /// The percentile asked for.
        above: f64,
        /// The levels in the summary.
        levels: Vec<String>,
        /// The lowest percentile above which every request was kept.
        least: f64,
    },
}

impl ReportError {
    /// Whether the cause is the user's input and not the run or the machine.
    pub fn is_input(&self) -> bool {
        match self {
            #[cfg(feature = "parquet")]
            ReportError::Parquet(_) => false,
            ReportError::Interrupted | ReportError::Hlog(_) | ReportError::Changed { .. } => false,
            _ => true,
        }
    }

    /// Returns a function that makes an I/O error of the file at `path`.
    pub fn io(path: &Path) -> impl FnOnce(std::io::Error) -> ReportError + '_ {
        move |source| ReportError::Io { path: path.to_path_buf(), source }
    }
}
