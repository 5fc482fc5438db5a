//! RiF: the die predicts that decoding will fail, and senses the page again before it leaves the die.
//!
//! **What it does.** After the first sense the die compares the syndrome weight of one codeword of each page with a
//! threshold. Pages above it are sensed again with the V_REF that the die finds, without a second prediction. Then the data
//! cross the channel. A page that was predicted wrongly follows `swift-read`.
//!
//! **Why it matters for the tail.** Data that cannot be decoded cross no channel and reach no decoder.
//! The price is the time of the prediction on every read. RiF (HPCA'24).
//!
//! **Parameters and source.** `deviation`: of the V_REF that the die finds around the optimum, in steps.
//! Swift-Read (Kim et al., ISSCC 2022) finds V_REF from the number of ones in a sense. How well is not
//! published: an assumption.
//! `predict` (2.5 us: 4 KiB in segments of 128 bits at 100 MHz) is of RiF. The checks of this code read the parity of the
//! codeword, too, which would take 2.9 us. Its threshold belongs to its code; that of this
//! code follows from the table of the decoder.
//!
//! `overlap`: dies that can sense while they predict; the sources leave it open.
//!
//! **Left out.** All planes of a multi-plane sense are predicted at once.
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
    /// Whether the second sense begins together with the prediction, and is dropped if the prediction is good. Then a
    /// prediction takes time only from reads that need no second sense.
    pub overlap: bool,
}

impl Default for Config {
    fn default() -> Config {
        Config { deviation: 0.5, predict: Span(2_500), threshold: None, overlap: false }
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
        let deviation = parts("rif.deviation", c.deviation)?;
        let predictor = Predictor::new("rif", PredictorSite::Die, c.predict, c.threshold, deviation)?;
        Ok(Policy { predictor: Predictor { overlaps: c.overlap, ..predictor } })
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
