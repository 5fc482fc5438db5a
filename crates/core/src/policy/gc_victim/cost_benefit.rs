//! Cost-benefit: space gained times age, divided by the cost of gaining it.
//!
//! **What it does.** Takes the extent with the largest (1 − u) / 2u × age, where u is its share of
//! valid units and age is the number of extents closed since it was closed. An extent without valid
//! units always wins.
//!
//! **Why it matters for the tail.** Under skewed writes cold extents are collected at a higher
//! share of valid units than hot ones, so fewer hot units are copied just before they are
//! overwritten.
//!
//! **Parameters and source.** None. Kawaguchi et al. (USENIX'95).
//!
//! **Left out.** Age in seconds: age counts closed extents, so that idle time does not count.
//!
//! **Checked by** `policy_laws`, `policy_decisions`.

use super::{GcVictim, VictimView};

parameterless!();

impl GcVictim for Policy {
    fn pick(&self, view: &VictimView<'_>) -> Option<u32> {
        let n = view.units_per_extent;
        let mut best: Option<(u128, u128, u32)> = None;
        for (i, (&valid, &closed)) in view.valid.iter().zip(view.closed).enumerate() {
            if valid > view.most_valid {
                continue;
            }
            // Compare (n − v) × age / v exactly, as fractions; v = 0 counts as infinity.
            let gain = u128::from(n - valid) * u128::from(view.now - closed);
            let cost = u128::from(view.moves(i));
            if best.is_none_or(|(g, c, _)| gain * c > g * cost) {
                best = Some((gain, cost, i as u32));
            }
        }
        best.map(|(_, _, i)| i)
    }
}
