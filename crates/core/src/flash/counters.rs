//! The counters of the flash.

use super::op::Op;
use crate::array::eraser::EraseTotals;
use crate::array::senses::SenseTotals;
use crate::nand::config::EnergyConfig;
use serde::{Deserialize, Serialize};
use tailcut_units::Occupant;

/// Totals since the flash was made, or since they were last cleared.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FlashCounters {
    /// Array operations by occupant. A copyback counts as a read and a program.
    pub operations: [u64; Occupant::COUNT],
    /// Planes that these operations covered, by occupant.
    pub planes: [u64; Occupant::COUNT],
    /// Nominal array time of reads, programs and erases, ns.
    pub array_ns: [u64; 3],
    /// Erases of blocks whose pulses a scheme chose.
    pub erases: EraseTotals,
    /// Senses of pages that have raw bit errors.
    pub senses: SenseTotals,
    /// Suspensions of erases.
    pub erase_suspension: Suspension,
    /// Suspensions of programs.
    pub program_suspension: Suspension,
}

/// Totals of the suspensions of erases or of programs.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Suspension {
    /// Suspensions, cancelled resumes included.
    pub suspends: u64,
    /// Resumes that an arrival cancelled.
    pub resumes_cancelled: u64,
    /// Nominal array time that was lost and repeated, ns.
    pub repeated_ns: u64,
    /// Time that suspending and resuming took on the die, ns.
    pub overhead_ns: u64,
}

impl FlashCounters {
    /// Count an operation of this number of planes that enters the array for `ns`.
    #[inline(always)]
    pub(super) fn count_array(&mut self, op: &Op, planes: u32, ns: u64) {
        self.array_ns[op.counted()] += ns;
        self.operations[op.cmd.occupant as usize] += 1;
        self.planes[op.cmd.occupant as usize] += u64::from(planes);
    }

    /// Energy that the arrays took, in millijoules: in all, and for suspending, resuming and repeating alone.
    pub fn energy_mj(&self, p: &EnergyConfig) -> (f64, f64) {
        let mj = |ns: u64, microwatts: u64| ns as f64 * microwatts as f64 * 1e-12;
        let extra = |s: &Suspension, power| mj(s.overhead_ns + s.repeated_ns, power);
        let suspension = extra(&self.erase_suspension, p.erase) + extra(&self.program_suspension, p.program);
        let [read, program, erase] = self.array_ns;
        let read = read + self.senses.ahead_ns;
        let nominal = mj(read, p.read) + mj(program, p.program) + mj(erase, p.erase);
        (nominal + suspension, suspension)
    }
}

impl<O> super::Flash<O> {
    /// Totals so far.
    pub fn counters(&self) -> &FlashCounters {
        &self.state.counters
    }

    /// Set all totals to zero.
    pub fn reset_counters(&mut self) {
        self.state.counters = FlashCounters::default();
    }
}
