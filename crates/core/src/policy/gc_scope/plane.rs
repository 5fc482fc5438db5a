//! Plane-blocking: a collection closes the dies of its lane.
//!
//! **What it does.** From its first read to its last erase, host operations to the
//! lane's dies (planes, where planes are the busy unit) wait.
//!
//! **Why it matters for the tail.** Only the collecting plane's data wait; with parity
//! elsewhere they need not (ttFlash).
//!
//! **Parameters and source.** None. ttFlash (FAST'17) §4.1.
//!
//! **Left out.** Nothing.
//!
//! **Checked by** `policy_laws`.

use super::{GcScope, PolicyContext, Scope};
use serde::{Deserialize, Serialize};

/// No parameters.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {}

/// No state.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Policy;

impl Policy {
    /// Always possible.
    pub fn new(_: &Config, _: &PolicyContext) -> Result<Policy, String> {
        Ok(Policy)
    }
}

impl GcScope for Policy {
    #[inline]
    fn scope(&self) -> Scope {
        Scope::Unit
    }
}
