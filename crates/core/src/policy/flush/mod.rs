//! When data leave the write buffer.

pub mod immediate;
pub mod watermark;
pub mod write_unit;

use super::PolicyContext;

/// What a flush policy sees: counts of mapping units.
#[derive(Clone, Copy, Debug)]
pub struct FlushView {
    /// Held and not yet on their way to flash.
    pub dirty: u32,
    /// All that are held, those on their way included.
    pub held: u32,
    /// The buffer's size.
    pub capacity: u32,
    /// Dirty units of the lane of the most recent write.
    pub lane_dirty: u32,
    /// Mapping units in one write unit.
    pub units_per_write: u32,
}

/// What shall leave now. The mechanism asks again until the answer is `Hold`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FlushVerdict {
    /// Nothing.
    Hold,
    /// One write unit of the lane of the least recently written unit.
    Oldest,
    /// One write unit of the lane of the most recent write.
    SameLane,
}

/// The contract: `Oldest` and `SameLane` only when `dirty` (`lane_dirty`) is not zero.
pub trait Flush {
    /// Asked after every write and after every verdict other than `Hold`.
    fn next(&mut self, view: &FlushView) -> FlushVerdict;
}

family! {
    key: "flush",
    decides: "When data leave the write buffer.",
    config: FlushConfig,
    policy: FlushPolicy: Flush,
    context: PolicyContext,
    members: {
        immediate Immediate "immediate",
        watermark Watermark "watermark",
        write_unit WriteUnit "write-unit",
    }
    methods: {
        fn next(view: &FlushView) -> FlushVerdict;
    }
}
