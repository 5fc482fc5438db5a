//! How the user of a simulation follows it and stops it.

use std::sync::atomic::{AtomicBool, Ordering};
use tailcut_units::SimTime;

/// Follows runs from several threads. `task` numbers the run: scheme × runs + run. The
/// simulation stops soon after [`Watch::stopped`] becomes true.
pub trait Watch: Sync {
    /// Preconditioning has reached this fraction of its usual length; it may take longer than 1.
    fn ageing(&self, _task: usize, _fraction: f64) {}

    /// This many requests are done at this virtual time.
    fn requests(&self, _task: usize, _done: u64, _now: SimTime) {}

    /// The run has ended.
    fn done(&self, _task: usize) {}

    /// Whether the simulation must stop.
    fn stopped(&self) -> bool {
        false
    }
}

/// Ignores all reports and never stops.
impl Watch for () {}

/// Ignores all reports and stops when set.
impl Watch for AtomicBool {
    fn stopped(&self) -> bool {
        self.load(Ordering::Relaxed)
    }
}
