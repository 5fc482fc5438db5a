//! The virtual-time driver.
//!
//! [`host`] pulls requests from a workload, keeps each job's queue depth, splits what
//! is too large for the drive, and jumps from event to event.

pub mod host;
