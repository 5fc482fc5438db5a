//! GC-tolerant read as the authors' simulator decides it.
//!
//! **What it does.** Counts the cost of every extra read, whether its channel is busy or not. Where
//! the planes of a group collect one at a time: rebuild while the collection has pages left to
//! read. From the program of the last page on, rebuild only if the operation under way lasts longer
//! than the extra reads. During that program only the rest of the program counts, and not the erase
//! after it, so a read that the policy lets wait then waits for both. Otherwise: rebuild if the
//! collection lasts longer than the collections of the planes of the extra reads, by more than the
//! extra reads take. Both are the times predicted when these collections began; a predicted end
//! that has passed counts as no time left.
//!
//! **Why it matters for the tail.** As `gc-tolerant`, but some reads wait for a whole erase, and
//! for the page move before it: 2 to 3 ms on the drive of the paper.
//!
//! **Parameters and source.** None. The authors' SSDSim release of 2017, `convert_to_seq` with
//! `nonblocking_gc`.
//!
//! **Left out.** In that simulator a stripe that is neither the first nor the last of its read is
//! always rebuilt, regardless of the time left.
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
