//! The errors of pages, figures and tables.

use std::path::PathBuf;
use tailcut_report::ReportError;

/// An error of this crate. Messages are lower-case fragments that name the file.
#[derive(Debug, thiserror::Error)]
pub enum PageError {
    /// The folder of a run cannot be read.
    #[error(transparent)]
    Run(#[from] ReportError),
    /// What is at the path was not written by `tailcut report`.
    #[error("`{}` was not written by `tailcut report`, and would be lost: name a new file (-o)", path.display())]
    Foreign {
        /// The file.
        path: PathBuf,
    },
    /// The file cannot be written.
    #[error("cannot write `{}`: {source}", path.display())]
    NotWritable {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// The page would be larger than a browser opens at once.
    #[error(
        "a page of {schemes} schemes would take {bytes} bytes, and {most} are allowed: name fewer folders"
    )]
    TooLarge {
        /// The number of schemes.
        schemes: usize,
        /// Bytes of the page at the least detail.
        bytes: usize,
        /// The most bytes of a page.
        most: usize,
    },
    /// The folder of a sweep cannot be read.
    #[error("{}: {what}", path.display())]
    Sweep {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        what: String,
    },
    /// The runs have nothing of what a figure shows.
    #[error("there is no such figure: {0}")]
    Nothing(String),
    /// A figure could not be drawn or converted.
    #[error("cannot draw the figure: {0}")]
    Draw(String),
}

impl PageError {
    /// Whether the cause is the user's input and not the machine.
    pub fn is_input(&self) -> bool {
        match self {
            PageError::Run(error) => error.is_input(),
            PageError::Draw(_) => false,
            _ => true,
        }
    }
}
