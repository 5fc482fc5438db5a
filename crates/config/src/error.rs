//! Errors of a configuration.

use std::fmt;
use std::path::PathBuf;

/// A place in the input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The layer: `device z-ssd`, `scheme rps`, `file drive.toml`, `--set a.b=1`.
    pub layer: String,
    /// Line and column, both from 1, if the layer is a text with lines.
    pub at: Option<(usize, usize)>,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.at {
            Some((line, column)) => write!(f, "{}:{line}:{column}", self.layer),
            None => f.write_str(&self.layer),
        }
    }
}

/// A problem with one key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Problem {
    /// There is no such key.
    UnknownKey {
        /// The nearest valid name, if one is close.
        nearest: Option<String>,
        /// The keys of the table.
        allowed: Vec<String>,
    },
    /// A name that is not one of those allowed, e.g. of a policy or a kind of extent.
    UnknownMember {
        /// The value found.
        found: String,
        /// The nearest valid name, if one is close.
        nearest: Option<String>,
        /// The allowed names.
        allowed: Vec<String>,
    },
    /// A required key is missing.
    Missing,
    /// A value of the wrong type, e.g. text instead of a number.
    WrongType {
        /// The value found.
        found: String,
        /// The expected type, in words.
        expected: String,
    },
    /// A value of the right type that is invalid; the sentence says why.
    Invalid(String),
}

/// Why a configuration cannot be made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConfigError {
    /// A file that cannot be read.
    #[error("cannot read {}: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The error of the operating system.
        source: std::io::Error,
    },
    /// A text that is not TOML.
    #[error("{place}: {message}")]
    Syntax {
        /// The place of the error.
        place: Place,
        /// The message of the parser.
        message: String,
    },
    /// A name that is neither a preset nor a file.
    #[error("no {kind} is called `{name}`{}; give a file ending in .toml, or one of: {}", did_you_mean(nearest), known.join(", "))]
    UnknownPreset {
        /// `device`, `scheme` or `workload`.
        kind: &'static str,
        /// The name given.
        name: String,
        /// The nearest valid name, if one is close.
        nearest: Option<String>,
        /// All names.
        known: Vec<&'static str>,
    },
    /// One key that is wrong, unknown or missing.
    #[error("{place}: {}", describe(key, problem))]
    Key {
        /// The place of the error.
        place: Place,
        /// The full dotted key.
        key: String,
        /// What is wrong.
        problem: Box<Problem>,
    },
    /// Several required keys are missing.
    #[error(
        "{layer}: {} keys are missing, and a drive has no default for them: {}; give them, or begin with another drive: base = \"z-ssd\"",
        keys.len(),
        keys.join(", ")
    )]
    Missing {
        /// The layer that must set them.
        layer: String,
        /// All missing keys, dotted.
        keys: Vec<String>,
    },
    /// A pattern that matches no key.
    #[error("no key matches `{pattern}`{}", did_you_mean(nearest))]
    NoKey {
        /// The pattern.
        pattern: String,
        /// The nearest key, if one is close.
        nearest: Option<String>,
    },
    /// Two schemes that cannot be combined.
    #[error(transparent)]
    Conflict(Box<Conflict>),
    /// A `--set` argument that cannot be parsed.
    #[error("--set {text}: {message}")]
    Set {
        /// The argument.
        text: String,
        /// What is wrong.
        message: String,
    },
}

/// Two schemes that set one key to different values.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "schemes `{first}` and `{second}` cannot be combined: {first_key} is {first_value} in the first, {second_key} is {second_value} in the second"
)]
pub struct Conflict {
    /// One scheme.
    pub first: String,
    /// The other.
    pub second: String,
    /// The key set by the first scheme.
    pub first_key: String,
    /// The value in the first scheme.
    pub first_value: String,
    /// The key set by the second scheme; usually the same key.
    pub second_key: String,
    /// The value in the second scheme.
    pub second_value: String,
}

fn did_you_mean(nearest: &Option<String>) -> String {
    nearest.as_ref().map_or(String::new(), |n| format!(" (did you mean `{n}`?)"))
}

fn describe(key: &str, problem: &Problem) -> String {
    match problem {
        Problem::UnknownKey { nearest, allowed } if allowed.is_empty() => {
            format!("there is no key `{key}`{}; nothing can be set here", did_you_mean(nearest))
        }
        Problem::UnknownKey { nearest, allowed } => {
            format!("there is no key `{key}`{}; allowed here: {}", did_you_mean(nearest), allowed.join(", "))
        }
        Problem::UnknownMember { found, nearest, allowed } => format!(
            "{key} cannot be `{found}`{}; it is one of: {}",
            did_you_mean(nearest),
            allowed.join(", ")
        ),
        Problem::Missing => format!("{key} is missing; a drive has no default for it"),
        Problem::WrongType { found, expected } => format!("{key} is {found}, but takes {expected}"),
        Problem::Invalid(sentence) => format!("{key}: {sentence}"),
    }
}

/// The name in `known` nearest to `name`, if it is close enough to be a misspelling.
pub(crate) fn nearest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<String> {
    // Long input is not a misspelling, and computing the distance is quadratic.
    if name.len() > 64 {
        return None;
    }
    let lower = name.to_lowercase();
    known
        .into_iter()
        .map(|k| (strsim::damerau_levenshtein(&lower, &k.to_lowercase()), k))
        .filter(|&(d, k)| d <= 2.max(k.len() / 3) && d < k.len())
        .min_by_key(|&(d, _)| d)
        .map(|(_, k)| k.to_string())
}
