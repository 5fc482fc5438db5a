//! What can be wrong with a job description, where, and what would be allowed.

use std::fmt;

/// Where in the user's text something stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The file name, or `inline job`.
    pub source: String,
    /// The line, counted from 1; `None` for an inline job.
    pub line: Option<u32>,
    /// The job concerned, once one is known.
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
#[error("{place}: {problem}")]
pub struct JobError {
    /// Where.
    pub place: Place,
    /// What; boxed so that a result stays small.
    pub problem: Box<Problem>,
}

impl JobError {
    pub(super) fn new(place: Place, problem: Problem) -> JobError {
        JobError { place, problem: Box::new(problem) }
    }
}

/// What is wrong.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Problem {
    /// Not an option of fio that this parser knows.
    #[error("unknown option `{option}`{}", nearest.map(|n| format!("; did you mean `{n}`?")).unwrap_or_default())]
    UnknownOption {
        /// The word found.
        option: String,
        /// The known option closest to it, if any is close.
        nearest: Option<&'static str>,
    },
    /// An option of fio that changes the I/O in a way that is not modelled.
    #[error("option `{option}` is not supported: {why}")]
    Unsupported {
        /// The option.
        option: String,
        /// Why, and what to use in its place.
        why: String,
    },
    /// A value that cannot be read or lies out of its bounds.
    #[error("`{option}={value}`: {wrong}; allowed: {allowed}")]
    BadValue {
        /// The option.
        option: String,
        /// Its value, cut if long.
        value: String,
        /// What is wrong with it.
        wrong: String,
        /// What would be right.
        allowed: &'static str,
    },
    /// An option without the value it needs.
    #[error("option `{option}` needs a value: {allowed}")]
    MissingValue {
        /// The option.
        option: String,
        /// What would be right.
        allowed: &'static str,
    },
    /// Text that is neither a section, an option nor a comment.
    #[error("{0}")]
    Malformed(String),
    /// Options that exclude each other, or one that needs another.
    #[error("option `{option}`: {why}")]
    Conflict {
        /// The option.
        option: &'static str,
        /// The reason.
        why: String,
    },
    /// A job that does not fit the host capacity it is opened on.
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

/// Something the user should know that does not stop the run: an option that has no
/// effect here, or a value that fio would treat differently.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Warning {
    /// Where.
    pub place: Place,
    /// What, in one sentence.
    pub text: String,
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place, self.text)
    }
}

/// A piece of user text short enough for a message.
pub(super) fn excerpt(text: &str) -> String {
    const LONGEST: usize = 60;
    match text.char_indices().nth(LONGEST) {
        Some((cut, _)) => format!("{}…", &text[..cut]),
        None => text.to_string(),
    }
}
