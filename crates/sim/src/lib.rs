//! The virtual-time driver.
//!
//! - [`host`] pulls requests from a workload, keeps each job's queue depth, splits
//!   requests that are too large for the drive, and jumps from event to event;
//! - [`measure`] runs a host and a drive with a recorder and returns the measurements;
//! - [`precondition`] gives a drive its past, from the [`cache`] if it is there;
//! - [`timeline`] observes the drive and records what every die and channel did;
//! - [`erases`] and [`lifetime`] erase and age blocks alone, without requests; [`life`] ages a drive under a
//!   workload until it is read-only;
//! - [`experiment`] does all of this for several schemes, with the same requests;
//! - [`points`] runs many of them in parallel: those of a reproduction, and those of a [`sweep`];
//! - [`mod@summarise`] turns the measurements into the figures of the summary, [`finished`] those of all schemes, and
//!   [`files`] writes them;
//! - [`settings`] are the user's layers of configuration, with checks for errors and for settings without effect;
//! - [`progress`] is how far many runs are, and when they end.

pub mod cache;
pub mod erases;
pub mod experiment;
pub mod files;
pub mod finished;
pub mod host;
pub mod life;
pub mod lifetime;
pub mod load;
pub mod machine;
pub mod measure;
pub mod points;
pub mod precondition;
pub mod progress;
pub mod rotation_bound;
pub mod settings;
pub mod summarise;
pub mod sweep;
pub mod threads;
pub mod timeline;
pub mod watch;

pub use cache::Cache;
pub use experiment::{Experiment, ExperimentError, Plan, RunResult, SchemeSpec};
pub use finished::{Finished, Unfinished, finished};
pub use host::MissedRate;
pub use measure::{MeasureOptions, RunOutcome, Sink};
pub use precondition::{PastKind, Preconditioned, Snapshots, is_uniform};
pub use settings::{Layers, SettingsError};
pub use summarise::summarise;
pub use watch::Watch;

/// The version of the model. It changes whenever the same inputs give another digest.
pub const MODEL_VERSION: u32 = 17;
