//! When data leave the write buffer.

pub mod gc_tolerant;
pub mod immediate;
pub mod in_flight;
pub mod watermark;
pub mod write_unit;

use super::PolicyContext;

/// What a flush policy sees of the buffer, in mapping units.
#[derive(Clone, Copy, Debug)]
pub struct FlushView {
    /// Units that are held and not yet on their way to flash.
    pub dirty: u32,
    /// All units that are held, including those on their way to flash.
    pub held: u32,
    /// The buffer's size.
    pub capacity: u32,
    /// Dirty units of the pool of the most recent write; with parity, of its stripe.
    pub lane_dirty: u32,
    /// Dirty units of the die of the most recent write; 0 unless the policy heeds what is on its way.
    pub die_dirty: u32,
    /// The same of the die of the least recently written unit.
    pub oldest_die_dirty: u32,
    /// Mapping units in one write unit.
    pub units_per_write: u32,
}

/// What leaves the buffer now. The mechanism asks again until the answer is `Hold`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FlushVerdict {
    /// Nothing.
    Hold,
    /// One write unit of the pool of the least recently written unit; with parity, the stripe of
    /// that unit.
    Oldest,
    /// One write unit of each lane of the die of the least recently written unit.
    OldestDie,
    /// One write unit of each lane of the die of the most recent write.
    SameDie,
    /// One write unit of the pool of the most recent write; with parity, its stripe.
    SameLane,
    /// The stripe that collections hinder least: whole stripes before partial ones, among each of
    /// these stripes without a collecting plane first, then the least recently written.
    LeastHindered,
}

/// The contract: `next` returns a verdict other than `Hold` only if `dirty` (for `SameLane`,
/// `lane_dirty`, for `SameDie` `die_dirty`) is not zero.
pub trait Flush {
    /// What leaves now; asked after every write and after every verdict other than `Hold`. After a program
    /// only where `heeds_flight` says so; then the program's pool stands for that of the most recent write.
    fn next(&mut self, view: &FlushView) -> FlushVerdict;
    /// Whether what parity needs is read from planes that do not collect, where there is a
    /// choice; fixed for the drive's life.
    fn avoids_collections(&self) -> bool {
        false
    }
    /// Whether what is on its way decides, so that `next` is asked when a program ends too. Fixed for the
    /// drive's life.
    fn heeds_flight(&self) -> bool {
        false
    }
    /// Whether `next` ever returns `OldestDie` or `SameDie`; this needs each unit to have a lane when it is
    /// written. Fixed for the drive's life.
    fn by_die(&self) -> bool {
        false
    }
}

family! {
    key: "flush",
    decides: "When data leave the write buffer.",
    config: FlushConfig,
    policy: FlushPolicy: Flush,
    context: PolicyContext,
    members: {
        immediate Immediate "immediate",
        in_flight InFlight "in-flight",
        gc_tolerant GcTolerant "gc-tolerant",
        watermark Watermark "watermark",
        write_unit WriteUnit "write-unit",
    }
    answers: {
        fn avoids_collections() -> bool;
        fn heeds_flight() -> bool;
        fn by_die() -> bool;
    }
    changes: {
        fn next(view: &FlushView) -> FlushVerdict;
    }
}
