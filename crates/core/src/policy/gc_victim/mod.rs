//! Which extent of a lane a collection empties.

pub mod cost_benefit;
pub mod d_choices;
pub mod external;
pub mod fifo;
pub mod greedy;

use super::PolicyContext;

/// The extents of one lane. The slices are indexed by the extent's position in the lane.
#[derive(Clone, Copy, Debug)]
pub struct VictimView<'a> {
    /// By extent: the mapping units that its collection does not free. These are the valid ones and those in holes;
    /// [`VictimView::moves`] gives the valid ones alone. The value is 2^31 or more if the extent cannot be collected
    /// (free, open, or being collected).
    pub valid: &'a [u32],
    /// Mapping units in holes of each extent; empty if no extent can have any.
    pub holes: &'a [u32],
    /// Serial number given to each extent when it was closed; it grows over the drive's life.
    pub closed: &'a [u64],
    /// Serial number that the next closed extent will get.
    pub now: u64,
    /// Serial number of this choice, unique over the drive's life. Random draws are keyed by it, so
    /// that a drive restored from a snapshot makes the same choices as the original.
    pub choice: u64,
    /// Mapping units in an extent.
    pub units_per_extent: u32,
    /// The largest entry of `valid` with which the collection of an extent frees a row.
    pub most_valid: u32,
}

/// The property that a member's choice depends on, for the theory of the steady state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VictimRule {
    /// The fewest valid units of all extents.
    FewestOfAll,
    /// The fewest valid units of this many extents drawn at random.
    FewestOf(u32),
    /// Mainly the time since the extent was closed.
    Age,
}

/// The contract: `pick` returns an index whose `valid` is at most `most_valid`, or `None` if no such extent exists.
/// Each collection then frees at least a row, so that collecting always ends.
pub trait GcVictim {
    /// The index of the extent to collect.
    fn pick(&self, view: &VictimView<'_>) -> Option<u32>;
    /// The property that the choice depends on. It decides where the ageing of a large drive starts, and over which
    /// times write amplification must agree in a steady drive. The overwrites themselves use `pick`.
    fn rule(&self) -> VictimRule {
        VictimRule::FewestOfAll
    }
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
    outside: {
        external External "external",
    }
    answers: {
        fn pick(view: &VictimView<'_>) -> Option<u32>;
        fn rule() -> VictimRule;
    }
}
