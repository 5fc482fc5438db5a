//! Channel-blocking: a collection closes its whole channel.
//!
//! **What it does.** While a collection runs, host operations to every die of the lane's channels
//! wait, and no other collection starts on these channels.
//!
//! **Why it matters for the tail.** All dies of a channel wait for the collection of one die. This
//! is the ordinary drive in ttFlash's comparison.
//!
//! **Parameters and source.** None. The Base of ttFlash (FAST'17) §3.
//!
//! **Left out.** Nothing.
//!
//! **Checked by** `policy_laws`.

use super::{GcScope, Scope};

parameterless!();

impl GcScope for Policy {
    #[inline]
    fn scope(&self) -> Scope {
        Scope::Channel
    }
}
