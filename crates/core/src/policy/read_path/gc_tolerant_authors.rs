//! GC-tolerant read as the authors' simulator decides it.
//!
//! **What it does.** Charges every extra read, whether its channel is busy or not. If no
//! other plane of the stripe collects: rebuild while the collection still moves data, and
//! during its erase if that lasts longer than the extra reads. Otherwise: rebuild if the
//! collection outlasts the others by more than the extra reads.
//!
//! **Why it matters for the tail.** As `gc-tolerant`; it waits for the end of a few more
//! erases.
//!
//! **Parameters and source.** None. The authors' SSDSim release of 2017.
//!
//! **Left out.** Nothing.
//!
//! **Checked by** `policy_laws`.

use super::{BlockedView, ReadPath};

parameterless!();

impl ReadPath for Policy {
    fn rebuilds(&self) -> bool {
        true
    }
    fn rebuild(&self, view: &BlockedView) -> bool {
        let cost = u64::from(view.extra) * view.read.0;
        if view.others_left.0 == 0 && !view.erasing {
            return true;
        }
        view.left.0 > view.others_left.0.saturating_add(cost)
    }
}
