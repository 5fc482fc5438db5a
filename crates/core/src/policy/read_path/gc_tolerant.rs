//! GC-tolerant read: rebuild a unit whose plane collects, if that costs less than waiting.
//!
//! **What it does.** Reads the rest of the stripe instead, if the collection needs more time than
//! the extra reads cost other requests: `left > B × (sense + transfer)`. B is the number of extra
//! reads that meet a busy channel (on idle channels an extra read costs nothing). A request that
//! reads all data of the stripe needs only the parity in addition.
//!
//! **Why it matters for the tail.** Instead of tens of milliseconds for a collection, a read takes
//! one more page read. While only one plane of a group collects, a rebuild is always possible.
//!
//! **Parameters and source.** None. Yan et al. (FAST'17) section 4.3. If another plane of the
//! stripe collects too, the time until it is free is added to the cost of rebuilding; the paper
//! says only that one parity cuts one tail.
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
