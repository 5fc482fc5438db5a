//! No parity: a page whose plane is busy can only be waited for, and a lost page stays lost.
//!
//! **What it does.** Nothing.
//!
//! **Why it matters for the tail.** All flash holds data, and no write has to write parity; but a
//! unit can be read in one place only.
//!
//! **Parameters and source.** None.
//!
//! **Left out.** Nothing.
//!
//! **Checked by** `policy_laws`.

use super::{Redundancy, Striping};

parameterless!();

impl Redundancy for Policy {
    fn striping(&self) -> Option<Striping> {
        None
    }
}
