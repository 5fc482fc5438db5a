//! The physics of array, channel and decoder: times, suspend points, the state of blocks, erases, errors and faults. No
//! time passes here.

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
