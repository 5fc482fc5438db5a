//! Two schemes beside each other: their figures with the intervals of the differences, the causes that moved, the
//! configuration keys that differ, and whether both had the same inputs.
//!
//! [`side`] finds the scheme that a user names; [`inputs`] tells what the two have in common; [`comparison`] is the
//! result, which [`text`] prints; [`limit`] judges it for `--fail-above`.

pub mod comparison;
pub mod inputs;
pub mod limit;
pub mod side;
pub mod text;

pub use comparison::{Comparison, compare};
pub use limit::Limit;
pub use side::Side;
