//! How whoever started a simulation follows it, and stops it.

use std::sync::atomic::{AtomicBool, Ordering};
use tailcut_units::SimTime;

/// Looks on while runs go, from several threads. `task` numbers the run: scheme × runs +
/// run. The simulation stops at the next opportunity once [`Watch::stopped`] is true.
pub trait Watch: Sync {
    /// Preconditioning has come so far (0 to 1, roughly).
    fn ageing(&self, _task: usize, _fraction: f64) {}

    /// So many requests are done, at this virtual time.
    fn requests(&self, _task: usize, _done: u64, _now: SimTime) {}

    /// The run is over.
    fn done(&self, _task: usize) {}

    /// Whether to stop.
    fn stopped(&self) -> bool {
        false
    }
}

/// Looks away and never stops.
impl Watch for () {}

/// Looks away; stops when set.
impl Watch for AtomicBool {
    fn stopped(&self) -> bool {
        self.load(Ordering::Relaxed)
    }
}
