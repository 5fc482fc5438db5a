//! The papers' figures, run again: published values beside measured ones.
//!
//! An experiment is a TOML file (`experiments/<paper>/<figure>.toml`): drives, workloads,
//! schemes, and checks. A check names a measure, the published value with its source and
//! how far that is to be trusted, and a band that was set from the paper's own words
//! before any result of ours was seen. A miss is shown as a miss.
//!
//! Reading order: [`file`] is the format; [`list`] what is built in; [`execute`] runs it;
//! [`search`] finds the ratings of the ACT tool; [`check`] judges; [`text`] and
//! [`markdown`] show the result.

pub mod check;
pub mod error;
pub mod execute;
pub mod file;
pub mod follow;
pub mod list;
pub mod markdown;
pub mod measure;
pub mod search;
pub mod table;
pub mod text;
pub mod unit;

mod valid;

pub use check::{Outcome, Verdict};
pub use error::ReproduceError;
pub use execute::{Options, Results, RunOutput, reproduce};
pub use file::Experiment;
pub use follow::Follow;
