//! What the flash and its channels do, and how long it takes.

pub mod config;
pub mod ecc;
pub mod suspend;
pub mod timing;
