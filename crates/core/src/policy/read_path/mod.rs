//! What a host read does whose plane is closed by a collection.

pub mod gc_tolerant;
pub mod gc_tolerant_authors;
pub mod wait;

use super::PolicyContext;
use tailcut_units::Span;

/// What is known of one read of a unit whose plane a collection keeps busy. Times are
/// predictions: what the collection has left to move and erase, at its unhindered pace.
#[derive(Clone, Copy, Debug)]
pub struct BlockedView {
    /// Until the plane is free again.
    pub left: Span,
    /// The same, as it was predicted when the collection began; zero once that has passed.
    pub left_as_begun: Span,
    /// The collection reads no further page: it programs the last one, or erases.
    pub last_step: bool,
    /// Until the operation under way in the plane ends; zero while none is.
    pub step_left: Span,
    /// Until the last of the other members' planes is free of collections; zero where none
    /// collects.
    pub others_left: Span,
    /// Until the last of the planes of the extra reads is free, as predicted when its
    /// collection began.
    pub extra_left_as_begun: Span,
    /// Members that would be read for this alone, the extra reads: all others but those that
    /// the same request reads anyway.
    pub extra: u32,
    /// How many of these have a busy channel.
    pub busy_channels: u32,
    /// Command, sense and transfer of one unit.
    pub read: Span,
    /// The lanes of a group collect one at a time.
    pub rotates: bool,
}

/// The contract: a pure function of the view. Asked at the arrival of a read, and again
/// when a collection closes a plane on which it waits.
pub trait ReadPath {
    /// Whether blocked reads are rebuilt at all; fixed for the drive's life.
    fn rebuilds(&self) -> bool;
    /// Whether to read the rest of the stripe instead of waiting.
    fn rebuild(&self, view: &BlockedView) -> bool;
}

family! {
    key: "read_path",
    decides: "What a host read does whose plane a collection keeps busy.",
    config: ReadPathConfig,
    policy: ReadPathPolicy: ReadPath,
    context: PolicyContext,
    neutral: Wait "wait",
    members: {
        wait Wait "wait",
        gc_tolerant GcTolerant "gc-tolerant",
        gc_tolerant_authors GcTolerantAuthors "gc-tolerant-authors",
    }
    answers: {
        fn rebuilds() -> bool;
        fn rebuild(view: &BlockedView) -> bool;
    }
}
