//! Uses of parity: units that are rebuilt, planes that fail, stripes that move.

pub(super) mod failure;
pub(super) mod rebuild;
pub(super) mod state;
pub(super) mod wear;
