//! Wear levelling: which stripes move to colder planes, and which blocks are emptied to be erased.

pub mod none;
pub mod shift_migrate;
pub mod static_threshold;

use super::PolicyContext;

/// Wear of the planes that the flush of a stripe would write. It is counted in programs since the
/// drive's ageing, because erases follow programs and programs are known at once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WearView {
    /// Mean programs of the lanes that this flush writes where the stripe is now (dirty units and
    /// parity).
    pub own: u64,
    /// Mean programs of the lanes that this flush would write in the best rotation of the stripe in
    /// its group.
    pub best_rotation: u64,
    /// Mean programs of the lanes of the stripe's group.
    pub group: u64,
    /// Mean programs of the lanes of the coldest other group with room for the stripe; equal to
    /// `group` if there is none.
    pub coldest: u64,
}

/// Where a stripe is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WearVerdict {
    /// In its present place.
    Stay,
    /// In its group, in the best rotation there.
    Shift,
    /// In the coldest group, in the best rotation there.
    Migrate,
}

/// The contract: `decide` is asked once at each flush of a stripe that could be moved. It moves a
/// stripe only to lanes with fewer programs. The other answers never change.
pub trait Wear {
    /// Where the stripe of this flush is written.
    fn decide(&self, view: &WearView) -> WearVerdict;
    /// Whether the member ever moves a stripe; `decide` is asked only if it does.
    fn moves_stripes(&self) -> bool {
        true
    }
    /// The difference in erases between the most and the least erased extent of a lane at which the latter is emptied;
    /// `None`: never.
    fn erase_gap(&self) -> Option<u32> {
        None
    }
}

family! {
    key: "wear",
    decides: "Which stripes move to colder planes, and which blocks are emptied to be erased.",
    config: WearConfig,
    policy: WearPolicy: Wear,
    context: PolicyContext,
    neutral: None "none",
    members: {
        none None "none",
        shift_migrate ShiftMigrate "shift-migrate",
        static_threshold StaticThreshold "static-threshold",
    }
    answers: {
        fn decide(view: &WearView) -> WearVerdict;
        fn moves_stripes() -> bool;
        fn erase_gap() -> Option<u32>;
    }
}
