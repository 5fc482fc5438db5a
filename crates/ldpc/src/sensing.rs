//! What a page read tells of each bit: hard decisions, or a confidence from extra senses.

use libm::{erfc, log, sqrt};

/// The channel value of the most confident level. The decoder's messages are 16-bit integers, and this
/// leaves a factor of 62 between a channel value and the largest message.
pub const STRONGEST: i16 = 128;

/// Largest number of extra senses.
pub const MOST_EXTRA: u32 = 6;

/// Levels of confidence, with the value that the decoder takes for each.
///
/// Level 0 is the most confident right decision and the last level is the most confident wrong one. The
/// first half of the levels is right. Hard decisions have two levels.
///
/// Extra senses come in pairs, at equal distances on both sides of the first one. The model is a Gaussian
/// channel: a bit is +1 or −1, the noise has the deviation with which the first sense errs at the raw bit
/// error rate, and the value of a level is the logarithm of its likelihood ratio. The distance of the
/// senses is the one (of 32) with the largest mutual information.
#[derive(Clone, Debug, PartialEq)]
pub struct Sensing {
    values: Vec<i16>,
    /// Probability of each level.
    shares: Vec<f64>,
}

/// Why a way of sensing is refused.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum SensingError {
    /// The number of extra senses is odd or too large.
    #[error("{0} extra senses: they come in pairs, so 0, 2, 4 or 6")]
    Extra(u32),
    /// The error rate is outside the model.
    #[error("a raw bit error rate of {0}: it must be 0 to 0.5, and with extra senses 0.00001 to 0.2")]
    Rate(f64),
}

impl Sensing {
    /// One sense: each bit is 0 or 1. It has no error rate, and is for [`Errors::Exactly`](crate::Errors).
    pub fn hard() -> Sensing {
        Sensing { values: vec![STRONGEST, -STRONGEST], shares: vec![1.0, 0.0] }
    }

    /// A sense and `extra` more (0, 2, 4 or 6), where the first errs with probability `p`.
    pub fn new(extra: u32, p: f64) -> Result<Sensing, SensingError> {
        if !(0.0..=0.5).contains(&p) {
            return Err(SensingError::Rate(p));
        }
        if extra == 0 {
            return Ok(Sensing { shares: vec![1.0 - p, p], ..Sensing::hard() });
        }
        if extra > MOST_EXTRA || !extra.is_multiple_of(2) {
            return Err(SensingError::Extra(extra));
        }
        if !(1e-5..=0.2).contains(&p) {
            return Err(SensingError::Rate(p));
        }
        let deviation = 1.0 / quantile(p);
        let mut best = (f64::NEG_INFINITY, Vec::new());
        for step in 1..=32 {
            let shares = shares(extra, deviation, f64::from(step) * deviation / 32.0);
            let information = information(&shares);
            if information > best.0 {
                best = (information, shares);
            }
        }
        let shares = best.1;
        let ratio = |level: usize| log(shares[level] / shares[shares.len() - 1 - level]);
        let scale = f64::from(STRONGEST) / ratio(0);
        let half = shares.len() / 2;
        // The second half mirrors the first exactly, so that no bit value is preferred.
        let right: Vec<i16> = (0..half).map(|level| (ratio(level) * scale + 0.5) as i16).collect();
        let values = right.iter().copied().chain(right.iter().rev().map(|value| -value)).collect();
        Ok(Sensing { values, shares })
    }

    /// The decoder's value of each level, for a bit 0. That of a bit 1 is its negative.
    pub fn values(&self) -> &[i16] {
        &self.values
    }

    /// The probability of each level.
    pub fn shares(&self) -> &[f64] {
        &self.shares
    }

    /// The first level at which the decision is wrong.
    pub fn first_wrong(&self) -> usize {
        self.values.len() / 2
    }
}

/// The probability that a normal variable is above `x`.
fn above(x: f64) -> f64 {
    0.5 * erfc(x / sqrt(2.0))
}

/// The x above which a normal variable is with probability `p`, for p in 0.00001 to 0.2, by bisection.
fn quantile(p: f64) -> f64 {
    let (mut low, mut high) = (0.0, 10.0);
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        if above(middle) > p {
            low = middle;
        } else {
            high = middle;
        }
    }
    0.5 * (low + high)
}

/// The probabilities of the levels for a bit +1, from the top level down.
fn shares(extra: u32, deviation: f64, distance: f64) -> Vec<f64> {
    let pairs = f64::from(extra / 2);
    let limits = (0..=extra).map(|sense| (pairs - f64::from(sense)) * distance);
    let mut before = 0.0;
    let mut shares: Vec<f64> = limits
        .map(|limit| {
            let up_to = above((limit - 1.0) / deviation);
            let share = up_to - before;
            before = up_to;
            share
        })
        .collect();
    // The tail by itself, and not as 1 − the rest: it is small.
    shares.push(above((1.0 + pairs * distance) / deviation));
    shares
}

/// The mutual information of a symmetric channel with these levels, in nats, but for a constant.
fn information(shares: &[f64]) -> f64 {
    let mirrored = shares.iter().rev();
    shares.iter().zip(mirrored).map(|(a, b)| a * log(a / (a + b))).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_are_a_distribution_with_the_given_error_rate() {
        for (extra, p) in [(0, 0.01), (2, 0.0085), (4, 0.0085), (6, 0.02), (2, 1e-5), (6, 0.2)] {
            let sensing = Sensing::new(extra, p).unwrap();
            assert_eq!(sensing.values().len(), extra as usize + 2);
            assert!((sensing.shares().iter().sum::<f64>() - 1.0).abs() < 1e-9);
            let wrong: f64 = sensing.shares()[sensing.first_wrong()..].iter().sum();
            assert!((wrong / p - 1.0).abs() < 1e-6, "{extra} {p}: {wrong}");
            assert!(sensing.values().is_sorted_by(|a, b| a > b), "{:?}", sensing.values());
            assert_eq!(sensing.values()[0], STRONGEST);
        }
    }

    #[test]
    fn what_is_out_of_the_model_is_refused() {
        assert_eq!(Sensing::new(3, 0.01), Err(SensingError::Extra(3)));
        assert_eq!(Sensing::new(8, 0.01), Err(SensingError::Extra(8)));
        assert_eq!(Sensing::new(2, 0.5), Err(SensingError::Rate(0.5)));
        assert_eq!(Sensing::new(0, 0.6), Err(SensingError::Rate(0.6)));
        assert!(Sensing::new(0, f64::NAN).is_err());
    }
}
