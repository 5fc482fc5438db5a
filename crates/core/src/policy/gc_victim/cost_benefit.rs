//! Cost-benefit: space won times age, over the cost of winning it.
//!
//! **What it does.** Takes the extent with the largest (1 − u) / 2u × age, where u is
//! its share of valid units and age counts the extents closed since it was. An extent
//! without valid units always wins.
//!
//! **Why it matters for the tail.** Under skewed writes cold extents are collected at
//! higher occupancy than hot ones, so fewer hot units are copied just before they die.
//!
//! **Parameters and source.** None. Kawaguchi et al. (USENIX'95).
//!
//! **Left out.** Age in seconds: closings stand for time, so that idle time does not
//! count.
//!
//! **Checked by** `policy_laws`.

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
            // Compare (n − v) × age / v as fractions, exactly; v = 0 is infinitely good.
            let gain = u128::from(n - valid) * u128::from(view.now - closed);
            let cost = u128::from(valid);
            if best.is_none_or(|(g, c, _)| gain * c > g * cost) {
                best = Some((gain, cost, i as u32));
            }
        }
        best.map(|(_, _, i)| i)
    }
}
