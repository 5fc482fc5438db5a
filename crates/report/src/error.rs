//! What can go wrong while writing or reading results.

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
    /// The output folder has files in it that are no run's.
    #[error("`{}` is not empty (`{file}`) and holds no run of tailcut: name a new or an empty folder", path.display())]
    NotARun {
        /// The folder.
        path: PathBuf,
        /// A file in it.
        file: String,
    },
    /// Another process writes to the output folder.
    #[error(
        "another run{} is writing to `{}`: wait for its end, or name another folder",
        process.map_or(String::new(), |p| format!(" (process {p})")),
        path.display()
    )]
    Busy {
        /// The folder.
        path: PathBuf,
        /// The process, if it says who it is.
        process: Option<u32>,
    },
    /// The output folder changed while the run was under way.
    #[error("the results in `{}` are not those that were there when this run began; they are left alone, and this run is in `{}`", path.display(), to.display())]
    Changed {
        /// The folder.
        path: PathBuf,
        /// Where the results are instead.
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
    /// A file that should be JSON of a known form is not.
    #[error("`{}`, line {line}: {source}", path.display())]
    Json {
        /// The file.
        path: PathBuf,
        /// Line, from 1.
        line: usize,
        /// Why.
        source: serde_json::Error,
    },
    /// A summary of another version of the contract.
    #[error("`{}`: summary schema {found}, this program reads {known}", path.display())]
    Schema {
        /// The file.
        path: PathBuf,
        /// Its version.
        found: u32,
        /// Ours.
        known: u32,
    },
    /// The program was built without what writes Parquet files.
    #[error(
        "this is the quick build of `make demo`, which writes no Parquet files; `make build` makes one that does"
    )]
    NoParquet,
    /// A Parquet file could not be written.
    #[cfg(feature = "parquet")]
    #[error("parquet: {0}")]
    Parquet(#[from] ::parquet::errors::ParquetError),
    /// A histogram could not be written.
    #[error("latency log: {0}")]
    Hlog(String),
    /// The scheme asked for is not in the run.
    #[error("no scheme `{name}` in this run; it has {}", known.join(", "))]
    NoScheme {
        /// What was asked for.
        name: String,
        /// What there is.
        known: Vec<String>,
    },
    /// The blame above this percentile was not kept.
    #[error("the blame above {above} was not kept; ask for one of {} or for at least {least:.6}", levels.join(", "))]
    NoLevel {
        /// The percentile asked for.
        above: f64,
        /// The levels the summary has.
        levels: Vec<String>,
        /// From here upward every request was kept exactly.
        least: f64,
    },
}

impl ReportError {
    /// Whether the user's input is at fault, not the run or the machine.
    pub fn is_input(&self) -> bool {
        match self {
            #[cfg(feature = "parquet")]
            ReportError::Parquet(_) => false,
            ReportError::Hlog(_) | ReportError::Changed { .. } => false,
            _ => true,
        }
    }

    /// An I/O error of the file at `path`.
    pub fn io(path: &Path) -> impl FnOnce(std::io::Error) -> ReportError + '_ {
        move |source| ReportError::Io { path: path.to_path_buf(), source }
    }
}
