//! Wear levelling: which stripes move to colder planes.

pub mod none;
pub mod shift_migrate;

use super::PolicyContext;

/// What a stripe that is about to be flushed does to its planes, in programs since the drive
/// began to work: erases follow programs, and these are known at once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WearView {
    /// Mean programs of the lanes that this flush writes (what is dirty, and parity) …
    pub own: u64,
    /// … and of those that it would write in the best rotation of the stripe in its group.
    pub best_rotation: u64,
    /// Mean programs of the lanes of its group …
    pub group: u64,
    /// … and of the coldest other group that has room for it; its own, if there is none.
    pub coldest: u64,
}

/// Where a stripe goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WearVerdict {
    /// Where it was.
    Stay,
    /// To the best rotation in its group.
    Shift,
    /// To the coldest group, in the best rotation there.
    Migrate,
}

/// The contract: asked once at each flush of a stripe that could be moved; moves only to
/// where fewer programs were.
pub trait Wear {
    /// What becomes of this stripe.
    fn decide(&self, view: &WearView) -> WearVerdict;
    /// Whether it ever moves anything: where not, it is not asked.
    fn levels(&self) -> bool {
        true
    }
}

family! {
    key: "wear",
    decides: "Which stripes move to colder planes.",
    config: WearConfig,
    policy: WearPolicy: Wear,
    context: PolicyContext,
    neutral: None "none",
    members: {
        none None "none",
        shift_migrate ShiftMigrate "shift-migrate",
    }
    answers: {
        fn decide(view: &WearView) -> WearVerdict;
        fn levels() -> bool;
    }
}
