//! Retry-ideal: V_REF is always at the optimum of the page.
//!
//! **What it does.** The first sense of a page has V_REF at the optimum, as if it were known. It is not sensed
//! again.
//!
//! **Why it matters for the tail.** The ideal bound: no retry is needed as long as the code corrects the errors that
//! remain at the optimum. `SSD_zero` of RiF (HPCA'24).
//!
//! **Parameters and source.** None.
//!
//! **Left out.** How a controller would know the optimum.
//!
//! **Checked by** `senses` of `core`.

use super::{Aim, FailedView, ReadRetry, Sense};

parameterless!();

impl ReadRetry for Policy {
    #[inline]
    fn first(&self) -> Aim {
        Aim::Optimum(0)
    }
    #[inline]
    fn next(&self, _: &FailedView) -> Option<Sense> {
        None
    }
}
