//! The types that all parts of Tailcut share: virtual time, host commands, the causes that make up
//! a request's latency, quantities with units, and keyed random streams.
//!
//! This crate has no state and no I/O; everything else depends on it.

pub mod host;
pub mod ledger;
pub mod occupant;
pub mod quantity;
pub mod random;
pub mod time;

pub use host::{Command, HostOp, ReadOnlyReason, Status};
pub use ledger::{Cause, Ledger};
pub use occupant::{ArrayAct, Occupant, Occupants, Purpose};
pub use random::Stream;
pub use time::{SimTime, Span};
