//! How blocks erase, for schemes that choose their pulses.

use super::requirement::Row;
use crate::nand::config::LONGEST_PULSE;
use crate::nand::loops::MOST_LOOPS;
use crate::problem::{ConfigProblem, check_count, refuse};
use serde::{Deserialize, Serialize};
use tailcut_units::{Span, quantity};

/// Most voltage levels: an erase may take a short pulse before one at each.
const MOST_LEVELS: u32 = MOST_LOOPS as u32 - 1;
/// Most steps that an erase may need.
pub(super) const MOST_STEPS: u32 = 250;

/// The array under an erase scheme other than `fixed`: pulses, results of verifies, stress and errors.
///
/// - Read by: the erases of a block (`nand::erase::chip`), planned in `array::eraser`
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EraseConfig {
    /// The unit of pulse time. All pulses are multiples of it.
    ///
    /// - Range: more than 0ns; divides `erase.pulse` and all times of `erase.rows`
    #[serde(with = "quantity::time")]
    pub step: Span,
    /// The longest pulse at one voltage (tEP). An erase that needs more continues at the next voltage.
    ///
    /// - Range: more than 0ns; a multiple of `erase.step`, at most 250 times as long and at most 4s
    #[serde(with = "quantity::time")]
    pub pulse: Span,
    /// Number of voltage levels. All pulses after the first one at the last level are at the last level too.
    ///
    /// - Range: 1 to 11; times `erase.pulse` at most 250 steps, and enough for `erase.rows`
    pub levels: u32,
    /// Largest number of fail bits that a verify counts when one step is missing (gamma).
    ///
    /// - Range: 2 to 1000000; more than `erase.pass`
    pub gamma: u32,
    /// Fail bits that each further missing step adds (delta).
    ///
    /// - Range: 1 to 1000000
    pub delta: u32,
    /// Number of fail bits above which a count does not show how many steps are missing (F_HIGH). The next pulse is
    /// then a whole one.
    ///
    /// - Range: 2 to 1000000; at least `erase.gamma`
    pub high: u32,
    /// Number of fail bits up to which a block counts as erased (F_PASS).
    ///
    /// - Range: at least 0; less than `erase.gamma`
    pub pass: u32,
    /// Standard deviation of the fail bits that a verify counts before the block is erased.
    ///
    /// - Range: 0 to 1000000
    pub noise: u32,
    /// Share of erases that need one step more than the fail bits show.
    ///
    /// - Range: 0% to 100%
    #[serde(with = "quantity::fraction")]
    pub misprediction: f64,
    /// The cycles at which the rows of `erase.rows` are looked up.
    ///
    /// - Read by: the plans of erases (`array::eraser`)
    pub reading: Reading,
    /// Exponent of the voltage level in the stress of a pulse. With 0 the stress does not depend on the voltage.
    ///
    /// - Range: 0 to 10
    pub stress_exponent: f64,
    /// Stress of over-erase (pulse time after the block is erased), relative to that of pulse time that the block
    /// needs. The rows of `aero-cons` give the needed time, because those pulses end when the block is erased. Without
    /// such rows, all pulse time counts as needed.
    ///
    /// - Range: 0 to 100
    pub over_erase_stress: f64,
    /// Program/erase cycles that each erase of the run stands for, so that a lifetime needs fewer erases. Wear
    /// levelling and `age.pe_cycles` count cycles. With 1 an erase is a cycle.
    ///
    /// - Range: 1 to 10000
    pub cycles_per_erase: u32,
    /// Whether the last loop of an erase is deferred until its extent is opened. The extent counts as free before, and
    /// its first programs wait for that loop. Collections without duration have no such loop.
    ///
    /// - Range: false where an erase may fail (`faults`, `fault`)
    /// - Read by: the erases of extents (`device::gc::erase`)
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub defer_last_loop: bool,
    /// Expected raw bit errors per KiB of a fresh block at the stated retention.
    ///
    /// - Range: 0 to 8192; at most `erase.worn_errors`
    pub fresh_errors: u32,
    /// Expected raw bit errors per KiB, at the stated retention, of a block that has been erased `erase.worn_cycles`
    /// times by full pulses.
    ///
    /// - Range: 0 to 8192
    pub worn_errors: u32,
    /// Program/erase cycles after which a block erased by full pulses has `erase.worn_errors`.
    ///
    /// - Range: 1 to 1000000
    pub worn_cycles: u32,
    /// Standard deviation of the growth of the errors from block to block, as a share of its mean.
    ///
    /// - Range: 0% to 50%
    #[serde(with = "quantity::fraction")]
    pub error_spread: f64,
    /// Raw bit errors per KiB that an erase adds if it ends with `erase.delta` fail bits.
    ///
    /// - Range: 0 to 8192
    pub residual_errors: u32,
    /// The total pulse time that blocks need: for each scheme, and for some numbers of program/erase cycles, the shares
    /// of the blocks by total. A text such as "aero 500: 2ms 42, 2.5ms 58". Shares are in percent. Rows `aero-50` are
    /// those of `aero` with a requirement of 50 errors (`policy.erase_scheme.aero.requirement`).
    ///
    /// - Range: 1 to 1000 rows
    /// - Read by: the requirement of a block (`nand::erase::requirement`)
    pub rows: Vec<Row>,
}

