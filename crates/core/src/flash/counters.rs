//! What the flash counts.

use serde::{Deserialize, Serialize};
use tailcut_units::Occupant;

/// Totals since the flash was made, or since they were last cleared.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FlashCounters {
    /// By occupant: operations of the array (a copyback is a read and a program) …
    pub operations: [u64; Occupant::COUNT],
    /// … and the planes that they covered.
    pub planes: [u64; Occupant::COUNT],
    /// Nominal array time of reads, programs and erases, ns.
    pub array_ns: [u64; 3],
    /// What became of erases that were interrupted.
    pub erase_suspension: Suspension,
    /// What became of programs that were interrupted.
    pub program_suspension: Suspension,
}

/// Totals of suspension, of erases or of programs.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Suspension {
    /// Suspensions, cancelled resumes included.
    pub suspends: u64,
    /// Resumes that an arrival cancelled.
    pub resumes_cancelled: u64,
    /// Nominal array time that was lost and done again, ns.
    pub repeated_ns: u64,
    /// Time that suspending and resuming took on the die, ns.
    pub overhead_ns: u64,
}

impl<O> super::Flash<O> {
    /// Totals so far.
    pub fn counters(&self) -> &FlashCounters {
        &self.state.counters
    }

    /// Begin counting again.
    pub fn reset_counters(&mut self) {
        self.state.counters = FlashCounters::default();
    }
}
