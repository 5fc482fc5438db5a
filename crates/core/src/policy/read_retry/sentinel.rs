//! Sentinel: V_REF is inferred from an extra read of cells with known contents.
//!
//! **What it does.** A share of the cells of every page holds a known pattern. After a failed decoding, the controller
//! senses the page once more, transfers only these cells, and infers the optimum from their errors, separately for each
//! page of a read. If the page still fails, the controller calibrates the inference. If it fails after that, it finds
//! the optimum by other means.
//!
//! **Why it matters for the tail.** Few retries, each of which costs an extra read.
//!
//! **Parameters and source.** `hits`, `calibrated`: shares of pages for which the inference is right at once
//! (83 %) and after calibration (94 %), Li et al., MICRO 2021, remembered from notes. `miss`: how far off a wrong inference
//! is, in steps: an assumption. By default no page is decoded there. `deviation`: of a right one.
//!
//! `cells`: share of the cells that are known (0.2 %). `extra_read`: whether the inference needs a sense of its own.
//! RiF (HPCA 2024) compares itself with 1.2 retries of Sentinel for each failed page, which are the misses of the first
//! inference alone: its `SENC` has no such sense.
//!
//! **Left out.** The capacity that the known cells take.
//!
//! **Checked by** `senses` of `core`.

use super::{Aim, FailedView, Inference, ReadRetry, Sense, parts};
use crate::policy::PolicyContext;
use serde::{Deserialize, Serialize};
use tailcut_units::quantity;

/// How good the inference is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    /// Share of pages for which the first inference is right.
    ///
    /// - Range: 0% to 100%
    #[serde(with = "quantity::fraction")]
    pub hits: f64,
    /// Share of pages for which the inference is right after calibration.
    ///
    /// - Range: 0% to 100%; at least `policy.read_retry.sentinel.hits`
    #[serde(with = "quantity::fraction")]
    pub calibrated: f64,
    /// Distance of V_REF from the optimum after a wrong inference, in steps.
    ///
    /// - Range: 0 to 100
    pub miss: f64,
    /// Standard deviation of V_REF around the optimum after a right inference, in steps.
    ///
    /// - Range: 0 to 100
    pub deviation: f64,
    /// Share of the cells of a page that are known.
    ///
    /// - Range: 0% to 100%
    #[serde(with = "quantity::fraction")]
    pub cells: f64,
    /// Whether the inference needs a sense of its own. If not, it takes the known cells of the sense that failed.
    pub extra_read: bool,
}

impl Default for Config {
    fn default() -> Config {
        Config { hits: 0.83, calibrated: 0.94, miss: 8.0, deviation: 0.5, cells: 0.002, extra_read: true }
    }
}

/// The parameters.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Policy {
    inference: Inference,
    /// Known cells that a sense is for, in millionths of a page.
    cells: u32,
    extra_read: bool,
}

impl Policy {
    /// Fails for values out of range.
    pub fn new(c: &Config, _: &PolicyContext) -> Result<Policy, String> {
        if c.calibrated < c.hits {
            return Err("policy.read_retry.sentinel.calibrated: at least the share of hits".into());
        }
        let rest = 1.0 - c.hits;
        let second = if rest > 0.0 { (c.calibrated - c.hits) / rest } else { 1.0 };
        let inference = Inference {
            right: [c.hits, second].map(|share| libm::round(share * 4_294_967_296.0) as u64),
            miss: parts("sentinel.miss", c.miss)?,
            deviation: parts("sentinel.deviation", c.deviation)?,
        };
        Ok(Policy {
            inference,
            cells: if c.extra_read { libm::round(c.cells * 1e6) as u32 } else { 0 },
            extra_read: c.extra_read,
        })
    }
}

impl ReadRetry for Policy {
    #[inline]
    fn known_cells(&self) -> u32 {
        self.cells
    }
    #[inline]
    fn inference(&self) -> Inference {
        self.inference
    }
    #[inline]
    fn next(&self, view: &FailedView) -> Option<Sense> {
        match view.senses + u32::from(!self.extra_read) {
            1 => Some(Sense { aim: Aim::Default, decoded: false }),
            2 => Some(Sense { aim: Aim::Inferred(0), decoded: true }),
            3 => Some(Sense { aim: Aim::Inferred(1), decoded: true }),
            4 | 5 => Some(Sense { aim: Aim::Optimum(self.inference.deviation), decoded: true }),
            _ => None,
        }
    }
}
