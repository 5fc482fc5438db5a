//! GC-tolerant read: rebuild a unit whose plane collects, if that is worth its reads.
//!
//! **What it does.** Reads the rest of the stripe instead, if the collection has longer to
//! go than the extra reads hold up others: `left > B × (sense + transfer)`, B being how many
//! of the extra reads meet a busy channel (on others they are free). A read of all the
//! stripe's data needs the parity too, and nothing else.
//!
//! **Why it matters for the tail.** A collection of tens of milliseconds becomes one more
//! page read; with one collecting plane a group there is always a way round.
//!
//! **Parameters and source.** None. Yan et al. (FAST'17) section 4.3. Where another plane of
//! the stripe collects too, its rest counts as part of the rebuilding; the paper says only
//! that one parity cuts one tail.
//!
//! **Left out.** Nothing.
//!
//! **Checked by** `policy_laws`, `rain`.

use super::{BlockedView, ReadPath};

parameterless!();

impl ReadPath for Policy {
    fn rebuilds(&self) -> bool {
        true
    }
    fn rebuild(&self, view: &BlockedView) -> bool {
        let cost = u64::from(view.busy_channels) * view.read.0;
        view.left.0 > view.others_left.0.saturating_add(cost)
    }
}
