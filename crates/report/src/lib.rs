//! The output of a run for people and programs: the summary (JSON), tables for the terminal,
//! the explanation of the slowest requests, HdrHistogram logs, Parquet files and timelines.
//!
//! Reading order: [`summary`] is the contract from which everything else is printed; [`folder`] writes the files of a run
//! to disk all together or not at all.

pub mod compare;
pub mod difference;
pub mod doubts;
pub mod endurance;
pub mod erases;
pub mod error;
pub mod explain;
pub mod faults;
pub mod figure;
pub mod folder;
pub mod highest_rate;
pub mod hlog;
pub mod jobs;
pub mod lost;
pub mod ordered;
pub mod parquet;
pub mod regular;
pub mod rows;
pub mod senses;
pub mod slowest;
pub mod summary;
pub mod tables;
pub mod targets;
pub mod text;
pub mod timeline;

pub mod lock;

mod build;
mod json;

pub use error::ReportError;
pub use folder::OutputFolder;
pub use ordered::Ordered;
pub use summary::Summary;
