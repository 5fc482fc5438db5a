//! The plain values that a simulation passes to the report in addition to its measurements. Values for which the device
//! has no mechanism stay `None` and are left out of the summary.

use crate::erases::ErasePulses;
use crate::faults::Faults;
use crate::ordered::Ordered;
use crate::senses::PageSenses;
use crate::summary::{
    Channel, Gc, Load, Operations, PeCycles, Precondition, SlcUse, Suspends, Utilisation, WriteStall,
};

/// Counters of the device over the measurement.
#[derive(Clone, Debug, Default)]
pub struct DeviceCounters {
    /// Mapping units programmed by class, `user` first; the sum is all that the dies
    /// programmed.
    pub programs: Ordered<u64>,
    /// Mapping units of the host that were handled in a special way, by how; those that occurred.
    pub units: Ordered<u64>,
    /// The counters of the drive that counted something, by name.
    pub counters: Ordered<u64>,
    /// Garbage collection.
    pub gc: Option<Gc>,
    /// Suspensions.
    pub suspends: Option<Suspends>,
    /// Operations of the arrays by occupant.
    pub operations: Ordered<Operations>,
    /// Failures of the flash; `None` if the drive cannot fail.
    pub faults: Option<Faults>,
    /// The longest time in which writes were outstanding and none was completed.
    pub write_stall: Option<WriteStall>,
    /// Blocks erased.
    pub erases: Option<u64>,
    /// Erases whose scheme chooses their pulses.
    pub erase_pulses: Option<ErasePulses>,
    /// Senses of pages with raw bit errors.
    pub page_senses: Option<PageSenses>,
    /// Program/erase cycles of the blocks at the end.
    pub pe_cycles: Option<PeCycles>,
    /// The SLC region; `None` on a drive without one.
    pub slc: Option<SlcUse>,
    /// Shares of the channels' time by use.
    pub channel: Option<Channel>,
    /// Shares of the measured time in which the parts of the drive were in use.
    pub utilisation: Option<Utilisation>,
    /// Energy of the flash in millijoules.
    pub energy_mj: Option<f64>,
}

impl DeviceCounters {
    /// Write amplification: all programs divided by those of class `user`. `None` when nothing
    /// was programmed for the host.
    pub fn waf(&self) -> Option<f64> {
        let user = *self.programs.get("user").filter(|&&user| user > 0)?;
        let all: u64 = self.programs.iter().map(|(_, n)| n).sum();
        Some(all as f64 / user as f64)
    }
}

/// The facts of one scheme's run that only the program that ran the simulation knows.
#[derive(Clone, Debug, Default)]
pub struct SchemeFacts {
    /// The scheme's name.
    pub name: String,
    /// The run's digest, 16 hexadecimal digits.
    pub digest: String,
    /// Real time of the run, seconds.
    pub wall_seconds: f64,
    /// Processor time of the run, seconds.
    pub cpu_seconds: f64,
    /// Largest resident memory of the process, bytes.
    pub peak_rss_bytes: Option<u64>,
    /// How the aged state of the drive was made.
    pub precondition: Option<Precondition>,
    /// The load of an open loop; `None` in a closed loop.
    pub load: Option<Load>,
}
