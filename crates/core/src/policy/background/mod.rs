//! What the drive does while the host leaves it alone.

pub mod none;
pub mod scrub;

use super::PolicyContext;
use tailcut_units::Span;

/// How moved data are read again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scrubbing {
    /// The host has left the drive alone for so long.
    pub idle: Span,
    /// From one page of a lane to its next.
    pub pause: Span,
}

/// The contract: fixed for the drive's life.
pub trait Background {
    /// Whether what collections have moved is read again, and how.
    fn scrubbing(&self) -> Option<Scrubbing>;
}

family! {
    key: "background",
    decides: "What the drive does while the host leaves it alone.",
    config: BackgroundConfig,
    policy: BackgroundPolicy: Background,
    context: PolicyContext,
    neutral: None "none",
    members: {
        none None "none",
        scrub Scrub "scrub",
    }
    answers: {
        fn scrubbing() -> Option<Scrubbing>;
    }
}
