//! Why an experiment cannot be read or run.

use tailcut_config::ConfigError;
use tailcut_sim::ExperimentError;
use tailcut_workload::WorkloadError;

/// Why an experiment cannot be read or run.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReproduceError {
    /// The word is neither an experiment, nor a paper, nor a file.
    #[error("no experiment is called `{id}`{}; give a file ending in .toml, or one of: {}",
            did_you_mean(nearest), known.join(", "))]
    Unknown {
        /// The word.
        id: String,
        /// The nearest id, if there is a similar one.
        nearest: Option<String>,
        /// All papers and experiments.
        known: Vec<String>,
    },
    /// A file cannot be read.
    #[error("cannot read {path}: {source}")]
    Read {
        /// The file.
        path: String,
        /// Why.
        source: std::io::Error,
    },
    /// A text is not a valid experiment; the message names the place and the key.
    #[error("{file}: {message}")]
    File {
        /// The file.
        file: String,
        /// What is wrong.
        message: String,
    },
    /// A run whose drive or scheme cannot be resolved.
    #[error("{file}: run `{run}`: {source}")]
    Config {
        /// The file.
        file: String,
        /// The run.
        run: String,
        /// What is wrong.
        source: Box<ConfigError>,
    },
    /// A run whose workload cannot be read.
    #[error("{file}: run `{run}`: {source}")]
    Workload {
        /// The file.
        file: String,
        /// The run.
        run: String,
        /// What is wrong.
        source: Box<WorkloadError>,
    },
    /// A run of blocks alone under a scheme for which they are all alike.
    #[error("{file}: run `{run}`: alone: {problem}")]
    Alone {
        /// The file.
        file: String,
        /// The run.
        run: String,
        /// What is wrong.
        problem: String,
    },
    /// A run that failed.
    #[error("{file}: run `{run}`: {source}")]
    Run {
        /// The file.
        file: String,
        /// The run.
        run: String,
        /// What happened.
        source: Box<ExperimentError>,
    },
    /// Stopped by the user.
    #[error("interrupted")]
    Interrupted,
}

impl ReproduceError {
    /// Whether the cause is the input and not the run.
    pub fn is_input(&self) -> bool {
        match self {
            ReproduceError::Run { source, .. } => source.is_input(),
            ReproduceError::Interrupted => false,
            _ => true,
        }
    }
}

fn did_you_mean(nearest: &Option<String>) -> String {
    nearest.as_ref().map_or(String::new(), |n| format!(" (did you mean `{n}`?)"))
}
