//! Errors that end a command early, with their exit codes.

use std::process::ExitCode;
use tailcut_config::ConfigError;
use tailcut_live::StoreError;
use tailcut_page::PageError;
use tailcut_report::ReportError;
use tailcut_reproduce::ReproduceError;
use tailcut_sim::sweep::SweepError;
use tailcut_sim::{ExperimentError, SettingsError, Unfinished};
use tailcut_workload::WorkloadError;
use tailcut_workload::trace::TraceError;

/// The reason for which a command ends early.
#[derive(Debug, thiserror::Error)]
pub enum CliError {
    /// The user's input is wrong.
    #[error("{0}")]
    Input(String),
    /// The run has failed, or the machine has.
    #[error("{0}")]
    Failed(String),
    /// The run is complete, and a scheme misses a target. If `missed` is false, it is undecided whether it meets the
    /// target.
    #[error("{text}")]
    Target {
        /// The targets and the schemes.
        text: String,
        /// A target is missed.
        missed: bool,
    },
    /// The reader of the output has closed it (`tailcut … | head`).
    #[error("the output is closed")]
    Closed,
}

impl CliError {
    /// The run was interrupted, and its results are incomplete.
    pub fn partial() -> CliError {
        CliError::Failed("interrupted: the results are partial".into())
    }

    /// The error, with another name for a temporary file.
    pub fn renamed(self, file: &str, name: &str) -> CliError {
        match self {
            CliError::Input(text) => CliError::Input(text.replace(file, name)),
            other => other,
        }
    }

    /// 2 for a usage or input error, 1 for a failed run, 3 for a missed target, 4 for an undecided target.
    pub fn exit_code(&self) -> ExitCode {
        match self {
            CliError::Input(_) => ExitCode::from(2),
            CliError::Failed(_) => ExitCode::from(1),
            CliError::Target { missed: true, .. } => ExitCode::from(3),
            CliError::Target { missed: false, .. } => ExitCode::from(4),
            CliError::Closed => ExitCode::SUCCESS,
        }
    }
}

impl From<ConfigError> for CliError {
    fn from(e: ConfigError) -> CliError {
        CliError::Input(e.to_string())
    }
}

impl From<WorkloadError> for CliError {
    fn from(e: WorkloadError) -> CliError {
        if e.is_interrupt() || e.is_write() {
            CliError::Failed(e.to_string())
        } else {
            CliError::Input(e.to_string())
        }
    }
}

impl From<TraceError> for CliError {
    fn from(e: TraceError) -> CliError {
        WorkloadError::from(e).into()
    }
}

impl From<ReportError> for CliError {
    fn from(e: ReportError) -> CliError {
        if e.is_input() { CliError::Input(e.to_string()) } else { CliError::Failed(e.to_string()) }
    }
}

impl From<PageError> for CliError {
    fn from(e: PageError) -> CliError {
        if e.is_input() { CliError::Input(e.to_string()) } else { CliError::Failed(e.to_string()) }
    }
}

impl From<ExperimentError> for CliError {
    fn from(e: ExperimentError) -> CliError {
        if e.is_input() { CliError::Input(e.to_string()) } else { CliError::Failed(e.to_string()) }
    }
}

impl From<SettingsError> for CliError {
    fn from(e: SettingsError) -> CliError {
        CliError::Input(e.to_string())
    }
}

impl From<Unfinished> for CliError {
    fn from(e: Unfinished) -> CliError {
        CliError::Failed(e.to_string())
    }
}

impl From<ReproduceError> for CliError {
    fn from(e: ReproduceError) -> CliError {
        if e.is_input() { CliError::Input(e.to_string()) } else { CliError::Failed(e.to_string()) }
    }
}

impl From<StoreError> for CliError {
    fn from(e: StoreError) -> CliError {
        if e.is_input() { CliError::Input(e.to_string()) } else { CliError::Failed(e.to_string()) }
    }
}

impl From<SweepError> for CliError {
    fn from(e: SweepError) -> CliError {
        if e.is_input() { CliError::Input(e.to_string()) } else { CliError::Failed(e.to_string()) }
    }
}

/// Standard output or error could not be written.
impl From<std::io::Error> for CliError {
    fn from(e: std::io::Error) -> CliError {
        if e.kind() == std::io::ErrorKind::BrokenPipe {
            CliError::Closed
        } else {
            CliError::Failed(format!("cannot write the output: {e}"))
        }
    }
}
