//! ISPE: full pulses, each at a higher voltage, until the block is erased.
//!
//! **What it does.** Incremental step pulse erasure, the conventional scheme. A pulse of the full length
//! (`erase.pulse`, 3.5 ms) is followed by a verify. If the block is not erased, the next pulse has the next
//! voltage level.
//!
//! **Why it matters for the tail.** An old block takes up to five pulses (17.5 ms), although it may need only
//! a part of the last one. A read that waits for the erase waits for all of it.
//!
//! **Parameters and source.** None. AERO (ASPLOS'24), the baseline of its evaluation.
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

/// The scheme `ispe`.
pub type Policy = FullPulses<false>;

/// Full pulses only. `REMEMBERS`: the first has the voltage level at which the block's last erase ended, otherwise the
/// lowest.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct FullPulses<const REMEMBERS: bool>(EraseContext);

impl<const REMEMBERS: bool> FullPulses<REMEMBERS> {
    /// Fails without the table `erase`.
    pub fn new(_: &Config, x: &PolicyContext) -> Result<FullPulses<REMEMBERS>, String> {
        Ok(FullPulses(EraseContext::of(x)?))
    }
}

impl<const REMEMBERS: bool> EraseScheme for FullPulses<REMEMBERS> {
    #[inline]
    fn rows(&self) -> Option<&'static str> {
        Some(if REMEMBERS { "i-ispe" } else { "ispe" })
    }
    fn first(&self, block: &BlockView) -> Pulse {
        self.0.full(if REMEMBERS { block.pulses.max(1) } else { 1 })
    }
    fn next(&self, _: &BlockView, verify: &VerifyView) -> Option<Pulse> {
        Some(self.0.full(verify.level + 1))
    }
}
