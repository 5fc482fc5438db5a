//! Parity across the drive.

pub mod none;
pub mod rain;

use super::PolicyContext;
use tailcut_units::Span;

/// How units are joined into stripes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Striping {
    /// Units of a stripe, parity included.
    pub width: u32,
    /// Time to compute one unit from the rest of its stripe, once they are there.
    pub xor: Span,
}

/// The contract: the layout is fixed for the drive's life.
pub trait Redundancy {
    /// The stripes, if there are any.
    fn striping(&self) -> Option<Striping>;
}

family! {
    key: "redundancy",
    decides: "Parity across the drive.",
    config: RedundancyConfig,
    policy: RedundancyPolicy: Redundancy,
    context: PolicyContext,
    neutral: None "none",
    members: {
        none None "none",
        rain Rain "rain",
    }
    answers: {
        fn striping() -> Option<Striping>;
    }
}
