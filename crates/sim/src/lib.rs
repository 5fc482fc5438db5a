//! The virtual-time driver.
//!
//! - [`host`] pulls requests from a workload, keeps each job's queue depth, splits what is
//!   too large for the drive, and jumps from event to event;
//! - [`measure`] runs a host and a drive under a recorder and says what was measured;
//! - [`precondition`] gives a drive its past, from the [`cache`] where it is there;
//! - [`timeline`] looks on and records what every die and channel did;
//! - [`experiment`] does all of that for several schemes at once, with the same requests;
//! - [`mod@summarise`] turns what ran into the summary's figures.

pub mod cache;
pub mod experiment;
pub mod host;
pub mod load;
pub mod machine;
pub mod measure;
pub mod precondition;
pub mod rotation_bound;
pub mod summarise;
pub mod timeline;
pub mod watch;

pub use cache::Cache;
pub use experiment::{Experiment, ExperimentError, Plan, RunResult, SchemeSpec};
pub use measure::{MeasureOptions, RunOutcome, Sink};
pub use precondition::{PastKind, Preconditioned, Snapshots, overwrites};
pub use summarise::summarise;
pub use watch::Watch;

/// The version of the model. It changes whenever the same inputs give another digest.
pub const MODEL_VERSION: u32 = 5;
