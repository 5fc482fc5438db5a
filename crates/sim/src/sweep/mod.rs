//! Sweeps: one run for each point of a design, on all cores, resumable, with one table of results.
//!
//! - [`design`] is what the user asks for: a base, and axes of values;
//! - [`draw`] makes the points of the design: a product, or random draws;
//! - [`setup`] makes the drive and the workload of a point, and [`key`] hashes all that shapes its result;
//! - [`folder`] keeps the finished points, each under its key;
//! - [`run`] executes the others; [`table`] has a row for each point.

pub mod design;
pub mod draw;
pub mod error;
pub mod folder;
pub mod key;
pub mod run;
pub mod setup;
pub mod table;

pub use design::{Axis, Design};
pub use error::SweepError;
pub use run::{Options, Swept, sweep};
