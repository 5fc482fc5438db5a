//! Raw bit errors: how many bits of each codeword a sense reads wrongly.
//!
//! The answer is a function of the seed, the block, its program/erase cycles, the page, the age of its data,
//! its reads, where the read voltage (V_REF) stands, and which sense it is. So a scheme that does other
//! operations before does not change it.

pub mod config;
pub mod decodings;
pub mod draw;
mod grid;
pub mod model;
mod normal;
pub mod times;
mod v_th;
