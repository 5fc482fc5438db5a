//! Rp-controller: the controller predicts that decoding will fail, and does not decode.
//!
//! **What it does.** As `swift-read`, but behind the channel the syndrome weight of one codeword of each page is compared
//! with a threshold. Pages above it are not decoded but sensed again.
//!
//! **Why it matters for the tail.** The decoder does not waste time on pages that fail. They
//! still cross the channel. `RPSSD` of RiF (HPCA'24).
//!
//! **Parameters and source.** `deviation`: of the V_REF that the die finds around the optimum, in steps.
//! Swift-Read (Kim et al., ISSCC 2022) finds V_REF from the number of ones in a sense. How well is not
//! published: an assumption.
//! `predict` (2.5 us: 4 KiB in segments of 128 bits at 100 MHz) is of RiF. Its threshold belongs to its code; that of this
//! code follows from the table of the decoder.
//!
//! **Left out.** A prediction for each codeword.
//!
//! **Checked by** `senses` of `core`.

use super::{FailedView, Predictor, PredictorSite, ReadRetry, Sense, at_optimum, parts};
use crate::policy::PolicyContext;
use serde::{Deserialize, Serialize};
use tailcut_units::{Span, quantity};

/// The predictor, and how well the die finds V_REF.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    /// Standard deviation of V_REF around the optimum, in steps.
    ///
    /// - Range: 0 to 100
    pub deviation: f64,
    /// Time of a prediction.
    ///
    /// - Range: 0ns to 1s
    #[serde(with = "quantity::time")]
    pub predict: Span,
    /// Largest syndrome weight over the first 1,024 checks of one codeword that counts as correctable. Without this key: the
    /// mean weight at the correction limit of the code.
    ///
    /// - Range: 0 to 1024
    #[serde(skip_serializing_if = "Option::is_none")]
    pub threshold: Option<u32>,
}

impl Default for Config {
    fn default() -> Config {
        Config { deviation: 0.5, predict: Span(2_500), threshold: None }
    }
}

/// The predictor.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Policy {
    predictor: Predictor,
}

impl Policy {
    /// Fails for values out of range.
    pub fn new(c: &Config, _: &PolicyContext) -> Result<Policy, String> {
        let deviation = parts("rp-controller.deviation", c.deviation)?;
        let predictor =
            Predictor::new("rp-controller", PredictorSite::Controller, c.predict, c.threshold, deviation)?;
        Ok(Policy { predictor })
    }
}

impl ReadRetry for Policy {
    #[inline]
    fn predictor(&self) -> Option<Predictor> {
        Some(self.predictor)
    }
    #[inline]
    fn next(&self, view: &FailedView) -> Option<Sense> {
        at_optimum(view, 3, self.predictor.deviation)
    }
}
