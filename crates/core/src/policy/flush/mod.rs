//! When data leave the write buffer.

pub mod gc_tolerant;
pub mod immediate;
pub mod in_flight;
pub mod watermark;
pub mod write_unit;

use super::PolicyContext;

/// The view of the buffer for a flush policy, in mapping units.
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
    /// Whether the dirty units of a die fill a group, one write unit for each of its lanes. False unless the
    /// policy flushes by die.
    pub die_ready: bool,
    /// Mapping units in one write unit.
    pub units_per_write: u32,
}

/// The data that leave the buffer now. The mechanism asks again until the answer is `Hold`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FlushVerdict {
    /// Nothing.
    Hold,
    /// One write unit of the pool of the least recently written unit; with parity, the stripe of
    /// that unit.
    Oldest,
    /// One write unit of each lane of the die whose dirty units have filled a group for longest. A die whose
    /// units still fill one then comes after the others.
    ReadyDie,
    /// One write unit of the pool of the most recent write; with parity, its stripe.
    SameLane,
    /// The stripe that collections delay least. Whole stripes come before partial ones; among each of these, stripes
    /// without a collecting plane come first, then the least recently written.
    LeastHindered,
}

/// The contract: `next` returns a verdict other than `Hold` only if `dirty` (for `SameLane`,
/// `lane_dirty`) is not zero, and `ReadyDie` only if `die_ready`.
pub trait Flush {
    /// The data that leave now. This is asked after every write and after every verdict other than `Hold`. If `by_die`
    /// is true, it is also asked after every program, whose pool then stands for that of the most recent write.
    fn next(&mut self, view: &FlushView) -> FlushVerdict;
    /// Whether the reads that parity needs avoid collecting planes, if there is a choice. This never changes in a
    /// drive.
    fn avoids_collections(&self) -> bool {
        false
    }
    /// Whether `next` may return `ReadyDie`, and is asked when a program ends too. This needs each unit to have a
    /// die when it is written. Fixed for the drive's life.
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
        fn by_die() -> bool;
    }
    changes: {
        fn next(view: &FlushView) -> FlushVerdict;
    }
}
