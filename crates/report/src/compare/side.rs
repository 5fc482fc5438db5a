//! One side of a comparison: a scheme of a run on disk.

use crate::error::ReportError;
use crate::folder::SUMMARY;
use crate::summary::{Scheme, Summary};
use std::path::{Path, PathBuf};

/// A scheme, with the summary that holds it.
#[derive(Clone, Debug)]
pub struct Side {
    /// The file that was read.
    pub path: PathBuf,
    /// The summary.
    pub summary: Summary,
    /// Which of its schemes.
    index: usize,
}

impl Side {
    /// Reads a side: a folder of a run or its `summary.json`, and after a colon the scheme. `scheme` is the scheme if
    /// there is no colon; a run with one scheme needs neither.
    ///
    /// # Errors
    /// A file that cannot be read or is no summary; a scheme that it does not have; several schemes and no choice.
    pub fn read(text: &str, scheme: Option<&str>) -> Result<Side, ReportError> {
        let (path, named) = split(text);
        let path = if path.is_dir() { path.join(SUMMARY) } else { path };
        let summary = Summary::read(&path)?;
        let known = || summary.schemes.iter().map(|s| s.name.clone()).collect::<Vec<_>>();
        let index = match (named.or(scheme), &summary.schemes[..]) {
            (Some(name), schemes) => schemes
                .iter()
                .position(|s| s.name == name)
                .ok_or_else(|| ReportError::NoScheme { name: name.to_string(), known: known() })?,
            (None, [_]) => 0,
            (None, _) => return Err(ReportError::ChooseScheme { text: text.to_string(), known: known() }),
        };
        Ok(Side { path, summary, index })
    }

    /// The scheme.
    pub fn scheme(&self) -> &Scheme {
        &self.summary.schemes[self.index]
    }
}

/// The path, and the scheme after a colon. A path that exists as a whole has none.
pub(crate) fn split(text: &str) -> (PathBuf, Option<&str>) {
    if Path::new(text).exists() {
        return (PathBuf::from(text), None);
    }
    let at = text.match_indices(':').map(|(at, _)| at).find(|&at| Path::new(&text[..at]).exists());
    match at {
        Some(at) => (PathBuf::from(&text[..at]), Some(&text[at + 1..])),
        None => (PathBuf::from(text), None),
    }
}
