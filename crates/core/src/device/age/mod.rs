//! The drive's past, made without replaying it.

pub(super) mod precondition;
pub(super) mod scatter;
