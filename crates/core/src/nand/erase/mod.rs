//! The array as an erase scheme sees it: the pulse time that each block needs, the fail bits of a verify, and the
//! stress of pulses.

pub mod chip;
pub mod config;
pub mod requirement;
