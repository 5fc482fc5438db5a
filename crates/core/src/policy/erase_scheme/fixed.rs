//! Fixed: every erase takes the configured loops.
//!
//! **What it does.** An erase consists of `timing.erase.loops` loops of the configured lengths, for every
//! block and at every age.
//!
//! **Why it matters for the tail.** The erase of a model whose blocks are all alike.
//!
//! **Parameters and source.** None.
//!
//! **Left out.** Blocks that differ and age: these are what the other members act on.
//!
//! **Checked by** `flash` of `core`, `suspension`.

use super::{BlockView, EraseScheme, Pulse, VerifyView};

parameterless!();

impl EraseScheme for Policy {
    #[inline]
    fn rows(&self) -> Option<&'static str> {
        None
    }
    fn first(&self, _: &BlockView) -> Pulse {
        unreachable!("a fixed erase has no plan")
    }
    fn next(&self, _: &BlockView, _: &VerifyView) -> Option<Pulse> {
        None
    }
}
