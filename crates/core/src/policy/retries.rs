//! The common parts of members of `read_retry`: predictors, distances of V_REF, and senses at its optimum.

use super::read_retry::{Aim, FailedView, Predictor, PredictorSite, Sense};
use tailcut_units::Span;

impl Predictor {
    /// A predictor of the member of this name.
    ///
    /// # Errors
    /// A time or a threshold out of range.
    pub(super) fn new(
        name: &str,
        place: PredictorSite,
        predict: Span,
        threshold: Option<u32>,
        deviation: u16,
    ) -> Result<Predictor, String> {
        if predict.0 > 1_000_000_000 {
            return Err(format!("policy.read_retry.{name}.predict: 0ns to 1s"));
        }
        if threshold.is_some_and(|weight| weight > 1024) {
            return Err(format!("policy.read_retry.{name}.threshold: 0 to 1024"));
        }
        Ok(Predictor { place, ns: predict.0, threshold, deviation, overlaps: false })
    }
}

/// Distances are in units of 1/`PARTS` of a step.
const PARTS: f64 = 16.0;

/// A distance in steps as parts of a step.
///
/// # Errors
/// If it is not a number from 0 to 100.
pub(super) fn parts(key: &str, steps: f64) -> Result<u16, String> {
    if !(0.0..=100.0).contains(&steps) {
        return Err(format!("policy.read_retry.{key} = {steps}: 0 to 100 steps"));
    }
    Ok(libm::round(steps * PARTS) as u16)
}

/// The next sense of a member that senses up to `most` times at the optimum, with a normal error of this deviation.
pub(super) fn at_optimum(view: &FailedView, most: u32, deviation: u16) -> Option<Sense> {
    (view.senses <= most).then_some(Sense { aim: Aim::Optimum(deviation), decoded: true })
}