/// The meaning of the program/erase cycles of a row of requirements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reading {
    /// The block's cycles under the scheme itself, so that the rows include the stress that the scheme has saved.
    Cycles,
    /// The cycles of full pulses that would have caused the block's stress.
    Stress,
}

impl EraseConfig {
    /// Steps of the longest pulse.
    pub fn steps_per_level(&self) -> u32 {
        (self.pulse.0 / self.step.0) as u32
    }

    pub(crate) fn check(&self) -> Result<(), ConfigProblem> {
        if self.step.0 == 0 || self.step.0 > 1_000_000_000 {
            return refuse("erase.step", "more than 0 ns, at most 1 s");
        }
        let steps = self.pulse.0 / self.step.0;
        if !self.pulse.0.is_multiple_of(self.step.0) || steps == 0 || steps > u64::from(MOST_STEPS) {
            return refuse("erase.pulse", format!("a multiple of erase.step, 1 to {MOST_STEPS} times it"));
        }
        if self.pulse > LONGEST_PULSE {
            let most = quantity::format_time(LONGEST_PULSE);
            return refuse("erase.pulse", format!("at most {most}"));
        }
        check_count("erase.levels", self.levels, MOST_LEVELS)?;
        if steps * u64::from(self.levels) > u64::from(MOST_STEPS) {
            return refuse("erase.levels", format!("levels times pulse is more than {MOST_STEPS} steps"));
        }
        check_count("erase.delta", self.delta, 1_000_000)?;
        for (key, bits) in
            [("pass", self.pass), ("noise", self.noise), ("gamma", self.gamma), ("high", self.high)]
        {
            if bits > 1_000_000 {
                return refuse(&format!("erase.{key}"), format!("{bits}: at most 1000000"));
            }
        }
        if self.gamma < 2 || self.gamma <= self.pass {
            return refuse("erase.gamma", "at least 2, and more than erase.pass");
        }
        if self.high < self.gamma {
            return refuse("erase.high", format!("{}: at least erase.gamma, {}", self.high, self.gamma));
        }
        if !(0.0..=1.0).contains(&self.misprediction) {
            return refuse("erase.misprediction", "a share from 0% to 100%");
        }
        if !(0.0..=10.0).contains(&self.stress_exponent) {
            return refuse("erase.stress_exponent", "a number from 0 to 10");
        }
        if !(0.0..=100.0).contains(&self.over_erase_stress) {
            return refuse("erase.over_erase_stress", "a number from 0 to 100");
        }
        check_count("erase.worn_cycles", self.worn_cycles, 1_000_000)?;
        let errors = [("fresh_errors", self.fresh_errors), ("worn_errors", self.worn_errors)];
        for (key, bits) in errors.into_iter().chain([("residual_errors", self.residual_errors)]) {
            if bits > 8192 {
                return refuse(&format!("erase.{key}"), format!("{bits}: a KiB has 8192 bits"));
            }
        }
        check_count("erase.cycles_per_erase", self.cycles_per_erase, 10_000)?;
        if !(0.0..=0.5).contains(&self.error_spread) {
            return refuse("erase.error_spread", "a share from 0% to 50%");
        }
        if self.fresh_errors > self.worn_errors {
            return refuse("erase.fresh_errors", "at most erase.worn_errors");
        }
        self.check_rows()
    }

    fn check_rows(&self) -> Result<(), ConfigProblem> {
        if self.rows.is_empty() || self.rows.len() > 1000 {
            return refuse("erase.rows", format!("{} rows; 1 to 1000", self.rows.len()));
        }
        let most = self.pulse.0 * u64::from(self.levels);
        for (i, row) in self.rows.iter().enumerate() {
            let problem = |text: String| refuse("erase.rows", format!("row {} ({row}): {text}", i + 1));
            if let Some(&(total, _)) = row
                .totals
                .iter()
                .find(|(total, _)| total.0 == 0 || !total.0.is_multiple_of(self.step.0) || total.0 > most)
            {
                let [total, step, most] = [total, self.step, Span(most)].map(quantity::format_time);
                return problem(format!("{total} is no multiple of {step} (erase.step) up to {most}"));
            }
            let same = |other: &Row| (&other.scheme, other.pe_cycles) == (&row.scheme, row.pe_cycles);
            if self.rows[..i].iter().any(same) {
                return problem("there is a row of this scheme and these cycles already".to_string());
            }
        }
        Ok(())
    }
}
