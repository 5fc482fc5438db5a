//! Raw bit errors: how many bits of each codeword a sense reads wrongly.
//!
//! The number is a function of the seed, the block, its program/erase cycles, the page, the age of its data, its reads,
//! the read voltage (V_REF), and the number of the sense. Other operations before do not change it, so all schemes meet
//! the same errors.

pub mod config;
pub mod decodings;
pub mod draw;
mod grid;
pub mod model;
mod normal;
mod spread;
pub mod times;
mod v_th;
