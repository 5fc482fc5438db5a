//! Everything leaves at once, in padded write units if necessary.
//!
//! **What it does.** A write's units go to flash as soon as they are held; a write unit that a
//! write does not fill is padded.
//!
//! **Why it matters for the tail.** Writes are not gathered, so each write costs a program.
//!
//! **Parameters and source.** None. The companion of `buffer = "none"`.
//!
//! **Left out.** Nothing.
//!
//! **Checked by** `policy_laws` and the theory tests.

use super::{Flush, FlushVerdict, FlushView};

parameterless!();

impl Flush for Policy {
    #[inline]
    fn next(&mut self, view: &FlushView) -> FlushVerdict {
        if view.dirty > 0 { FlushVerdict::Oldest } else { FlushVerdict::Hold }
    }
}
