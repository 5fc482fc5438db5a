//! Greedy: the extent whose collection wins most.
//!
//! **What it does.** Scans the lane for the extent with the fewest units that its collection does not
//! win. These are its valid units, and where extents have holes also the units in its holes.
//!
//! **Why it matters for the tail.** The fewest copies for each freed block, so collections are
//! short; optimal for uniform random writes.
//!
//! **Parameters and source.** None. Rosenblum and Ousterhout (SOSP'91); the mean-field
//! limit is in Van Houdt (SIGMETRICS'13).
//!
//! **Left out.** Nothing.
//!
//! **Checked by** `greedy_write_amplification_meets_mean_field_theory`, `policy_laws`.

use super::{GcVictim, VictimView};

parameterless!();

impl GcVictim for Policy {
    fn pick(&self, view: &VictimView<'_>) -> Option<u32> {
        view.wins_most()
    }
}
