//! FIFO: the extent closed longest ago.
//!
//! **What it does.** Takes the extent closed longest ago among those whose collection gains space.
//!
//! **Why it matters for the tail.** Evens out wear without counting it, at the price of more
//! copies.
//!
//! **Parameters and source.** None.
//!
//! **Left out.** Nothing.
//!
//! **Checked by** `policy_laws`, `policy_decisions`.

use super::{GcVictim, VictimRule, VictimView};

parameterless!();

impl GcVictim for Policy {
    fn pick(&self, view: &VictimView<'_>) -> Option<u32> {
        (0..view.valid.len() as u32)
            .filter(|&i| view.valid[i as usize] <= view.most_valid)
            .min_by_key(|&i| view.closed[i as usize])
    }
    fn rule(&self) -> VictimRule {
        VictimRule::Age
    }
}
