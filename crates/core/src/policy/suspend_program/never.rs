//! Never: a program runs to its end.
//!
//! **What it does.** Whatever waits for the die waits for the whole program.
//!
//! **Why it matters for the tail.** With page programs of hundreds of microseconds, most reads that
//! are not fast waited for one.
//!
//! **Parameters and source.** None.
//!
//! **Left out.** Nothing.
//!
//! **Checked by** `suspension`.

use super::{ProgramStop, SuspendProgram};

parameterless!();

impl SuspendProgram for Policy {
    #[inline]
    fn stop(&self) -> Option<ProgramStop> {
        None
    }
}
