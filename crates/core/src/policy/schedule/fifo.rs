//! First come, first served.
//!
//! **What it does.** Serves the operation that has waited longest, of any kind. The channel too is
//! granted in the order of the requests for it.
//!
//! **Why it matters for the tail.** A read waits for every program and erase that came before it:
//! the reference point that all read-first schemes are compared with.
//!
//! **Parameters and source.** None. FIFO of Wu and He (FAST'12).
//!
//! **Left out.** Nothing.
//!
//! **Checked by** `policy_laws`, golden timelines, the M/D/1 theory test.

use super::{QueueView, Schedule, earliest};
use tailcut_units::{Occupant, Occupants};

parameterless!();

impl Schedule for Policy {
    #[inline]
    fn next(&mut self, view: &QueueView<'_>) -> Occupant {
        earliest(view.waiting, view.arrived)
    }
    #[inline]
    fn first_on_channel(&self, _: Occupant) -> bool {
        false
    }
    fn interrupters(&self, _: Occupant) -> Occupants {
        Occupants::NONE
    }
}
