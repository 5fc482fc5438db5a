//! Why an experiment cannot be read or run.

use tailcut_config::ConfigError;
use tailcut_sim::ExperimentError;
use tailcut_workload::WorkloadError;

/// Why an experiment cannot be read or run.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReproduceError {
    /// Neither an experiment, nor a paper, nor a file.
    #[error("no experiment is called `{id}`{}; give a file ending in .toml, or one of: {}",
            did_you_mean(nearest), known.join(", "))]
    Unknown {
        /// What was asked for.
        id: String,
        /// The nearest id, if one is near.
        nearest: Option<String>,
        /// All papers and experiments.
        known: Vec<String>,
    },
    /// A file that cannot be read.
    #[error("cannot read {path}: {source}")]
    Read {
        /// The file.
        path: String,
        /// Why.
        source: std::io::Error,
    },
    /// A text that is no experiment: the place and the key are in the message.
    #[error("{file}: {message}")]
    File {
        /// The file.
        file: String,
        /// What is wrong.
        message: String,
    },
    /// A run without a drive or a scheme.
    #[error("{file}: run `{run}`: {source}")]
    Config {
        /// The file.
        file: String,
        /// The run.
        run: String,
        /// What is wrong.
        source: Box<ConfigError>,
    },
    /// A run without a workload.
    #[error("{file}: run `{run}`: {source}")]
    Workload {
        /// The file.
        file: String,
        /// The run.
        run: String,
        /// What is wrong.
        source: Box<WorkloadError>,
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
    /// Whether the input is at fault, not the run.
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
