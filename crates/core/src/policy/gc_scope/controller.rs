//! Controller-blocking: a collection closes the whole drive.
//!
//! **What it does.** While it runs, all host flash operations wait, and no other
//! collection starts.
//!
//! **Why it matters for the tail.** The worst case: a single-threaded controller that
//! cleans and does nothing else.
//!
//! **Parameters and source.** None. ttFlash (FAST'17) §3.
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
        Scope::Controller
    }
}
