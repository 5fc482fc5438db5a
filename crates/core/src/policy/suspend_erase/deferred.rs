//! Deferred (D-ES): finish the loop, then serve what waits, then continue.
//!
//! **What it does.** A loop that has begun always completes. Between two loops the die serves
//! reads: with `suspend.erase.serve = "queued"` the reads that were queued when the loop ended and
//! no later arrival, with `"all"` every read until none waits.
//!
//! **Why it helps the tail.** A read waits for one loop at most. With `queued` every erase ends in
//! bounded time regardless of later arrivals, at no cost and no wear. With `all` an erase under
//! reads without a pause stays suspended between two loops, as with `arbitrary`.
//!
//! **Parameters and source.** `suspend.erase.serve` of the device, as the paper can be read both
//! ways. ATC'19 section 2.3: "in lieu of proceeding to the next erase step, the read request(s) is
//! (are) served. Then, the erase operation resumes" does not say whether a read that arrives
//! meanwhile is one of them. "This mechanism lets the erase operation finish without incurring the
//! write starvation problem" and "guarantees forward progress" hold only with `queued`, so `z-ssd`
//! has `queued`. The authors' code serves reads until the chip's read queue is empty, so
//! `z-ssd-artifact` has `all`.
//!
//! **Left out.** Nothing.
//!
//! **Checked by** `flash` of `core`, `suspension`.

use super::{EraseStop, EraseView, PolicyContext, Serve, SuspendErase};
use serde::{Deserialize, Serialize};

/// This policy has no parameters of its own.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {}

/// Which operations the drive serves between two loops.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Policy(Serve);

impl Policy {
    /// Always possible.
    pub fn new(_: &Config, x: &PolicyContext) -> Result<Policy, String> {
        Ok(Policy(x.served_after_loop))
    }
}

impl SuspendErase for Policy {
    #[inline]
    fn suspends(&self) -> bool {
        true
    }
    #[inline]
    fn stop(&self, _: &EraseView) -> EraseStop {
        EraseStop::AfterLoop
    }
    #[inline]
    fn serve(&self, _: &EraseView) -> Serve {
        self.0
    }
}
