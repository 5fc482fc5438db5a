//! Nothing happens in idle time.
//!
//! **What it does.** Nothing.
//!
//! **Why it matters for the tail.** A request never waits for background work; but pages that move
//! inside their plane are not checked before a host reads them.
//!
//! **Parameters and source.** None.
//!
//! **Left out.** Nothing.
//!
//! **Checked by** `policy_laws`.

use super::{Background, Scrubbing};

parameterless!();

impl Background for Policy {
    fn scrubbing(&self) -> Option<Scrubbing> {
        None
    }
}
