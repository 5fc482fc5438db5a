//! Wait for the plane.
//!
//! **What it does.** A read queues at the plane that holds its data, even while a collection keeps
//! the plane busy.
//!
//! **Why it matters for the tail.** Where `gc_scope` closes the plane, a read that arrives during a
//! collection waits until all of it has ended.
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
