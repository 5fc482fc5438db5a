//! What the drive does by itself, without a request of the host.

pub mod none;
pub mod refresh;
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

/// Which data are written again, and how fast.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Refreshing {
    /// Age of data from which on they are written again.
    pub after: Span,
    /// Time from one choice of an extent in a lane to the next.
    pub pause: Span,
}

/// The contract: the answer is fixed for the drive's life.
pub trait Background {
    /// When and how fast data moved by collections are read again; `None` if they are not.
    fn scrubbing(&self) -> Option<Scrubbing>;
    /// Which data are written again, and how fast; `None` if none are.
    fn refreshing(&self) -> Option<Refreshing> {
        None
    }
}

family! {
    key: "background",
    decides: "What the drive does by itself, without a request of the host.",
    config: BackgroundConfig,
    policy: BackgroundPolicy: Background,
    context: PolicyContext,
    neutral: None "none",
    members: {
        none None "none",
        scrub Scrub "scrub",
        refresh Refresh "refresh",
    }
    answers: {
        fn scrubbing() -> Option<Scrubbing>;
        fn refreshing() -> Option<Refreshing>;
    }
}
