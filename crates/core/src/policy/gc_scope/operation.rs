//! Operation: a collection blocks nothing by itself.
//!
//! **What it does.** The reads, programs and erases of a collection queue at the dies like any
//! other operation. The schedule policy decides between them.
//!
//! **Why it matters for the tail.** A host read can be served between any two operations of a
//! collection.
//!
//! **Parameters and source.** None. MQSim and most firmware.
//!
//! **Left out.** Nothing.
//!
//! **Checked by** `policy_laws`.

use super::{GcScope, Scope};

parameterless!();

impl GcScope for Policy {
    #[inline]
    fn scope(&self) -> Scope {
        Scope::Operation
    }
}
