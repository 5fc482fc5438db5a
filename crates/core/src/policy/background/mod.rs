//! What the drive does while the host is idle.

pub mod none;
pub mod scrub;

use super::PolicyContext;
use tailcut_units::Span;

/// When and how fast data moved by collections are read again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scrubbing {
    /// How long the host must have been idle before scrubbing begins.
    pub idle: Span,
    /// Time from one scrub read of a lane to the next.
    pub pause: Span,
}

/// The contract: the answer is fixed for the drive's life.
pub trait Background {
    /// When and how fast data moved by collections are read again; `None` if they are not.
    fn scrubbing(&self) -> Option<Scrubbing>;
}

family! {
    key: "background",
    decides: "What the drive does while the host is idle.",
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
