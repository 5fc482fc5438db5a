//! AERO: each pulse only as long as needed, and shorter while the errors allow it.
//!
//! **What it does.** As `aero-cons`, but a pulse is shorter than the fail bits tell, by up to `left` at its
//! level, while the block's expected errors at the stated retention and those that an incomplete erase adds
//! stay under `requirement`. What is left are residual fail bits, which add errors to the pages of the
//! block until its next erase: reads see them with `faults.correctable` and with the table `errors`, retirement
//! with `faults.worn`. A block that may leave nothing needs what it needs under `aero-cons`.
//!
//! **Why it matters for the tail.** Erases are shorter still, most of all in the middle of a drive's life,
//! and wear the blocks less, so that old blocks need fewer pulses.
//!
//! **Parameters and source.** `requirement`: 63 bits of a KiB, what the drive must stay under to correct 72
//! (AERO, ASPLOS'24; 40 and 50 are its sensitivity study). It chooses the rows of `erase.rows` too: see
//! `nand::erase::requirement`. `left`: one time for each level, an assumption
//! within the 0.5 to 1 ms of the paper. `shallow` and `always_shallow` as `aero-cons`.
//!
//! **Left out.** The errors of single pages and reads: all pages of a block have those that are expected.
//!
//! **Checked by** `erase` of `testkit`.

use super::{BlockView, EraseContext, EraseScheme, Pulse, VerifyView};
use crate::policy::PolicyContext;
use crate::policy::erase_timing::EraseTiming;
use serde::{Deserialize, Serialize};
use tailcut_units::{Span, quantity};

/// The first pulse, and what an erase may leave.
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
    /// Pulse time that an erase may leave, by the level at which it ends. Levels after the last of the list
    /// have its last time.
    ///
    /// - Range: each at least 0ns; not falling, multiples of `erase.step` up to `erase.pulse`
    #[serde(with = "quantity::times")]
    pub left: Vec<Span>,
    /// Raw bit errors of a KiB that a block may have at the stated retention. The rows `aero` of `erase.rows` are
    /// those of `erase.worn_errors` or more, rows `aero-50` those of 50, and with `erase.fresh_errors` or less, which
    /// lets nothing be left, blocks need what they need under `aero-cons`. Between these they need a part of both.
    ///
    /// - Range: 0 to 8192
    pub requirement: u32,
}

impl Default for Config {
    fn default() -> Config {
        Config {
            shallow: Span(1_000_000),
            always_shallow: false,
            table: Vec::new(),
            left: vec![Span(500_000), Span(1_000_000)],
            requirement: 63,
        }
    }
}

/// The scheme `aero`.
pub type Policy = Timed<true>;

/// Pulses by the erase-timing table. `LEAVES`: an erase may be incomplete.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Timed<const LEAVES: bool>(pub(super) EraseTiming);

impl Policy {
    /// Fails without the table `erase`, and if a value does not fit it.
    pub fn new(c: &Config, x: &PolicyContext) -> Result<Policy, String> {
        if c.requirement > 8192 {
            return Err(format!(
                "policy.erase_scheme.aero.requirement = {}: a KiB has 8192 bits",
                c.requirement
            ));
        }
        let array = EraseContext::of(x)?;
        let timing = EraseTiming::new(&array, c.shallow, &c.table, "aero")?.always_shallow(c.always_shallow);
        Ok(Timed(timing.leaving(&array, &c.left, c.requirement)?))
    }
}

impl<const LEAVES: bool> EraseScheme for Timed<LEAVES> {
    #[inline]
    fn rows(&self) -> Option<&'static str> {
        Some(if LEAVES { "aero" } else { "aero-cons" })
    }
    fn first(&self, block: &BlockView) -> Pulse {
        self.0.first(block)
    }
    fn next(&self, block: &BlockView, verify: &VerifyView) -> Option<Pulse> {
        self.0.next(block, verify)
    }
    fn requirement(&self) -> Option<u32> {
        LEAVES.then(|| self.0.requirement())
    }
    fn may_leave(&self, level: u32, errors: u32) -> u32 {
        if LEAVES { self.0.may_leave(level, errors) } else { 0 }
    }
    fn predicts(&self) -> bool {
        true
    }
}
