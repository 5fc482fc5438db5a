//! Overwrites that age a drive in zero time, under either translation layer: the choice of the sectors, and the
//! detection of steady write amplification.

mod windows;
mod writes;

pub use windows::Windows;
pub use writes::{BATCH, replayed, uniform};
