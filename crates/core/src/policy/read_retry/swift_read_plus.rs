//! Swift-read-plus: swift-read that keeps the V_REF found by the last retry.
//!
//! **What it does.** The controller keeps one V_REF for each group of blocks (neighbouring blocks of one plane): that
//! of the last retry in the group whose data could be decoded. First senses of the group use it. A page that cannot be
//! decoded follows `swift-read`.
//!
//! **Why it matters for the tail.** Pages whose neighbours are as old need no retry. Data of other ages in the same
//! group are sensed at a wrong V_REF. `SWR+` of RiF (HPCA'24).
//!
//! **Parameters and source.** `deviation`: of the V_REF that the die finds around the optimum, in steps.
//! Swift-Read (Kim et al., ISSCC 2022) finds V_REF from the number of ones in a sense. How well is not
//! published: an assumption.
//!
//! `group`: blocks that share a V_REF; RiF does not say how many: an assumption.
//!
//! **Left out.** A V_REF for each boundary, or for each layer; and how the table is kept over a loss of power.
//!
//! **Checked by** `senses` of `core`.

use super::{Aim, FailedView, ReadRetry, Sense, at_optimum, parts};
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
    /// Blocks of a plane with neighbouring numbers that share a V_REF.
    ///
    /// - Range: 1 to 65536
    pub group: u32,
}

impl Default for Config {
    fn default() -> Config {
        Config { deviation: 0.5, group: 16 }
    }
}

/// The parameters.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Policy {
    deviation: u16,
    group: u32,
}

impl Policy {
    /// Fails for values out of range.
    pub fn new(c: &Config, _: &PolicyContext) -> Result<Policy, String> {
        if !(1..=65_536).contains(&c.group) {
            return Err(format!("policy.read_retry.swift-read-plus.group is {}: 1 to 65536 blocks", c.group));
        }
        Ok(Policy { deviation: parts("swift-read-plus.deviation", c.deviation)?, group: c.group })
    }
}

impl ReadRetry for Policy {
    #[inline]
    fn first(&self) -> Aim {
        Aim::Tracked
    }
    #[inline]
    fn tracked_blocks(&self) -> u32 {
        self.group
    }
    #[inline]
    fn next(&self, view: &FailedView) -> Option<Sense> {
        at_optimum(view, 3, self.deviation)
    }
}
