//! Faults of the flash: what can fail, by rate or at exact places, and when.

pub mod config;
mod deaths;
mod draw;

pub use deaths::{Death, deaths};
pub use draw::{Attempt, Faults, Places};
