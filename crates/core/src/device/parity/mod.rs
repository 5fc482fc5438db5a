//! What parity is good for: units rebuilt, planes that fail, stripes that move.

pub(super) mod failure;
pub(super) mod rebuild;
pub(super) mod state;
pub(super) mod wear;
