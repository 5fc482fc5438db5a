//! The conservation laws of the whole state, checked on demand: for tests.
//!
//! Nothing here runs in a simulation. The audit walks every unit, slot, operation and
//! queue, so it costs what the drive is large. Parts whose fields are private are read
//! from their serialised form, the one that a snapshot holds (`forms`).

mod collections;
mod commands;
mod forms;
mod medium;
mod operations;
mod whole;
