//! Controller-blocking: a collection closes the whole drive.
//!
//! **What it does.** While a collection runs, all host operations to flash wait, and no other
//! collection starts.
//!
//! **Why it matters for the tail.** The worst case: a single-threaded controller that does nothing
//! else while it collects.
//!
//! **Parameters and source.** None. ttFlash (FAST'17) §3.
//!
//! **Left out.** Nothing.
//!
//! **Checked by** `policy_laws`.

use super::{GcScope, Scope};

parameterless!();

impl GcScope for Policy {
    #[inline]
    fn scope(&self) -> Scope {
        Scope::Controller
    }
}
