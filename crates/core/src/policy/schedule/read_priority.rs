//! Host reads first, everything else in order.
//!
//! **What it does.** A queued host read is served before any program, collection or erase that has
//! not begun; on the channel too host reads go first. All other operations are served in order of
//! arrival. But at the hard limit of `gc_schedule` collection goes before host programs, as writes
//! could not continue without it. Where `suspend_program` and `suspend_erase` allow it, a host read
//! interrupts an operation that has begun; with both at `never` nothing is interrupted.
//!
//! **Why it matters for the tail.** A read waits at most for the one operation that is under way,
//! not for the queue behind it.
//!
//! **Parameters and source.** None. RPS of Wu and He (FAST'12); the highest priority of user reads
//! in ATC'19 §3.1; urgent collection as in MQSim.
//!
//! **Left out.** A bound on how long reads may delay writes.
//!
//! **Checked by** `policy_laws`, golden timelines.

use super::{QueueView, Schedule, earliest};
use tailcut_units::{Occupant, Occupants};

parameterless!();

impl Schedule for Policy {
    #[inline]
    fn next(&mut self, view: &QueueView<'_>) -> Occupant {
        if view.waiting.has(Occupant::UserRead) {
            return Occupant::UserRead;
        }
        let collection = view.waiting & Occupants::COLLECTION;
        let waiting = if view.urgent && !collection.is_empty() { collection } else { view.waiting };
        earliest(waiting, view.arrived)
    }
}
