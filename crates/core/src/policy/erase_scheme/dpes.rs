//! DPES: ISPE at a lower voltage, with slower programs.
//!
//! **What it does.** Dynamic program and erase scaling. All pulses have a lower voltage, so that they wear the
//! block less if `erase.stress_exponent` is more than 0. The cells end less far apart, so that programs need finer steps and take longer.
//!
//! **Why it matters for the tail.** It is for the drive's life. Its erases are about as long as those of
//! `ispe`, and its programs longer.
//!
//! **Parameters and source.** `voltage`: against that of `ispe`. `longer_programs`: against the other schemes.
//! Both are assumptions after Jeong et al. (FAST'14), who trade one for the other in several modes.
//! AERO (ASPLOS'24) compares with it. How many pulses blocks need is data (`erase.rows`).
//!
//! **Left out.** The choice of a mode by the idle time of the host: the mode is the same for the whole run.
//!
//! **Checked by** `erase` of `testkit`.

use super::{BlockView, EraseContext, EraseScheme, Pulse, VerifyView};
use crate::policy::PolicyContext;
use serde::{Deserialize, Serialize};
use tailcut_units::quantity;

/// How much lower the voltage is, and what that costs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    /// The voltage of a level, against that of `ispe`.
    ///
    /// - Range: more than 0%, at most 100%
    #[serde(with = "quantity::fraction")]
    pub voltage: f64,
    /// How much longer a program takes.
    ///
    /// - Range: 0% to 100%
    #[serde(with = "quantity::fraction")]
    pub longer_programs: f64,
}

impl Default for Config {
    fn default() -> Config {
        Config { voltage: 0.9, longer_programs: 0.2 }
    }
}

/// The parameters and the constants of the array.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Policy {
    voltage: f64,
    longer_programs: f64,
    array: EraseContext,
}

impl Policy {
    /// Fails without the table `erase`, and for a voltage of 0.
    pub fn new(c: &Config, x: &PolicyContext) -> Result<Policy, String> {
        if c.voltage <= 0.0 {
            return Err("policy.erase_scheme.dpes.voltage: more than 0%, at most 100%".into());
        }
        Ok(Policy { voltage: c.voltage, longer_programs: c.longer_programs, array: EraseContext::of(x)? })
    }
}

impl EraseScheme for Policy {
    #[inline]
    fn rows(&self) -> Option<&'static str> {
        Some("dpes")
    }
    fn first(&self, _: &BlockView) -> Pulse {
        self.array.full(1)
    }
    fn next(&self, _: &BlockView, verify: &VerifyView) -> Option<Pulse> {
        Some(self.array.full(verify.level + 1))
    }
    fn voltage(&self) -> f64 {
        self.voltage
    }
    fn program_time(&self) -> f64 {
        1.0 + self.longer_programs
    }
}
