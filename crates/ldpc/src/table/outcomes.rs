//! The table in the form in which the simulator draws from it: integers, no search, no allocation.

use super::{Table, Weights};
use crate::BLOCK_ROWS;
use libm::{erfc, sqrt};

/// A probability of 1, in the fixed point of the thresholds.
const ONE: u64 = 1 << 31;
/// Steps of the normal distribution's quantiles.
const STEPS: usize = 1024;
/// Probabilities that are compared with a draw together.
const TOGETHER: usize = 8;
/// The fixed point of quantiles.
const Z_BITS: u32 = 12;

/// How a weight goes with the outcome, in 2^-12: the correlation of the normal score of the weight with the
/// normal score of the outcome, and what is left for the weight's own draw (the root of 1 less its square).
///
/// Given the number of errors, a codeword with a *low* weight is harder to decode: more of its errors stand
/// in pairs in one check, where they hide each other. The correlations −0.775 (all checks) and −0.386 (first
/// 1,024) were measured at 312, 320 and 328 errors with 6,000 frames each, where they agree to
/// about 0.01 (docs/ldpc.md). With fewer errors they are weaker, but there no weight is near a threshold.
struct Coupling {
    with_outcome: i64,
    own: i64,
}

const ALL: Coupling = Coupling { with_outcome: -3174, own: 2589 };
const FIRST: Coupling = Coupling { with_outcome: -1581, own: 3779 };

/// Draws outcomes and syndrome weights of a codeword with a given number of raw bit errors.
///
/// Between the rows of the table, distributions are mixed in proportion. A codeword with more errors than
/// the last row has fails, and has the weights of the last row.
///
/// All draws are uniform over `u32`. The draw of the outcome is also an argument of the weights, since the two
/// depend on one another: a predictor that compares a weight with a threshold errs more often than with
/// independent draws. A weight is normal, rounded, and at most four checks an error (at most one of the
/// first 1,024); that the parity of the weight follows from the errors is left out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcomes {
    limit: u8,
    /// For each number of errors and each number of iterations i: the probability to decode in at most i. Those of a
    /// number of errors are filled up with [`ONE`].
    up_to: Vec<[u32; TOGETHER]>,
    /// For each number of errors.
    all: Vec<Weights>,
    first: Vec<Weights>,
    /// Quantiles of the normal distribution at k / 1024, in 2^-12.
    quantiles: Vec<i32>,
}

impl Outcomes {
    /// Prepare a table. This allocates some 60 KB, and is done once.
    pub fn new(table: &Table) -> Outcomes {
        let mut outcomes = Outcomes {
            limit: table.iterations,
            up_to: Vec::new(),
            all: Vec::new(),
            first: Vec::new(),
            quantiles: quantiles(),
        };
        let mut row = vec![ONE as u32; outcomes.groups() * TOGETHER];
        for pair in table.rows.windows(2) {
            let [before, next] = pair else { unreachable!("windows of two") };
            let width = u64::from(next.errors - before.errors);
            let last = next.errors == table.rows[table.rows.len() - 1].errors;
            for part in 0..width + u64::from(last) {
                let between = |a: u64, b: u64| (a * (width - part) + b * part + width / 2) / width;
                let (mut sum_before, mut sum_next) = (0, 0);
                for (up_to, (&a, &b)) in row.iter_mut().zip(before.decoded_in.iter().zip(&next.decoded_in)) {
                    sum_before += u64::from(a);
                    sum_next += u64::from(b);
                    let share = |sum: u64, frames: u32| sum * ONE / u64::from(frames);
                    *up_to = between(share(sum_before, before.frames), share(sum_next, next.frames)) as u32;
                }
                outcomes.up_to.extend(row.as_chunks().0);
                let mixed = |a: Weights, b: Weights| Weights {
                    mean: between(u64::from(a.mean), u64::from(b.mean)) as u32,
                    deviation: between(u64::from(a.deviation), u64::from(b.deviation)) as u32,
                };
                outcomes.all.push(mixed(before.all, next.all));
                outcomes.first.push(mixed(before.first, next.first));
            }
        }
        outcomes
    }

    /// Whether a codeword with `errors` errors decodes, and after how many iterations, for a uniform draw.
    /// A codeword that does not decode costs the largest number of iterations.
    #[inline]
    pub fn outcome(&self, errors: u32, draw: u32) -> (bool, u8) {
        let Some(row) = self.row(errors) else {
            return (false, self.limit);
        };
        let draw = draw >> 1;
        let mut above = [0; TOGETHER];
        for group in row {
            for (above, &up_to) in above.iter_mut().zip(group) {
                *above += u32::from(up_to > draw);
            }
        }
        let iterations = (row.len() * TOGETHER) as u32 - above.iter().sum::<u32>();
        if iterations > u32::from(self.limit) { (false, self.limit) } else { (true, iterations as u8) }
    }

