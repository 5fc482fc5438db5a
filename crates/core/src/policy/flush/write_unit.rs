//! A lane's data leave as soon as they fill a whole write unit.
//!
//! **What it does.** After each write, if the written unit's lane has gathered a full
//! write unit, that write unit leaves.
//!
//! **Why it matters for the tail.** The buffer stays nearly empty, so writes rarely wait
//! for room, but nothing is overwritten in place and dies are always programming.
//!
//! **Parameters and source.** None; the append-only host-side layers (pblk) write so.
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
