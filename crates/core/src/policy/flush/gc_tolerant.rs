//! GC-tolerant flush: stripes leave, first those that no collection hinders.
//!
//! **What it does.** As `watermark`, but the policy chooses which stripe leaves: whole stripes go
//! before partial ones, and among each of these a stripe whose planes do not collect goes before
//! the others. It looks at the least recently written whole stripe and the least recently written
//! partial stripe of each plane group. What the parity of a partial stripe needs is read from
//! planes that do not collect, where there is a choice. It needs either the old copies of the
//! written units and the old parity, or the rest of the stripe: whichever is cheaper and not behind
//! a collection. If one page behind a collection is still needed, all others of the stripe are
//! read, and that page is computed.
//!
//! **Why it matters for the tail.** Writes continue while planes collect, and the buffer need hold
//! only the data that are bound for collecting planes.
//!
//! **Parameters and source.** `high`, `low`: shares of the buffer. Yan et al. (FAST'17) section
//! 4.5, in the background above 80 %.
//!
//! **Left out.** The controller keeps the new parity of a stripe until it is programmed, beside the
//! buffer: its memory is not counted.
//!
//! **Checked by** `policy_laws`, `rain`.

use super::watermark::Marks;
use super::{Flush, FlushVerdict, FlushView, PolicyContext};
use serde::{Deserialize, Serialize};
use tailcut_units::quantity;

/// The two marks, as shares of the buffer's capacity.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    /// Flushing starts above this share of the buffer's capacity.
    ///
    /// - Range: at least `low`
    #[serde(with = "quantity::fraction")]
    pub high: f64,
    /// Flushing stops at this share of the buffer's capacity.
    ///
    /// - Range: at most `high`
    #[serde(with = "quantity::fraction")]
    pub low: f64,
}

impl Default for Config {
    fn default() -> Config {
        Config { high: 0.8, low: 0.8 }
    }
}

/// The marks.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Policy {
    marks: Marks,
}

impl Policy {
    /// Build the policy; an error if `low` is above `high`, or without parity.
    pub fn new(c: &Config, x: &PolicyContext) -> Result<Policy, String> {
        if x.groups == 0 {
            return Err(
                "policy.flush.gc-tolerant flushes stripes: set policy.redundancy to rain, or use watermark"
                    .into(),
            );
        }
        Ok(Policy { marks: Marks::new(c.high, c.low, "gc-tolerant")? })
    }
}

impl Flush for Policy {
    #[inline]
    fn next(&mut self, view: &FlushView) -> FlushVerdict {
        if self.marks.drains(view) { FlushVerdict::LeastHindered } else { FlushVerdict::Hold }
    }
    fn avoids_collections(&self) -> bool {
        true
    }
}
