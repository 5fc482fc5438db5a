//! Which LUNs of a stride may program or erase at once, so that reads of these LUNs can be computed from parity.

pub mod none;
pub mod stride;

use super::PolicyContext;
use serde::{Deserialize, Serialize};

/// A set of programs and erases.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Covered {
    /// All: of users, of collection, of parity and of metadata, and erases.
    #[default]
    All,
    /// Those of collection, and erases.
    Collection,
}

/// The rules of a gate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GateRules {
    /// The operations that must pass the gate. While an operation that has passed it runs on a LUN, reads of that LUN
    /// go to the other members of the stride.
    pub covers: Covered,
    /// The operations that keep the gate of a stride closed.
    pub against: Covered,
    /// Whether an operation that passes must wait for the host reads that are under way to its LUN.
    pub waits_for_reads: bool,
    /// Whether reads avoid a LUN as soon as an operation for it waits at the gate.
    pub marks_early: bool,
    /// The gate is open after a second with fewer host reads than this.
    pub off_below: u32,
}

/// The contract: the answer is fixed for the drive's life. The gate lets as many LUNs of a stride pass as the stride has
/// parities, in the order of the writer.
pub trait WriteGate {
    /// The rules; `None` if there is no gate.
    fn rules(&self) -> Option<GateRules>;
}

family! {
    key: "write_gate",
    decides: "Which LUNs of a stride may program or erase at once (pblk).",
    config: WriteGateConfig,
    policy: WriteGatePolicy: WriteGate,
    context: PolicyContext,
    neutral: None "none",
    members: {
        none None "none",
        stride Stride "stride",
    }
    answers: {
        fn rules() -> Option<GateRules>;
    }
}
