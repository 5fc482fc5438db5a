//! None: data that cannot be decoded are given up.
//!
//! **What it does.** A page is sensed once, with V_REF at its default. If its data cannot be decoded, they are computed
//! from parity, or the read ends with `media_error`.
//!
//! **Why it matters for the tail.** No read takes longer, and reads fail: the other end of the trade.
//!
//! **Parameters and source.** None.
//!
//! **Left out.** Nothing.
//!
//! **Checked by** `senses` of `core`.

use super::{FailedView, ReadRetry, Sense};

parameterless!();

impl ReadRetry for Policy {
    #[inline]
    fn next(&self, _: &FailedView) -> Option<Sense> {
        None
    }
}
