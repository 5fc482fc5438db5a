//! Never: an erase runs to its end.
//!
//! **What it does.** An operation that waits for the die waits for the whole erase.
//!
//! **Why it matters for the tail.** On a drive whose collection yields to reads, the erase is the
//! longest operation that a read can wait for: the baseline of ATC'19.
//!
//! **Parameters and source.** None.
//!
//! **Left out.** Nothing.
//!
//! **Checked by** `flash` of `core`, `suspension`.

use super::{EraseStop, EraseView, Serve, SuspendErase};

parameterless!();

impl SuspendErase for Policy {
    #[inline]
    fn suspends(&self) -> bool {
        false
    }
    fn stop(&self, _: &EraseView) -> EraseStop {
        EraseStop::AfterLoop
    }
    fn serve(&self, _: &EraseView) -> Serve {
        Serve::Queued
    }
}