    /// Whether a codeword with `errors` errors decodes, as [`Outcomes::outcome`] tells.
    #[inline]
    pub fn decodes(&self, errors: u32, draw: u32) -> bool {
        draw >> 1 < self.share_decoded(errors)
    }

    /// Whether a codeword with at most `errors` errors decodes for every draw.
    pub fn always_decodes(&self, errors: u32) -> bool {
        (0..=errors).all(|errors| u64::from(self.share_decoded(errors)) >= ONE)
    }

    /// Whether a codeword with at least `errors` errors fails for every draw.
    pub fn never_decodes(&self, errors: u32) -> bool {
        (errors..self.counts()).all(|errors| self.share_decoded(errors) == 0)
    }

    /// Numbers of errors that the table has, from 0 on.
    pub fn counts(&self) -> u32 {
        (self.up_to.len() / self.groups()) as u32
    }

    /// Elements of `up_to` that a number of errors has.
    #[inline]
    fn groups(&self) -> usize {
        usize::from(self.limit) / TOGETHER + 1
    }

    /// The probabilities of a number of errors; none beyond the table.
    #[inline]
    fn row(&self, errors: u32) -> Option<&[[u32; TOGETHER]]> {
        let first = errors as usize * self.groups();
        self.up_to.get(first..first + self.groups())
    }

    /// The probability that a codeword with `errors` errors decodes.
    #[inline]
    fn share_decoded(&self, errors: u32) -> u32 {
        let limit = usize::from(self.limit);
        self.row(errors).map_or(0, |row| row[limit / TOGETHER][limit % TOGETHER])
    }

    /// The least and the largest syndrome weight over the first 1,024 checks of a codeword with `errors` errors.
    pub fn first_weights(&self, errors: u32) -> (u32, u32) {
        // A low draw of the outcome goes with a high weight.
        (self.first_weight(errors, u32::MAX, 0), self.first_weight(errors, 0, u32::MAX))
    }

    /// The syndrome weight over all 4,096 checks of a codeword with `errors` errors, given the draw of its
    /// outcome.
    #[inline]
    pub fn weight(&self, errors: u32, outcome_draw: u32, draw: u32) -> u32 {
        let weight = self.normal(&self.all, errors, &ALL, outcome_draw, draw);
        weight.min(errors.saturating_mul(BLOCK_ROWS as u32))
    }

    /// The syndrome weight over the first 1,024 checks of a codeword with `errors` errors, given the draw of
    /// its outcome.
    #[inline]
    pub fn first_weight(&self, errors: u32, outcome_draw: u32, draw: u32) -> u32 {
        self.normal(&self.first, errors, &FIRST, outcome_draw, draw).min(errors)
    }

    /// Most iterations: what a codeword costs that does not decode.
    pub fn limit(&self) -> u8 {
        self.limit
    }

    #[inline]
    fn normal(
        &self,
        weights: &[Weights],
        errors: u32,
        coupling: &Coupling,
        outcome_draw: u32,
        draw: u32,
    ) -> u32 {
        let weights = weights[(errors as usize).min(weights.len() - 1)];
        let sum = coupling.with_outcome * self.score(outcome_draw) + coupling.own * self.score(draw);
        let hundredths = i64::from(weights.mean) + ((i64::from(weights.deviation) * sum) >> (2 * Z_BITS));
        (hundredths.max(0) as u32 + 50) / 100
    }

    /// The normal variable at a uniform draw, in 2^-12.
    #[inline]
    fn score(&self, draw: u32) -> i64 {
        let (step, part) = ((draw >> 22) as usize, i64::from(draw & 0x3F_FFFF));
        let (low, high) = (i64::from(self.quantiles[step]), i64::from(self.quantiles[step + 1]));
        low + (((high - low) * part) >> 22)
    }
}

/// Quantiles at k / 1024. The two ends stand for a probability of 1/16 of a step, which keeps the deviation.
fn quantiles() -> Vec<i32> {
    let at = |p: f64| {
        let (mut low, mut high) = (-8.0, 8.0);
        for _ in 0..60 {
            let middle: f64 = 0.5 * (low + high);
            if 0.5 * erfc(-middle / sqrt(2.0)) < p {
                low = middle;
            } else {
                high = middle;
            }
        }
        (high * f64::from(1 << Z_BITS)) as i32
    };
    let steps = STEPS as f64;
    (0..=STEPS).map(|k| at((k as f64).clamp(1.0 / 16.0, steps - 1.0 / 16.0) / steps)).collect()
}
