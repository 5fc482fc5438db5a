//! Uses of parity: units that are rebuilt, planes that fail, stripes that move.

pub(super) mod mend;
pub(super) mod rebuild;
pub(super) mod rewrite;
pub(super) mod state;
pub(super) mod wear;
