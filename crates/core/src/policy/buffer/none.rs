//! Write-through: a host write completes when the flash has programmed it.
//!
//! **What it does.** Data pass through controller staging memory that is as large as the commands
//! in the device queue can fill. Nothing is overwritten in place.
//!
//! **Why it matters for the tail.** Every write waits for its program, and for the operation that
//! occupies the die before it; reads never hit a buffer.
//!
//! **Parameters and source.** None.
//!
//! **Left out.** Nothing.
//!
//! **Checked by** `write_through_completes_when_programmed` (theory tests).

use super::{Acknowledge, Buffer};
use tailcut_units::Span;

parameterless!();

impl Buffer for Policy {
    fn capacity(&self) -> Option<u64> {
        None
    }
    fn acknowledge(&self) -> Acknowledge {
        Acknowledge::WhenProgrammed
    }
    fn overwrites_in_place(&self) -> bool {
        false
    }
    fn survives_power_cut(&self) -> bool {
        false
    }
    fn write_latency(&self) -> Span {
        Span(0)
    }
}
