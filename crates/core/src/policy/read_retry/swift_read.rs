//! Swift-read: after a failed decoding the die finds V_REF by itself and senses again.
//!
//! **What it does.** The first sense has V_REF at its default. If the data cannot be decoded, the controller issues a
//! sense for which the die finds V_REF, up to three times.
//!
//! **Why it matters for the tail.** One retry is nearly always enough. The failed page still crosses the
//! channel and takes the longest decoding. `SWR` of RiF (HPCA'24).
//!
//! **Parameters and source.** `deviation`: of the V_REF that the die finds around the optimum, in steps.
//! Swift-Read (Kim et al., ISSCC 2022) finds V_REF from the number of ones in a sense. How well is not
//! published: an assumption.
//!
//! **Left out.** A die that must sense at the default first to count ones: the count is that of the failed sense.
//!
//! **Checked by** `senses` of `core`.

use super::{FailedView, ReadRetry, Sense, at_optimum, parts};
use crate::policy::PolicyContext;
use serde::{Deserialize, Serialize};

/// How well the die finds V_REF.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    /// Standard deviation of V_REF around the optimum, in steps.
    ///
    /// - Range: 0 to 100
    pub deviation: f64,
}

impl Default for Config {
    fn default() -> Config {
        Config { deviation: 0.5 }
    }
}

/// The parameter.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Policy {
    deviation: u16,
}

impl Policy {
    /// Fails for values out of range.
    pub fn new(c: &Config, _: &PolicyContext) -> Result<Policy, String> {
        Ok(Policy { deviation: parts("swift-read.deviation", c.deviation)? })
    }
}

impl ReadRetry for Policy {
    #[inline]
    fn next(&self, view: &FailedView) -> Option<Sense> {
        at_optimum(view, 3, self.deviation)
    }
}
