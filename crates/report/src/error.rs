//! What can go wrong while writing or reading results.

use std::path::{Path, PathBuf};

/// An error of this crate. Messages are lower-case fragments that name the file.
#[derive(Debug, thiserror::Error)]
pub enum ReportError {
    /// The output folder holds results and overwriting was not asked for.
    #[error("`{}` already holds a run (`{file}`): name another folder or force overwriting", path.display())]
    HoldsRun {
        /// The folder.
        path: PathBuf,
        /// The first result found in it.
        file: String,
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
    /// A Parquet file could not be written.
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
    /// An I/O error of the file at `path`.
    pub fn io(path: &Path) -> impl FnOnce(std::io::Error) -> ReportError + '_ {
        move |source| ReportError::Io { path: path.to_path_buf(), source }
    }
}
