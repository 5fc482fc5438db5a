//! A second calculation of erases whose pulses a scheme chooses, from the observer's events.
//!
//! [`Planner`] computes the pulses of a block's erase from the configuration: it shares no code with the flash or
//! with the erase schemes. It takes from the model what is data of a block: its nature, the rows of requirements, and the
//! fail bits that a verify counts. [`Referee`] follows every erase of a drive through its suspensions, and keeps
//! its own record of each block. It takes from the drive which block an index means, at which voltage an erase was
//! ordered, and what a block was before its first erase of the run.

mod plan;
mod referee;

pub use plan::{Plan, Planner, Record};
pub use referee::{Log, Referee, Seen};
