//! Why a sweep cannot begin or end.

use tailcut_report::ReportError;

/// Why a sweep cannot begin or end. A point that fails is no such error.
#[derive(Debug, thiserror::Error)]
pub enum SweepError {
    /// The design is wrong; the message names the place and what is allowed.
    #[error("{0}")]
    Design(String),
    /// The folder holds another sweep.
    #[error(
        "`{folder}` holds another sweep ({what}): name another folder, or give the same design to go on with that sweep"
    )]
    Another {
        /// The folder.
        folder: String,
        /// What differs.
        what: String,
    },
    /// The folder is in use by something else.
    #[error("`{folder}` is not empty (`{file}`) and holds no sweep: name a new or an empty folder")]
    NotASweep {
        /// The folder.
        folder: String,
        /// The first of its files by name.
        file: String,
    },
    /// Another process runs this sweep.
    #[error("another sweep{} is writing to `{folder}`: wait until it ends", process.map_or(String::new(), |p| format!(" (process {p})")))]
    Busy {
        /// The folder.
        folder: String,
        /// The number of that process, if known.
        process: Option<u32>,
    },
    /// A file cannot be read or written.
    #[error("`{path}`: {source}")]
    Io {
        /// The file.
        path: String,
        /// Why.
        source: std::io::Error,
    },
    /// The results cannot be written.
    #[error(transparent)]
    Report(#[from] ReportError),
}

impl SweepError {
    /// Whether the cause is the user's input and not the machine.
    pub fn is_input(&self) -> bool {
        !matches!(self, SweepError::Io { .. } | SweepError::Report(_))
    }

    /// Returns a function that makes the error of a file.
    pub(crate) fn io(path: &std::path::Path) -> impl FnOnce(std::io::Error) -> SweepError + '_ {
        move |source| SweepError::Io { path: path.display().to_string(), source }
    }
}
