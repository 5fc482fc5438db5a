//! How host writes are held before they are programmed.

pub mod lru;
pub mod none;

use super::PolicyContext;
use serde::{Deserialize, Serialize};
use tailcut_units::{Span, quantity};

/// When a host write completes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Acknowledge {
    /// As soon as the buffer holds it.
    WhenHeld,
    /// When the flash has programmed it.
    WhenProgrammed,
}

/// The part of the drive that a queue limit counts for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum QueueOf {
    /// Each die.
    Die,
    /// Each lane: where one extent of host data is open.
    Lane,
}

/// How much of the buffer may wait to leave for one die or lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct QueueLimit {
    /// The part of the drive that the limit counts for.
    pub of: QueueOf,
    /// Bytes that are held and not yet on their way to flash at which further writes to that part wait.
    ///
    /// - Range: more than 0B; at least one write unit
    #[serde(with = "quantity::bytes")]
    pub bytes: u64,
}

/// The contract: all answers are fixed for the drive's life.
pub trait Buffer {
    /// Bytes of host data that the buffer can hold; `None`: as much as the commands under way can
    /// fill.
    fn capacity(&self) -> Option<u64>;
    /// When a write completes.
    fn acknowledge(&self) -> Acknowledge;
    /// Whether a write to a held unit that is not yet on its way to flash overwrites it in place.
    fn overwrites_in_place(&self) -> bool;
    /// Whether held data survive a power cut, so that a FLUSH need not wait for flash.
    fn survives_power_cut(&self) -> bool;
    /// Time from when a write's data have arrived until they are held, in addition to the
    /// controller's time.
    fn write_latency(&self) -> Span;
    /// The limit on data that wait to leave for each die or lane; `None`: only the capacity makes writes
    /// wait.
    fn queue_limit(&self) -> Option<QueueLimit> {
        None
    }
}

family! {
    key: "buffer",
    decides: "How host writes are held before they are programmed.",
    config: BufferConfig,
    policy: BufferPolicy: Buffer,
    context: PolicyContext,
    members: {
        none None "none",
        lru Lru "lru",
    }
    answers: {
        fn capacity() -> Option<u64>;
        fn acknowledge() -> Acknowledge;
        fn overwrites_in_place() -> bool;
        fn survives_power_cut() -> bool;
        fn write_latency() -> Span;
        fn queue_limit() -> Option<QueueLimit>;
    }
}
