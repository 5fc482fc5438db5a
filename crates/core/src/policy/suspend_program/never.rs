//! Never: a program runs to its end.
//!
//! **What it does.** An operation that waits for the die waits for the whole program.
//!
//! **Why it matters for the tail.** Page programs take hundreds of microseconds, so most slow reads
//! are reads that waited for a program.
//!
//! **Parameters and source.** None.
//!
//! **Left out.** Nothing.
//!
//! **Checked by** `flash` of `core`.

use super::{ProgramStop, ProgramView, SuspendProgram};
use tailcut_units::Occupant;

parameterless!();

impl SuspendProgram for Policy {
    #[inline]
    fn suspends(&self, _: Occupant) -> bool {
        false
    }
    #[inline]
    fn stop(&self, _: &ProgramView) -> Option<ProgramStop> {
        None
    }
}
