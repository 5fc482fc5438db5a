//! The drive as one state machine.

pub mod config;
