//! Containers of elements addressed by index. They allocate nothing after construction.

pub mod big;
pub mod event_queue;
pub mod event_ring;
pub mod few_timers;
pub mod fronts;
pub mod list;
pub mod slab;
pub mod timers;

/// "No such index" in links and tables.
pub const NONE: u32 = u32::MAX;
