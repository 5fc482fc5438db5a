//! What can be wrong with a configuration.

use std::fmt;
use std::path::PathBuf;

/// Where in the input something is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The layer: `device z-ssd`, `scheme rps`, `file drive.toml`, `--set a.b=1`.
    pub layer: String,
    /// Line and column, both from 1, where the layer is a text with lines.
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

/// What is wrong with one key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Problem {
    /// Nobody reads this key.
    UnknownKey {
        /// The nearest valid name, if one is near.
        nearest: Option<String>,
        /// What the table takes.
        allowed: Vec<String>,
    },
    /// A name that is none of those allowed: a policy, a kind of extent…
    UnknownMember {
        /// What was written.
        found: String,
        /// The nearest valid name, if one is near.
        nearest: Option<String>,
        /// The names.
        allowed: Vec<String>,
    },
    /// A key without which there is no drive.
    Missing,
    /// Text where a number belongs, and the like.
    WrongType {
        /// What was written.
        found: String,
        /// What belongs there.
        expected: String,
    },
    /// A value of the right type that makes no sense, in a sentence.
    Invalid(String),
}

/// Why there is no configuration.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConfigError {
    /// A file that cannot be read.
    #[error("cannot read {}: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// A text that is not TOML.
    #[error("{place}: {message}")]
    Syntax {
        /// Where.
        place: Place,
        /// What the parser says.
        message: String,
    },
    /// A name that is no preset and no file.
    #[error("no {kind} is called `{name}`{}; give a file ending in .toml, or one of: {}", did_you_mean(nearest), known.join(", "))]
    UnknownPreset {
        /// `device`, `scheme` or `workload`.
        kind: &'static str,
        /// What was asked for.
        name: String,
        /// The nearest valid name, if one is near.
        nearest: Option<String>,
        /// All names.
        known: Vec<&'static str>,
    },
    /// One key that is wrong, unknown or missing.
    #[error("{place}: {}", describe(key, problem))]
    Key {
        /// Where.
        place: Place,
        /// The full key, dotted.
        key: String,
        /// What is wrong.
        problem: Box<Problem>,
    },
    /// Several keys without which there is no drive.
    #[error(
        "{layer}: {} keys are missing, and a drive has no default for them: {}; give them, or begin with another drive: base = \"z-ssd\"",
        keys.len(),
        keys.join(", ")
    )]
    Missing {
        /// The layer that should have them.
        layer: String,
        /// All of them, dotted.
        keys: Vec<String>,
    },
    /// A pattern that is no part of any key.
    #[error("no key matches `{pattern}`{}", did_you_mean(nearest))]
    NoKey {
        /// The pattern.
        pattern: String,
        /// The nearest key, if one is near.
        nearest: Option<String>,
    },
    /// Two schemes that cannot be one.
    #[error(transparent)]
    Conflict(Box<Conflict>),
    /// A `--set` that cannot be read.
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
    /// The key that the first sets.
    pub first_key: String,
    /// To what.
    pub first_value: String,
    /// The key that the second sets; mostly the same.
    pub second_key: String,
    /// To what.
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

/// The name in `known` nearest to `name`, if it is near enough to be meant.
pub(crate) fn nearest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<String> {
    // Long input is no misspelling, and the distance is quadratic.
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
