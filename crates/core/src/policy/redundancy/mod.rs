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
    /// Time to compute one unit from the others of its stripe, once those are in the controller.
    pub xor: Span,
}

/// The contract: the layout is fixed for the drive's life.
pub trait Redundancy {
    /// The layout of the stripes; `None` without parity.
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
