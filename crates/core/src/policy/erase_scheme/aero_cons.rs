//! AERO without aggressive pulses: each pulse only as long as the fail bits tell.
//!
//! **What it does.** The first pulse of a block is short (`shallow`). The verify after it counts the fail bits, and a
//! table gives the pulse for that count: one step up to `erase.gamma` fail bits, and one more for each `erase.delta`
//! above. If the pulse does not fit into the rest of the voltage level, it takes that rest, and a pulse at the next
//! level follows. A block whose short pulse and next pulse fill the level gets no further short pulses, because they
//! would only add a verify.
//!
//! **Why it matters for the tail.** An erase ends when its block is erased: a young block takes 2 to 2.5 ms
//! instead of 3.5 ms.
//!
//! **Parameters and source.** `shallow`: 1 ms. AERO (ASPLOS'24): fail-bit-count-based prediction, shallow
//! erasure, erase-timing table and shallow-erase flags; AERO_CONS of its evaluation. `always_shallow`: the
//! authors' simulator makes the short pulse before every erase.
//!
//! **Left out.** Nothing.
//!
//! **Checked by** `erase` of `testkit`.

use super::EraseContext;
use super::aero::Timed;
use crate::policy::PolicyContext;
use crate::policy::erase_timing::EraseTiming;
use serde::{Deserialize, Serialize};
use tailcut_units::{Span, quantity};

/// The first pulse.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    /// Length of the first pulse of a block.
    ///
    /// - Range: more than 0ns; less than `erase.pulse`, a multiple of `erase.step`
    #[serde(with = "quantity::time")]
    pub shallow: Span,
    /// Whether every erase begins with the first pulse, also where it only adds a verify.
    pub always_shallow: bool,
    /// Erase-timing table: the most fail bits with which 1, 2, ... steps of `erase.step` more erase a block. With more
    /// the next pulse is a whole one. Empty: `erase.gamma` with one step and `erase.delta` more with each further step,
    /// up to `erase.high`.
    ///
    /// - Range: at most 255 numbers, which rise
    pub table: Vec<u32>,
}

impl Default for Config {
    fn default() -> Config {
        Config { shallow: Span(1_000_000), always_shallow: false, table: Vec::new() }
    }
}

/// The scheme `aero-cons`.
pub type Policy = Timed<false>;

impl Policy {
    /// Fails without the table `erase`, and if `shallow` does not fit it.
    pub fn new(c: &Config, x: &PolicyContext) -> Result<Policy, String> {
        let table = EraseTiming::new(&EraseContext::of(x)?, c.shallow, &c.table, "aero-cons")?;
        Ok(Timed(table.always_shallow(c.always_shallow)))
    }
}
