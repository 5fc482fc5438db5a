//! What an erase scheme meets: how long each block must be erased, what a verify tells, and what pulses
//! do to a block.

pub mod chip;
pub mod config;
pub mod requirement;
