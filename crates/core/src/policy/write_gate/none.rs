//! None: every LUN programs and erases in the order of its queue.
//!
//! **What it does.** Nothing. Strides, if the drive has them, serve only what cannot be read.
//!
//! **Why it matters for the tail.** A read waits for the program or erase on its LUN: up to 1.8 or 6 ms on a
//! `cnex-westlake`.
//!
//! **Parameters and source.** None.
//!
//! **Left out.** Nothing.
//!
//! **Checked by** `pblk`.

use super::{GateRules, WriteGate};

parameterless!();

impl WriteGate for Policy {
    #[inline]
    fn rules(&self) -> Option<GateRules> {
        None
    }
}
