//! Wait for the plane.
//!
//! **What it does.** A read queues at the plane that has its data, whatever keeps it busy.
//!
//! **Why it matters for the tail.** A read behind a collection waits for all of it, where
//! `gc_scope` closes the plane.
//!
//! **Parameters and source.** None.
//!
//! **Left out.** Nothing.
//!
//! **Checked by** `policy_laws`.

use super::{BlockedView, ReadPath};

parameterless!();

impl ReadPath for Policy {
    fn rebuilds(&self) -> bool {
        false
    }
    fn rebuild(&self, _: &BlockedView) -> bool {
        false
    }
}
