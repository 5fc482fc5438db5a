//! Collection: a program of collection is suspended, and one of the host is not.
//!
//! **What it does.** When a read arrives, a program of collection completes the phase under way, as under
//! `inter-phase`. A program of the host, or of its parity, runs to its end. If a lane of the die is short of space,
//! programs of collection do so too.
//!
//! **Why it helps the tail.** Reads do not wait for collection, which has time, and acknowledged writes leave the
//! write buffer as soon as without suspension.
//!
//! **Parameters and source.** None. The stop is that of Wu and He, FAST'12 and JSA'14 section 4; the choice is
//! Tailcut's own.
//!
//! **Left out.** Nothing.
//!
//! **Checked by** `flash` of `core`.

use super::{ProgramStop, ProgramView, SuspendProgram};
use tailcut_units::{Occupant, Occupants};

parameterless!();

impl SuspendProgram for Policy {
    #[inline]
    fn suspends(&self, occupant: Occupant) -> bool {
        (Occupants::COLLECTION & Occupants::PROGRAMS).has(occupant)
    }
    #[inline]
    fn stop(&self, view: &ProgramView) -> Option<ProgramStop> {
        (!view.urgent).then_some(ProgramStop::AfterPhase)
    }
}
