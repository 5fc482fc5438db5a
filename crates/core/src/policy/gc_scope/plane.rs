//! Plane-blocking: a collection closes the dies of its lane.
//!
//! **What it does.** From its first read to its last erase, host operations to the
//! lane's dies (planes, where planes are the busy unit) wait.
//!
//! **Why it matters for the tail.** Only the collecting plane's data wait; with parity
//! elsewhere they need not (ttFlash).
//!
//! **Parameters and source.** `one_per_channel`: collections of planes on one channel take
//! turns, as in the authors' simulator. ttFlash (FAST'17) §4.1.
//!
//! **Left out.** Nothing.
//!
//! **Checked by** `policy_laws`.

use super::{GcScope, PolicyContext, Scope};
use serde::{Deserialize, Serialize};

/// How many collect.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    /// Whether collections of planes on one channel take turns.
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
