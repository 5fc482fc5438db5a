//! What a collection blocks while it runs, in addition to the dies that its operations occupy.

pub mod channel;
pub mod controller;
pub mod operation;
pub mod plane;

use super::PolicyContext;
use serde::{Deserialize, Serialize};

/// How much of the drive a running collection closes to host operations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Scope {
    /// Nothing: its operations queue like any other.
    Operation,
    /// The dies (or planes) of its lane.
    Unit {
        /// Whether only one collection per channel runs at a time.
        alone: bool,
    },
    /// The channels of its lane; one collection per channel at a time.
    Channel,
    /// The whole drive; one collection at a time.
    Controller,
}

/// The contract: the scope is fixed for the drive's life.
pub trait GcScope {
    /// What a collection blocks.
    fn scope(&self) -> Scope;
}

family! {
    key: "gc_scope",
    decides: "What a collection blocks while it runs.",
    config: GcScopeConfig,
    policy: GcScopePolicy: GcScope,
    context: PolicyContext,
    members: {
        operation Operation "operation",
        plane Plane "plane",
        channel Channel "channel",
        controller Controller "controller",
    }
    answers: {
        fn scope() -> Scope;
    }
}
