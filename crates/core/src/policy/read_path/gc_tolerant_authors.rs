//! GC-tolerant read as the authors' simulator decides it.
//!
//! **What it does.** Charges every extra read, whether its channel is busy or not. Where the
//! planes of a group collect in turn: rebuild while pages are left to read; from the program of
//! the last page on, only if the operation under way lasts longer than the extra reads. That
//! program counts for itself: the erase behind it is overlooked, so a read that is told to wait
//! for it waits for both. Otherwise: rebuild if the collection outlasts those of the planes
//! that would be read in addition by more than the extra reads, both as predicted when they began;
//! a prediction that has passed counts as no time left.
//!
//! **Why it matters for the tail.** As `gc-tolerant`, but some reads wait for all of an erase,
//! and of the page move before it: 2 to 3 ms on the drive of the paper.
//!
//! **Parameters and source.** None. The authors' SSDSim release of 2017, `convert_to_seq` with
//! `nonblocking_gc`.
//!
//! **Left out.** There a stripe that is neither the first nor the last of its read is rebuilt
//! whatever is left.
//!
//! **Checked by** `policy_laws`, `rain`.

use super::{BlockedView, ReadPath};

parameterless!();

impl ReadPath for Policy {
    fn rebuilds(&self) -> bool {
        true
    }
    fn rebuild(&self, view: &BlockedView) -> bool {
        let cost = u64::from(view.extra) * view.read.0;
        if view.rotates {
            return !view.last_step || view.step_left.0 > cost;
        }
        view.left_as_begun.0 > view.extra_left_as_begun.0.saturating_add(cost)
    }
}
