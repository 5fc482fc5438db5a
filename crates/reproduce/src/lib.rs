//! Repeats the figures of papers: published values beside measured ones.
//!
//! An experiment is a TOML file (`experiments/<paper>/<figure>.toml`): drives, workloads,
//! schemes, and checks. A check names a measure, the published value with its source and with
//! how far it is to be trusted, and a band that was set from the paper's own words before any
//! result was seen. A miss is shown as a miss.
//!
//! Reading order: [`file`] is the format; [`sweep`] repeats runs along axes; [`list`] has the
//! built-in experiments; [`execute`] runs them; [`search`] finds the ratings of the ACT tool;
//! [`check`] judges, if needed at a value of an axis that [`find`] finds; [`tally`] counts;
//! [`text`], [`markdown`] and [`picture`] show the result, where [`fold`] shortens it; [`summary`] sums up all results;
//! [`version`] determines which results a new version of the model leaves valid.

pub mod alone;
pub mod answers;
pub mod check;
pub mod error;
pub mod execute;
pub mod file;
pub mod find;
pub mod fold;
pub mod list;
pub mod markdown;
pub mod measure;
pub mod picture;
pub mod scale;
pub mod search;
pub mod summary;
pub mod sweep;
pub mod table;
pub mod tally;
pub mod text;
pub mod unit;
pub mod version;

mod valid;

pub use check::{Outcome, Verdict};
pub use error::ReproduceError;
pub use execute::{Options, Results, RunOutput, reproduce};
pub use file::{CheckKind, Experiment};
pub use tailcut_sim::points::Follow;
pub use tally::Tally;
