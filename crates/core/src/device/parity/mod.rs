//! Uses of parity: reconstruction of units, lost units that are rewritten, and stripes that move for wear levelling.

pub(super) mod mend;
pub(super) mod rebuild;
pub(super) mod rewrite;
pub(super) mod state;
pub(super) mod stripes;
pub(super) mod wear;
