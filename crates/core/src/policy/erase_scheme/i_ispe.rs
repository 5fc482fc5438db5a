//! i-ISPE: ISPE that starts at the voltage level with which the block's last erase ended.
//!
//! **What it does.** Remembers how many pulses the last erase of each block took. The next erase begins with a full
//! pulse at the voltage level of that number, and continues like `ispe`.
//!
//! **Why it matters for the tail.** Old blocks need fewer pulses. Each is at a higher voltage, which wears
//! the block more if `erase.stress_exponent` is more than 0.
//!
//! **Parameters and source.** None. Intelligent ISPE, as AERO (ASPLOS'24) compares with it. How many pulses
//! blocks need is data (`erase.rows`): at 2,500 cycles mostly two instead of three.
//!
//! **Left out.** Nothing.
//!
//! **Checked by** `erase` of `testkit`.

use super::{BlockView, EraseContext, EraseScheme, Pulse, VerifyView};
use crate::policy::PolicyContext;
use serde::{Deserialize, Serialize};

/// No parameters.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {}

/// The constants of the array.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Policy(EraseContext);

impl Policy {
    /// Fails without the table `erase`.
    pub fn new(_: &Config, x: &PolicyContext) -> Result<Policy, String> {
        Ok(Policy(EraseContext::of(x)?))
    }
}

impl EraseScheme for Policy {
    #[inline]
    fn rows(&self) -> Option<&'static str> {
        Some("i-ispe")
    }
    fn first(&self, block: &BlockView) -> Pulse {
        self.0.full(block.pulses.max(1))
    }
    fn next(&self, _: &BlockView, verify: &VerifyView) -> Option<Pulse> {
        Some(self.0.full(verify.level + 1))
    }
}
