//! What a simulation hands over beside its measurements: plain values, no behaviour of
//! the device. What the device has no mechanism for stays `None` and out of the summary.

use crate::ordered::Ordered;
use crate::summary::{
    Channel, Gc, Load, Operations, PeCycles, Precondition, Suspends, Utilisation, WriteStall,
};

/// Counters of the device over the measurement.
#[derive(Clone, Debug, Default)]
pub struct DeviceCounters {
    /// Mapping units programmed by class, `user` first; their sum is all the dies did.
    pub programs: Ordered<u64>,
    /// Garbage collection.
    pub gc: Option<Gc>,
    /// Suspensions.
    pub suspends: Option<Suspends>,
    /// Operations of the arrays by occupant.
    pub operations: Ordered<Operations>,
    /// The longest time in which writes were outstanding and none was completed.
    pub write_stall: Option<WriteStall>,
    /// Blocks erased.
    pub erases: Option<u64>,
    /// Program/erase cycles of the blocks at the end.
    pub pe_cycles: Option<PeCycles>,
    /// What the channels' time went to.
    pub channel: Option<Channel>,
    /// How much of the time the parts of the drive were in use.
    pub utilisation: Option<Utilisation>,
    /// Energy of the flash in millijoules.
    pub energy_mj: Option<f64>,
}

impl DeviceCounters {
    /// Write amplification: all programs by those of class `user`. `None` when nothing
    /// was programmed for the host.
    pub fn waf(&self) -> Option<f64> {
        let user = *self.programs.get("user").filter(|&&user| user > 0)?;
        let all: u64 = self.programs.iter().map(|(_, n)| n).sum();
        Some(all as f64 / user as f64)
    }
}

/// What only the program that ran the simulation knows of one scheme's run.
#[derive(Clone, Debug, Default)]
pub struct SchemeFacts {
    /// The scheme's name.
    pub name: String,
    /// The run's digest, 16 hexadecimal digits.
    pub digest: String,
    /// Real time taken, seconds.
    pub wall_seconds: f64,
    /// Processor time taken, seconds.
    pub cpu_seconds: f64,
    /// Largest resident memory of the process, bytes.
    pub peak_rss_bytes: Option<u64>,
    /// How the drive was brought to its state.
    pub precondition: Option<Precondition>,
    /// What arrived without waiting for the drive, beside what it served.
    pub load: Option<Load>,
}
