//! Random drives under random workloads.
//!
//! A seed draws a whole drive (geometry, timing, translation layer, one member of every policy
//! family) and a workload whose kinds of events are switched on and off, so that rare
//! combinations occur often. The run is checked against an [`Oracle`] and, at regular numbers
//! of events, against the conservation laws of the whole state. [`pblk`] does the same for drives under pblk.

mod draw;
mod draw_flash;
mod interventions;
pub mod pblk;
mod run;

pub use draw::{Case, Plan, draw, draw_with_faults, member};
pub use interventions::Interventions;
pub use run::{Faults, Outcome, observe, run, run_over, watch, whole_stripes};
