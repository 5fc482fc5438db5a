//! Faults of the flash: what can fail, by rate or at exact places, and when.

pub mod config;
mod draw;

pub use draw::{Attempt, Faults, Met};
