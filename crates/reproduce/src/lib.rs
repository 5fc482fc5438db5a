//! Repeats the figures of papers: published values beside measured ones.
//!
//! An experiment is a TOML file (`experiments/<paper>/<figure>.toml`): drives, workloads,
//! schemes, and checks. A check names a measure, the published value with its source and with
//! how far it is to be trusted, and a band that was set from the paper's own words before any
//! result was seen. A miss is shown as a miss.
//!
//! Reading order: [`file`] is the format, where `each` writes several tables as one; [`sweep`] repeats runs along an
//! [`axis`]; [`list`] has the built-in experiments; [`execute`] runs them with [`options`], on the configurations that `specs` resolves;
//! [`search`] finds each [`rating`] of the ACT tool; [`results`] holds what they gave, and a [`measure`] is one
//! figure of it; [`check`] judges, if needed at a value of an axis that [`find`] finds; [`tally`] counts;
//! [`table`] arranges results by `column`; [`text`], [`markdown`] and [`picture`] show them, where [`fold`] shortens;
//! [`summary`] sums up all results; [`version`] determines which results a new version of the model leaves valid.

pub mod alone;
pub mod answers;
pub mod axis;
pub mod check;
pub mod error;
pub mod execute;
pub mod file;
pub mod find;
pub mod fold;
pub mod list;
pub mod markdown;
pub mod measure;
pub mod options;
pub mod picture;
pub mod rating;
pub mod results;
pub mod scale;
pub mod search;
pub mod summary;
pub mod sweep;
pub mod table;
pub mod tally;
pub mod text;
pub mod unit;
pub mod version;

mod column;
mod each;
mod specs;
mod valid;

pub use error::ReproduceError;
pub use execute::reproduce;
pub use file::{CheckKind, Experiment};
pub use options::Options;
pub use results::{Outcome, Results, RunOutput, Verdict};
pub use tailcut_sim::points::Follow;
pub use tally::Tally;
