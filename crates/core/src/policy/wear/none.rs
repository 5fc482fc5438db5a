//! No wear levelling beyond what placement gives.
//!
//! **What it does.** Nothing: a stripe stays on its planes, and without parity the placement
//! spreads the writes.
//!
//! **Why it matters for the tail.** No additional data are written. But planes whose data are
//! overwritten most are erased most, and wear out first.
//!
//! **Parameters and source.** None.
//!
//! **Left out.** Nothing.
//!
//! **Checked by** `policy_laws`.

use super::{Wear, WearVerdict, WearView};

parameterless!();

impl Wear for Policy {
    fn decide(&self, _: &WearView) -> WearVerdict {
        WearVerdict::Stay
    }
    fn moves_stripes(&self) -> bool {
        false
    }
}
