//! How host writes are held before they are programmed.

pub mod lru;
pub mod none;

use super::PolicyContext;
use tailcut_units::Span;

/// When the host hears that its write is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Acknowledge {
    /// As soon as the buffer holds it.
    WhenHeld,
    /// When the flash has programmed it.
    WhenProgrammed,
}

/// The contract: a buffer's nature is fixed for the drive's life.
pub trait Buffer {
    /// Bytes of host data held at once; `None`: as much as the queue can bring.
    fn capacity(&self) -> Option<u64>;
    /// When a write completes.
    fn acknowledge(&self) -> Acknowledge;
    /// Whether a held unit that is not yet on its way to flash is overwritten in place.
    fn overwrites_in_place(&self) -> bool;
    /// Whether held data survive a power cut, so that a FLUSH need not wait for flash.
    fn survives_power_cut(&self) -> bool;
    /// Time from when a write's data have arrived until they are held, on top of the
    /// controller's own.
    fn write_latency(&self) -> Span;
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
    methods: {
        fn capacity() -> Option<u64>;
        fn acknowledge() -> Acknowledge;
        fn overwrites_in_place() -> bool;
        fn survives_power_cut() -> bool;
        fn write_latency() -> Span;
    }
}
