//! What the table says of pages with a raw bit error rate: the mean over the number of errors.

use super::Table;
use crate::CODEWORD_BITS;
use crate::decoder::{Method, Settings};
use libm::{exp, lgamma, log, log1p};

/// The text of the shipped table.
pub const SHIPPED: &str = include_str!("../../table/qc-4x36x1024.txt");

/// The failure rate at which a page counts as beyond the limit of the code. The published limit of 0.0085
/// (RiF, HPCA'24) is a point of about this rate.
const LIMIT_RATE: f64 = 0.1;

impl Table {
    /// The decoder that was measured.
    pub fn settings(&self) -> Settings {
        let method = Method::MinSum { schedule: self.schedule, factor: self.factor };
        Settings { method, iterations: self.iterations }
    }

    /// The table that belongs to the default code and decoder (`tailcut ldpc table` measures it again).
    pub fn shipped() -> Table {
        SHIPPED.parse().expect("the shipped table is read in the tests")
    }

    /// The text of the shipped table.
    pub fn shipped_text() -> &'static str {
        SHIPPED
    }

    /// Probability that a codeword fails to decode at a raw bit error rate of `p` (0 to 0.5). Beyond the last
    /// row every codeword fails. Where no measured frame failed the table says 0, so that rates below about
    /// 0.0001 are too small.
    pub fn failure_rate(&self, p: f64) -> f64 {
        self.mix(p, |weight, failing, _| weight * failing)
    }

    /// Mean iterations of the codewords that decode, at a raw bit error rate of `p` (0 to 0.5); 0 if none
    /// does.
    pub fn mean_iterations(&self, p: f64) -> f64 {
        let decoded = self.mix(p, |weight, failing, _| weight * (1.0 - failing));
        let sum = self.mix(p, |weight, failing, mean| weight * (1.0 - failing) * mean);
        if decoded > 0.0 { sum / decoded } else { 0.0 }
    }

    /// The raw bit error rate at which a tenth of the codewords fails: the limit of the code.
    pub fn limit(&self) -> f64 {
        let (mut low, mut high) = (0.0, 0.5);
        for _ in 0..50 {
            let middle = 0.5 * (low + high);
            if self.failure_rate(middle) < LIMIT_RATE {
                low = middle;
            } else {
                high = middle;
            }
        }
        0.5 * (low + high)
    }

    /// The failure rate and the mean iterations at a number of errors, between rows by straight lines.
    pub fn at(&self, errors: u32) -> (f64, f64) {
        let after = self.rows.partition_point(|row| row.errors <= errors);
        let Some(next) = self.rows.get(after) else { return (1.0, 0.0) };
        let before = &self.rows[after - 1];
        let part = f64::from(errors - before.errors) / f64::from(next.errors - before.errors);
        let between = |a: f64, b: f64| a + part * (b - a);
        let decoded = |failing: f64, mean: f64| (1.0 - failing) * mean;
        let failing = between(before.failure_rate(), next.failure_rate());
        let mean = between(
            decoded(before.failure_rate(), before.mean_iterations()),
            decoded(next.failure_rate(), next.mean_iterations()),
        );
        (failing, if failing < 1.0 { mean / (1.0 - failing) } else { 0.0 })
    }

    /// Sum over the number of errors of a term: from its binomial probability, the failure rate and the mean
    /// iterations.
    fn mix(&self, p: f64, term: impl Fn(f64, f64, f64) -> f64) -> f64 {
        assert!((0.0..=0.5).contains(&p), "an error rate of {p}");
        if p == 0.0 {
            let (failing, mean) = self.at(0);
            return term(1.0, failing, mean);
        }
        let all = CODEWORD_BITS as f64;
        let (log_p, log_q) = (log(p), log1p(-p));
        // Terms more than 12 deviations from the mean are below 10^-30.
        let (mean, reach) = (all * p, 12.0 * libm::sqrt(all * p * (1.0 - p)) + 20.0);
        let (first, last) = ((mean - reach).max(0.0) as u32, (mean + reach).min(all) as u32);
        (first..=last)
            .map(|errors| {
                let n = f64::from(errors);
                let ways = lgamma(all + 1.0) - lgamma(n + 1.0) - lgamma(all - n + 1.0);
                let (failing, iterations) = self.at(errors);
                term(exp(ways + n * log_p + (all - n) * log_q), failing, iterations)
            })
            .sum()
    }
}
