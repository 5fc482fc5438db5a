//! Plane-blocking: a collection closes the dies of its lane.
//!
//! **What it does.** From its first read to its last erase, host operations to the
//! lane's dies (planes, where planes are the busy unit) wait.
//!
//! **Why it matters for the tail.** Only the collecting plane's data wait; with parity
//! elsewhere they need not (ttFlash).
//!
//! **Parameters and source.** None. ttFlash (FAST'17) §4.1.
//!
//! **Left out.** Nothing.
//!
//! **Checked by** `policy_laws`.

use super::{GcScope, Scope};

parameterless!();

impl GcScope for Policy {
    #[inline]
    fn scope(&self) -> Scope {
        Scope::Unit
    }
}
