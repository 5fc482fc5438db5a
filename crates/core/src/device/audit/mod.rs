//! The invariants (conservation laws) of the whole state, which tests check on demand.
//!
//! Nothing here runs in a simulation, except that a restored drive must pass the audit, and a restored aged state those of
//! extents and rows. The audit walks every unit, slot, operation and queue, so its cost grows with the size of the drive. Each part has its
//! own audit (`audit` beside it); the checks here compare the parts.

mod flash;
mod medium;
mod whole;
