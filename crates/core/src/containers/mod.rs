//! Containers whose elements have index numbers, and which allocate nothing once they are made.

pub mod list;
pub mod slab;
pub mod timers;

/// "No such index" in links and tables.
pub const NONE: u32 = u32::MAX;
