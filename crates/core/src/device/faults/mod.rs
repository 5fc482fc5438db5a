//! Failures of the flash, and what the controller does about them.

pub(super) mod dead;
pub(super) mod elsewhere;
mod filter;
pub(super) mod lacking;
pub(super) mod lost;
pub(super) mod lost_units;
pub(super) mod program;
pub(super) mod read;
pub(super) mod read_only;
pub(super) mod retire;
pub(super) mod state;
pub(super) mod unreadable;
