//! DPES: ISPE at a lower voltage, with slower programs.
//!
//! **What it does.** Dynamic program and erase scaling. A pulse at the lower voltage wears the block less if
//! `erase.stress_exponent` is more than 0. The cells end less far apart, so that programs of the block need finer
//! steps and take longer until its next erase. With `mode = "always"` all erases are at the lower voltage. With
//! `mode = "slack"` the drive chooses when it orders the erase of an extent: the full voltage if host writes wait, or if
//! data on their way to flash fill more than `full_above` of the buffer's room. (Room is what dirty data leave of
//! the buffer. Without a buffer a write waits until it is programmed.) The choice holds for the whole erase, also
//! if it is suspended or its last loop is deferred, and for all programs until the next one. A block that is erased
//! at the full voltage needs the pulses of `ispe`, wears as under `ispe`, and is programmed in the normal time.
//!
//! **Why it matters for the tail.** It is for the drive's life. Its erases are about as long as those of
//! `ispe`, and its programs longer. With `mode = "slack"` the programs under a heavy load of writes are not longer.
//!
//! **Parameters and source.** `voltage`: against that of `ispe`. `longer_programs`: against the other schemes.
//! Both are assumptions after Jeong et al. (FAST'14), who trade one for the other in several modes.
//! AERO (ASPLOS'24) compares with it. How many pulses blocks need is data (`erase.rows`). `mode`: Jeong et al.
//! choose by how full the write buffer is, which they empty as fast as the flash allows. `full_above`: an
//! assumption.
//!
//! **Left out.** Several low voltages and several program speeds: there is one of each. The past of blocks, ageing
//! and blocks alone (`tailcut lifetime` without a workload) have no host whose writes wait: all erases there are at
//! the lower voltage.
//!
//! **Checked by** `erase` and `voltage` of `testkit`, `flash` of `core`.

use super::{BlockView, EraseContext, EraseScheme, Pulse, VerifyView, WriteLoad};
use crate::policy::PolicyContext;
use serde::{Deserialize, Serialize};
use tailcut_units::quantity;

/// Which erases are at the lower voltage.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Mode {
    /// All.
    Always,
    /// Those that are ordered while the host's writes leave time for slower programs.
    Slack,
}

/// How much lower the voltage is, what that costs, and when.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    /// The voltage of a level, against that of `ispe`.
    ///
    /// - Range: more than 0%, at most 100%
    #[serde(with = "quantity::fraction")]
    pub voltage: f64,
    /// How much longer a program takes of a block that was erased at the lower voltage.
    ///
    /// - Range: 0% to 100%
    #[serde(with = "quantity::fraction")]
    pub longer_programs: f64,
    /// Which erases are at the lower voltage.
    pub mode: Mode,
    /// With `mode = "slack"`: erases are at the full voltage if data on their way to flash fill more than this share
    /// of the buffer's room, which is the part of the write buffer that dirty data leave.
    ///
    /// - Range: 0% to 100%
    #[serde(with = "quantity::fraction")]
    pub full_above: f64,
}

impl Default for Config {
    fn default() -> Config {
        Config { voltage: 0.9, longer_programs: 0.2, mode: Mode::Always, full_above: 0.5 }
    }
}

/// The parameters and the constants of the array.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Policy {
    voltage: f64,
    longer_programs: f64,
    /// The threshold, if erases differ.
    full_above: Option<f64>,
    array: EraseContext,
}

impl Policy {
    /// Fails without the table `erase`, and for a voltage of 0.
    pub fn new(c: &Config, x: &PolicyContext) -> Result<Policy, String> {
        if c.voltage <= 0.0 {
            return Err("policy.erase_scheme.dpes.voltage: more than 0%, at most 100%".into());
        }
        Ok(Policy {
            voltage: c.voltage,
            longer_programs: c.longer_programs,
            full_above: (c.mode == Mode::Slack).then_some(c.full_above),
            array: EraseContext::of(x)?,
        })
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
    fn chooses_voltage(&self) -> bool {
        self.full_above.is_some()
    }
    fn at_full_voltage(&self, load: &WriteLoad) -> bool {
        let above = |share: f64| f64::from(load.in_flight) > share * f64::from(load.room);
        self.full_above.is_some_and(|share| load.waits || above(share))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_voltage_follows_the_load() {
        let array = EraseContext {
            step_ns: 1,
            steps_per_level: 7,
            levels: 5,
            gamma: 1,
            delta: 1,
            high: 1,
            residual_errors: 0,
        };
        let policy = |full_above| Policy { voltage: 0.9, longer_programs: 0.2, full_above, array };
        let full = |share, in_flight, room, waits| {
            policy(share).at_full_voltage(&WriteLoad { in_flight, room, waits })
        };
        assert_eq!([10, 11].map(|n| full(Some(0.5), n, 20, false)), [false, true]);
        assert_eq!([0, 1].map(|n| full(Some(0.0), n, 20, false)), [false, true]);
        assert!(!full(Some(1.0), 20, 20, false) && full(Some(1.0), 0, 20, true));
        assert!(!full(Some(0.5), 0, 0, false), "a drive without a buffer");
        assert!(!full(None, 20, 20, true) && !policy(None).chooses_voltage());
    }
}
