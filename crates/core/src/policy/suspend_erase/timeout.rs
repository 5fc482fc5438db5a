//! Timeout: immediate until the erase has been delayed for a while, then deferred.
//!
//! **What it does.** As `immediate` until the clock reaches `after`, and as `deferred` from then
//! on. (Which reads are then served between two loops is `suspend.erase.serve`: see `deferred`.)
//! With `clock = "erase"`, the clock is the time since the erase was queued in which it made no
//! progress; a cancelled loop counts as no progress. With `clock = "oldest-write"`, it is the time
//! that the oldest host write has waited for room in the write buffer, anywhere on the drive.
//!
//! **Why it helps the tail.** Reads are as fast as with `immediate` while there are gaps to erase
//! in. With the clock `oldest-write`, a write waits at most about `after` longer than with
//! `deferred`. With the clock `erase`, it may wait for several erases, each delayed by `after`.
//!
//! **Parameters and source.** `after`: 0 is `deferred`, a very long time `immediate`; 64 ms in
//! ATC'19 section 2.4. `clock`: `erase` is the paper's text, section 2.4 ("performs I-ES until the
//! erase operation is delayed for N ms"). `oldest-write` is the authors' simulator, and it fits the
//! paper's numbers (Table 4: the longest write is a constant and N; see `atc19/table4` and
//! `atc19/fig6` of the reproduction).
//!
//! **Left out.** Nothing.
//!
//! **Checked by** `flash` of `core`, `suspension`.

use super::{EraseStop, EraseView, PolicyContext, Serve, SuspendErase};
use serde::{Deserialize, Serialize};
use tailcut_units::{Span, quantity};

/// How long an erase is suspended at once, and by which clock.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    /// Delay from which on the erase completes the loop under way before it is suspended. Until
    /// then the loop is cancelled.
    #[serde(with = "quantity::time")]
    pub after: Span,
    /// Which delay is compared with `after`.
    pub clock: Clock,
}

/// Which delay is compared with `after`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Clock {
    /// The delay of the erase.
    Erase,
    /// The wait of the oldest host write that waits for buffer room.
    OldestWrite,
}

impl Default for Config {
    fn default() -> Config {
        Config { after: Span(64_000_000), clock: Clock::Erase }
    }
}

/// The parameters, and which operations the drive serves between two loops.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Policy {
    after: Span,
    clock: Clock,
    served_after_loop: Serve,
}

impl Policy {
    /// Always possible.
    pub fn new(c: &Config, x: &PolicyContext) -> Result<Policy, String> {
        Ok(Policy { after: c.after, clock: c.clock, served_after_loop: x.served_after_loop })
    }

    /// Compare with another delay from now on.
    pub fn set_after(&mut self, after: Span) {
        self.after = after;
    }

    fn is_over(&self, view: &EraseView) -> bool {
        let delay = match self.clock {
            Clock::Erase => view.delayed,
            Clock::OldestWrite => view.oldest_write,
        };
        delay >= self.after.0
    }
}

impl SuspendErase for Policy {
    #[inline]
    fn suspends(&self) -> bool {
        true
    }
    #[inline]
    fn stop(&self, view: &EraseView) -> EraseStop {
        if self.is_over(view) { EraseStop::AfterLoop } else { EraseStop::CancelLoop }
    }
    #[inline]
    fn serve(&self, view: &EraseView) -> Serve {
        if self.is_over(view) { self.served_after_loop } else { Serve::All }
    }
}
