//! No parity: a page that is lost, or kept busy, is waited for.
//!
//! **What it does.** Nothing.
//!
//! **Why it matters for the tail.** The whole flash is data, and no write needs another; but
//! a read has one place to go.
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
