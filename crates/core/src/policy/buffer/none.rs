//! Write-through: a host write completes when the flash has programmed it.
//!
//! **What it does.** Data pass through controller staging memory that is as large as
//! the device queue can fill; nothing is overwritten in place.
//!
//! **Why it matters for the tail.** Every write waits for its program, and whatever
//! holds the die; reads never hit a buffer.
//!
//! **Parameters and source.** None.
//!
//! **Left out.** Nothing.
//!
//! **Checked by** `write_through_completes_when_programmed` (theory tests).

use super::{Acknowledge, Buffer, PolicyContext};
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

impl Buffer for Policy {
    fn capacity(&self) -> Option<u64> {
        None
    }
    fn acknowledge(&self) -> Acknowledge {
        Acknowledge::WhenProgrammed
    }
    fn overwrites_in_place(&self) -> bool {
        false
    }
    fn survives_power_cut(&self) -> bool {
        false
    }
}
