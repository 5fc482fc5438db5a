//! Sweeps: one run for each point of a design, on all cores, resumable, with one table of results.
//!
//! - [`design`] is what the user asks for: a base, and axes of values;
//! - [`draw`] makes the points of the design: a product, or random draws;
//! - [`setup`] makes the drive and the workload of a point, and [`key`] hashes all that shapes its result;
//! - [`folder`] keeps the finished points, each under its key;
//! - `plan` has the keys and the plans of the points, [`run`] executes those that are left, and [`remote`] lets others do it;
//!   [`table`] has a row for each point.

pub mod design;
pub mod draw;
pub mod error;
pub mod folder;
pub mod key;
mod plan;
pub mod remote;
pub mod run;
pub mod setup;
pub mod table;

pub use design::{Axis, Design};
pub use error::SweepError;
pub use remote::{Job, Remote, alone};
pub use run::{Options, Swept, sweep};
