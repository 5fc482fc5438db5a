//! The results of runs to look at: one HTML page without references, single figures for papers, and tables for papers and
//! spreadsheets.
//!
//! Reading order: [`run`] is what a page is made of, from a run's folder or from memory; [`page`] makes the page from it;
//! [`data`] is what the script of the page draws. [`sweep`] makes the page of a sweep. [`figure`] draws single figures, [`table`] writes tables, and
//! [`output`] writes the files.

pub mod curve;
pub mod data;
pub mod error;
pub mod figure;
pub mod output;
pub mod page;
pub mod run;
pub mod sweep;
pub mod table;

mod rows;

pub use error::PageError;
pub use run::Run;
