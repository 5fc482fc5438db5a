//! The state of all blocks at the start of a run: cycles, reads and retention age.

use crate::address::BlockId;
use serde::{Deserialize, Serialize};
use tailcut_units::Stream;
use tailcut_units::random::mix;

/// The distribution of the retention ages over the blocks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AgeLaw {
    /// Uniformly.
    #[default]
    Uniform,
    /// The logarithm of the age is uniform.
    LogUniform,
}

/// The state of every block at the start of a run, in addition to the effect of preconditioning.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Past {
    /// Program/erase cycles.
    pub cycles: u32,
    /// Reads since the erase.
    pub reads: u32,
    /// Largest age of the data, ns. The ages of the blocks lie between `retention_from` and `retention`, distributed by
    /// `law`.
    pub retention: u64,
    /// Smallest age of the data, ns; at least 1 if the law is not uniform.
    pub retention_from: u64,
    /// The distribution of the ages.
    pub law: AgeLaw,
}

/// Draws between two entries of the table of ages, as a power of two.
const STEP_BITS: u32 = 24;
/// Number of intervals of the table. Linear interpolation within an interval is within 1e-4 of the law over five
/// decades.
const STEPS: usize = 1 << (32 - STEP_BITS);

/// The ages of the data in all blocks at the start of a run.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Ages {
    /// Key of the draws.
    key: u64,
    /// The smallest age, and the difference between the largest and the smallest, ns.
    from: u64,
    width: u64,
    /// Equidistant quantiles of the ages. Empty if the ages are uniform.
    quantiles: Vec<u64>,
}

impl Ages {
    /// Create the ages for a past. The seed decides the age of each block's data.
    pub fn new(past: &Past, seed: u64) -> Ages {
        let (from, width) = (past.retention_from, past.retention - past.retention_from);
        let ratio = past.retention as f64 / from.max(1) as f64;
        let quantile = |i: usize| {
            let age = from as f64 * libm::pow(ratio, i as f64 / STEPS as f64);
            (libm::round(age) as u64).clamp(from, past.retention)
        };
        let quantiles = match past.law {
            AgeLaw::Uniform => Vec::new(),
            AgeLaw::LogUniform => (0..=STEPS).map(quantile).collect(),
        };
        Ages { key: Stream::new(seed, "block age", 0).next_u64(), from, width, quantiles }
    }

    /// The age of the data in a block, ns.
    #[inline]
    pub fn of(&self, block: BlockId) -> u64 {
        if self.width == 0 {
            return self.from;
        }
        let share = mix(self.key ^ u64::from(block.0)) >> 32;
        if self.quantiles.is_empty() {
            // `share` is in units of 2^-32 of the width.
            return self.from + ((u128::from(self.width) * u128::from(share)) >> 32) as u64;
        }
        let (step, rest) = ((share >> STEP_BITS) as usize, share & ((1 << STEP_BITS) - 1));
        let [low, high] = [step, step + 1].map(|i| self.quantiles[i]);
        low + ((u128::from(high - low) * u128::from(rest)) >> STEP_BITS) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOUR: u64 = 3_600_000_000_000;

    fn ages(law: AgeLaw) -> Vec<u64> {
        let past = Past { retention: 1152 * HOUR, retention_from: 6 * HOUR, law, ..Past::default() };
        let all = Ages::new(&past, 5);
        let mut ages: Vec<u64> = (0..20_000).map(|block| all.of(BlockId(block))).collect();
        ages.sort_unstable();
        ages
    }

    /// From six hours to 48 days is a factor of 192.
    #[test]
    fn logarithms_of_ages_are_uniform() {
        let ages = ages(AgeLaw::LogUniform);
        assert!(ages[0] >= 6 * HOUR && ages[ages.len() - 1] <= 1152 * HOUR);
        for share in [0.05, 0.2, 0.5, 0.8, 0.95] {
            let found = ages[(share * ages.len() as f64) as usize] as f64 / HOUR as f64;
            let exact = 6.0 * libm::pow(192.0, share);
            // Three standard errors of a share of 20,000 draws are at most 0.011 of it.
            assert!((libm::log(found / exact) / libm::log(192.0)).abs() < 0.011, "{share}: {found}, {exact}");
        }
    }

    #[test]
    fn ages_are_uniform_by_default() {
        let ages = ages(AgeLaw::Uniform);
        let middle = ages[ages.len() / 2] as f64 / HOUR as f64;
        assert!((middle / 579.0 - 1.0).abs() < 0.03, "{middle}");
    }

    #[test]
    fn one_age_is_that_of_all() {
        for law in [AgeLaw::Uniform, AgeLaw::LogUniform] {
            let past = Past { retention: 7, retention_from: 7, law, ..Past::default() };
            assert!((0..50).all(|block| Ages::new(&past, 5).of(BlockId(block)) == 7));
        }
    }
}
