//! Overwrites that age a drive in zero time, under either translation layer: which sectors are written, and when write
//! amplification is steady.

mod windows;
mod writes;

pub use windows::Windows;
pub use writes::{BATCH, replayed, uniform};
