//! The measurements of a simulated run: latency histograms, the blame of every cause for the tail,
//! the slowest requests, series over virtual time, confidence intervals, and the digest by which
//! runs are compared.
//!
//! Times are integer nanoseconds of virtual time. This crate does no I/O; the report crate turns
//! its results into files and tables.
//!
//! Reading order: [`Recorder`] takes one [`Sample`] per finished request and ends as [`Measured`].
//! This holds two [`Side`]s (reads and writes), each with a [`Population`], a [`BlameTable`], the
//! slowest requests (found by [`Worst`]) and [`Batches`].

pub mod batch;
pub mod blame;
pub mod bucket;
pub mod confidence;
pub mod difference;
pub mod digest;
pub mod failures;
pub mod percentile;
pub mod population;
pub mod recorder;
pub mod series;
pub mod worst;

pub use batch::Batches;
pub use blame::{Blame, BlameTable};
pub use confidence::{Ci95, across_runs};
pub use digest::Digest;
pub use failures::Failures;
pub use population::Population;
pub use recorder::{JobStats, Measured, Recorder, RecorderOptions, Sample, Side};
pub use series::{Gauges, GroupsCollecting, Interval, IntervalSide};
pub use worst::{SlowRequest, Worst};
