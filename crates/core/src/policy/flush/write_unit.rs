//! A lane's data leave as soon as they fill a whole write unit.
//!
//! **What it does.** After each write, if the dirty data of the written unit's lane (or of its
//! pool, where placement chooses the lane later) fill a write unit, that write unit leaves.
//!
//! **Why it matters for the tail.** The buffer stays nearly empty, so writes rarely wait for room.
//! But nothing is overwritten in place, and dies are always programming.
//!
//! **Parameters and source.** None. Append-only host-side layers (pblk) write like this.
//!
//! **Left out.** A ring shared with collection.
//!
//! **Checked by** `policy_laws`.

use super::{Flush, FlushVerdict, FlushView};

parameterless!();

impl Flush for Policy {
    #[inline]
    fn next(&mut self, view: &FlushView) -> FlushVerdict {
        if view.lane_dirty >= view.units_per_write { FlushVerdict::SameLane } else { FlushVerdict::Hold }
    }
}
