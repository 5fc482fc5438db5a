//! Which extent of a lane a collection empties.

pub mod cost_benefit;
pub mod d_choices;
pub mod fifo;
pub mod greedy;

use super::PolicyContext;

/// The extents of one lane, as slices by index in the lane.
#[derive(Clone, Copy, Debug)]
pub struct VictimView<'a> {
    /// Valid mapping units; 2^31 or more where the extent cannot be collected (free,
    /// open, or being collected).
    pub valid: &'a [u32],
    /// Serial number of each extent's closing, growing over the drive's life.
    pub closed: &'a [u64],
    /// Serial number the next closing will get.
    pub now: u64,
    /// A number that no other choice of the drive's life has: what is drawn is drawn by it,
    /// so that a drive from a snapshot chooses as the one it was taken of.
    pub choice: u64,
    /// Mapping units in an extent.
    pub units_per_extent: u32,
    /// Most valid units with which collecting an extent still wins a row.
    pub most_valid: u32,
}

/// The contract: an index whose `valid` is at most `most_valid` (a row is won, so that
/// collection always ends), or `None` when no such extent exists.
pub trait GcVictim {
    /// The extent to collect.
    fn pick(&self, view: &VictimView<'_>) -> Option<u32>;
}

/// The collectable extent with the fewest valid units, the lowest index among equals.
#[inline]
fn fewest_valid(view: &VictimView<'_>) -> Option<u32> {
    // Two passes vectorise: the minimum first, its position second.
    let least = view.valid.iter().copied().min()?;
    if least > view.most_valid {
        return None;
    }
    view.valid.iter().position(|&v| v == least).map(|i| i as u32)
}

family! {
    key: "gc_victim",
    decides: "Which extent a collection empties.",
    config: GcVictimConfig,
    policy: GcVictimPolicy: GcVictim,
    context: PolicyContext,
    members: {
        greedy Greedy "greedy",
        d_choices DChoices "d-choices",
        fifo Fifo "fifo",
        cost_benefit CostBenefit "cost-benefit",
    }
    answers: {
        fn pick(view: &VictimView<'_>) -> Option<u32>;
    }
}
