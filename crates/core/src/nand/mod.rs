//! What the flash and its channels do, and how long it takes.

pub mod blocks;
pub mod config;
pub mod course;
pub mod ecc;
pub mod op;
pub mod suspend;
pub mod timing;

pub use op::OpKind;
