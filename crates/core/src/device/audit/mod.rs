//! The conservation laws of the whole state, checked on demand: for tests.
//!
//! Nothing here runs in a simulation. The audit walks every unit, slot, operation and queue, so it
//! costs what the drive is large. Each part checks itself (`audit` beside it); here is what must
//! agree between them.

mod flash;
mod medium;
mod whole;
