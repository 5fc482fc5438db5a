//! d choices: the best of a few extents drawn at random.
//!
//! **What it does.** Draws `d` extents of the lane uniformly, with replacement, and takes the
//! collectable one whose collection wins most: that with the fewest units that are valid or in holes.
//! If no drawn extent is collectable, it scans the whole lane.
//!
//! **Why it matters for the tail.** Write amplification close to that of `greedy`, at a constant
//! cost per choice.
//!
//! **Parameters and source.** `d`, 1 to 1,024; MQSim calls it RGA. Van Houdt (SIGMETRICS'13).
//!
//! **Left out.** Nothing.
//!
//! **Checked by** `policy_laws`.

use super::{GcVictim, PolicyContext, VictimRule, VictimView};
use serde::{Deserialize, Serialize};
use tailcut_units::Stream;

/// The most draws: above it, the scan of `greedy` costs less and finds more.
const D_MAX: u32 = 1024;

/// The number of draws.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    /// Extents of the lane that are drawn at random and compared.
    ///
    /// - Range: 1 to 1024
    pub d: u32,
}

impl Default for Config {
    fn default() -> Config {
        Config { d: 10 }
    }
}

/// The number of draws, and the seed of the random streams.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Policy {
    d: u32,
    seed: u64,
}

impl Policy {
    /// Build the policy; an error if `d` is out of range.
    pub fn new(c: &Config, x: &PolicyContext) -> Result<Policy, String> {
        if !(1..=D_MAX).contains(&c.d) {
            return Err(format!("policy.gc_victim.d-choices.d is {}; it takes 1 to {D_MAX}", c.d));
        }
        Ok(Policy { d: c.d, seed: x.seed })
    }
}

impl GcVictim for Policy {
    fn pick(&self, view: &VictimView<'_>) -> Option<u32> {
        let mut stream = Stream::new(self.seed, "gc_victim", view.choice);
        let mut best: Option<u32> = None;
        for _ in 0..self.d {
            let i = stream.below(view.valid.len() as u64) as u32;
            let valid = view.valid[i as usize];
            if valid <= view.most_valid && best.is_none_or(|b| valid < view.valid[b as usize]) {
                best = Some(i);
            }
        }
        best.or_else(|| view.wins_most())
    }
    fn rule(&self) -> VictimRule {
        VictimRule::FewestOf(self.d)
    }
}
