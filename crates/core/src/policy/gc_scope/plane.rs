//! Plane-blocking: a collection closes the dies of its lane.
//!
//! **What it does.** From the first read of a collection to its last erase, host operations to the
//! lane's dies (planes, where planes are the busy unit) wait. Where reads may interrupt an erase,
//! they wait only until the erases begin.
//!
//! **Why it matters for the tail.** Only requests for the collecting plane wait; with parity on
//! other planes, reads need not wait either (ttFlash).
//!
//! **Parameters and source.** `one_per_channel`: only one plane per channel collects at a time, as
//! in the authors' simulator. ttFlash (FAST'17) §4.1.
//!
//! **Left out.** Nothing.
//!
//! **Checked by** `policy_laws`.

use super::{GcScope, PolicyContext, Scope};
use serde::{Deserialize, Serialize};

/// How many planes of a channel collect at a time.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    /// Whether only one plane per channel collects at a time.
    pub one_per_channel: bool,
}

/// The parameter.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Policy {
    one_per_channel: bool,
}

impl Policy {
    /// Always possible.
    pub fn new(c: &Config, _: &PolicyContext) -> Result<Policy, String> {
        Ok(Policy { one_per_channel: c.one_per_channel })
    }
}

impl GcScope for Policy {
    #[inline]
    fn scope(&self) -> Scope {
        Scope::Unit { alone: self.one_per_channel }
    }
}
