//! Errors and warnings about a job description: their place, and the allowed values.

use std::fmt;

/// A place in the user's text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The file name, or `inline job`.
    pub source: String,
    /// The line, counted from 1; `None` for an inline job.
    pub line: Option<u32>,
    /// The name of the job, once known.
    pub job: Option<String>,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.source)?;
        if let Some(line) = self.line {
            write!(f, ":{line}")?;
        }
        if let Some(job) = &self.job {
            write!(f, " [{job}]")?;
        }
        Ok(())
    }
}

/// A job description that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{place}: {problem}{}", others(more))]
pub struct JobError {
    /// Where the problem is.
    pub place: Place,
    /// The problem; boxed to keep results small.
    pub problem: Box<Problem>,
    /// Further problems of the same description.
    pub more: Vec<JobError>,
}

/// The most problems that a message lists.
const MOST_LISTED: usize = 20;

/// The further problems, one a line.
fn others(more: &[JobError]) -> String {
    let listed = more.iter().take(MOST_LISTED - 1).map(|e| format!("\n{e}"));
    let left = more.len().saturating_sub(MOST_LISTED - 1);
    let rest = (left > 0).then(|| format!("\nand {left} further problems"));
    listed.chain(rest).collect()
}

impl JobError {
    pub(super) fn new(place: Place, problem: Problem) -> JobError {
        JobError { place, problem: Box::new(problem), more: Vec::new() }
    }

    /// One error of several; `None` of none.
    pub(super) fn all(errors: Vec<JobError>) -> Option<JobError> {
        let mut errors = errors.into_iter();
        let mut first = errors.next()?;
        first.more = errors.collect();
        Some(first)
    }
}

/// A problem of a job description.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Problem {
    /// An option of fio that this parser does not know.
    #[error("unknown option `{option}`{}", nearest.map(|n| format!("; did you mean `{n}`?")).unwrap_or_default())]
    UnknownOption {
        /// The word found.
        option: String,
        /// The closest known option, if one is close.
        nearest: Option<&'static str>,
    },
    /// An option of fio that changes the I/O in a way that is not modelled.
    #[error("option `{option}` is not supported: {why}")]
    Unsupported {
        /// The option.
        option: String,
        /// Why, and what to use instead.
        why: String,
    },
    /// An I/O engine that sends nothing to a drive of the host.
    #[error("`ioengine={name}` is refused: {why}")]
    Engine {
        /// The engine.
        name: String,
        /// Why.
        why: &'static str,
    },
    /// A value that cannot be parsed or is out of bounds.
    #[error("`{option}={value}`: {wrong}; allowed: {allowed}")]
    BadValue {
        /// The option.
        option: String,
        /// The value, shortened if long.
        value: String,
        /// What is wrong with the value.
        wrong: String,
        /// The allowed values.
        allowed: &'static str,
    },
    /// An option without the value it needs.
    #[error("option `{option}` needs a value: {allowed}")]
    MissingValue {
        /// The option.
        option: String,
        /// The allowed values.
        allowed: &'static str,
    },
    /// Text that is not a section, an option or a comment.
    #[error("{0}")]
    Malformed(String),
    /// Options that exclude each other, or an option that needs another.
    #[error("option `{option}`: {why}")]
    Conflict {
        /// The option.
        option: &'static str,
        /// The reason.
        why: String,
    },
    /// A job that does not fit the host capacity.
    #[error("option `{option}`: {why}; the host capacity is {capacity} bytes")]
    DoesNotFit {
        /// The option.
        option: &'static str,
        /// The reason, with numbers.
        why: String,
        /// The capacity, bytes.
        capacity: u64,
    },
}

/// A message that does not stop the run: an option has no effect here, or fio would treat a value
/// differently.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Warning {
    /// The place of the option.
    pub place: Place,
    /// The message, in one sentence.
    pub text: String,
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place, self.text)
    }
}

/// Shorten a piece of user text for a message.
pub(super) fn excerpt(text: &str) -> String {
    const LONGEST: usize = 60;
    match text.char_indices().nth(LONGEST) {
        Some((cut, _)) => format!("{}…", &text[..cut]),
        None => text.to_string(),
    }
}
