//! Retry-one: a page that cannot be decoded is sensed once more, at the optimum of V_REF.
//!
//! **What it does.** The first sense has V_REF at its default. If the data cannot be decoded, the controller issues a
//! second sense at the optimum of the page, which it knows without cost.
//!
//! **Why it matters for the tail.** The best scheme outside the die: the failed page still crosses the channel and takes
//! the longest decoding. `SSD_one` of RiF (HPCA'24).
//!
//! **Parameters and source.** None.
//!
//! **Left out.** How the optimum is found.
//!
//! **Checked by** `senses` of `core`.

use super::{FailedView, ReadRetry, Sense, at_optimum};

parameterless!();

impl ReadRetry for Policy {
    #[inline]
    fn next(&self, view: &FailedView) -> Option<Sense> {
        at_optimum(view, 1, 0)
    }
}
