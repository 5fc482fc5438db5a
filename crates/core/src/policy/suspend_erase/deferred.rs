//! Deferred (D-ES): finish the loop, then serve what waits, then go on.
//!
//! **What it does.** A loop that has begun always completes. Between two loops the die serves
//! reads: with `suspend.erase.serve = "queued"` those that waited when the loop ended and no
//! later arrival, with `"all"` every read until none waits.
//!
//! **Why it helps the tail.** A read waits for a loop at most. With `queued` every erase ends in
//! bounded time whatever arrives, at no cost and no wear. With `all` an erase under reads
//! without a pause stands still between two loops, as with `arbitrary`.
//!
//! **Parameters and source.** `suspend.erase.serve` of the device, as the paper can be read both
//! ways. ATC'19 section 2.3: "in lieu of proceeding to the next erase step, the read request(s)
//! is (are) served. Then, the erase operation resumes" leaves open whether a read that arrives
//! meanwhile is one of them. "This mechanism lets the erase operation finish without incurring
//! the write starvation problem" and "guarantees forward progress" hold only with `queued`, which
//! `z-ssd` therefore has. The authors' code serves until the chip's read queue is empty, which
//! `z-ssd-artifact` has.
//!
//! **Left out.** Nothing.
//!
//! **Checked by** `suspension`.

use super::{EraseStop, EraseView, PolicyContext, Serve, SuspendErase};
use serde::{Deserialize, Serialize};

/// This policy has no parameters of its own.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {}

/// What the drive serves between two loops.
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
