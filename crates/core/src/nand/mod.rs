//! The array, the channel and the decoder: their operations, times, suspend points and counts.

pub mod blocks;
pub mod config;
pub mod course;
pub mod ecc;
pub mod erase;
pub mod errors;
pub mod faults;
pub mod loops;
pub mod op;
pub mod slc;
pub mod suspend;
pub mod timing;

pub use op::{ErasePart, OpKind};
