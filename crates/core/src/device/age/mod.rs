//! The aged state of a drive, made without simulating its past.

mod fill;
pub(super) mod precondition;
pub(super) mod scatter;
mod start;
mod steady;
mod threads;
mod writes;
