//! What a host read does when a collection keeps its plane busy.

pub mod external;
pub mod gc_tolerant;
pub mod gc_tolerant_authors;
pub mod wait;

use super::PolicyContext;
use tailcut_units::Span;

/// One read of a unit whose plane is kept busy by a collection. Times are predictions: they assume
/// that the collection moves and erases what is left without delay by other operations.
#[derive(Clone, Copy, Debug)]
pub struct BlockedView {
    /// Time until the plane is free again.
    pub left: Span,
    /// Time until the plane is free again, by the end predicted when the collection began; zero
    /// once that has passed.
    pub left_as_begun: Span,
    /// Whether the collection has no further page to read: it programs the last one, or erases.
    pub last_step: bool,
    /// Time until the operation under way in the plane ends; zero if there is none.
    pub step_left: Span,
    /// Time until no plane of the other members of the stripe collects; zero if none does.
    pub others_left: Span,
    /// Time until all planes of the extra reads are free, by the ends predicted when their
    /// collections began.
    pub extra_left_as_begun: Span,
    /// Number of extra reads: the other members of the stripe on flash, without those that the same
    /// request reads anyway.
    pub extra: u32,
    /// Number of extra reads whose channel is busy.
    pub busy_channels: u32,
    /// Time for command, sense and transfer of one unit.
    pub read: Span,
    /// Whether the lanes of a group collect one at a time.
    pub rotates: bool,
}

/// The contract: `rebuild` is a pure function of the view. It is asked when a read arrives, and
/// again when a collection closes the plane on which the read waits.
pub trait ReadPath {
    /// Whether blocked reads are ever rebuilt; fixed for the drive's life.
    fn rebuilds(&self) -> bool;
    /// Whether to read the rest of the stripe instead of waiting for the plane.
    fn rebuild(&self, view: &BlockedView) -> bool;
}

family! {
    key: "read_path",
    decides: "What a host read does when a collection keeps its plane busy.",
    config: ReadPathConfig,
    policy: ReadPathPolicy: ReadPath,
    context: PolicyContext,
    neutral: Wait "wait",
    members: {
        wait Wait "wait",
        gc_tolerant GcTolerant "gc-tolerant",
        gc_tolerant_authors GcTolerantAuthors "gc-tolerant-authors",
    }
    outside: {
        external External "external",
    }
    answers: {
        fn rebuilds() -> bool;
        fn rebuild(view: &BlockedView) -> bool;
    }
}
