//! Above a high watermark, the oldest units leave until a low watermark is reached.
//!
//! **What it does.** Watches the share of the buffer that is dirty (held and not yet on its way to
//! flash). Above `high` it releases write units of the least recently written data until `low` is
//! reached.
//!
//! **Why it matters for the tail.** The gap above `high` absorbs bursts. A low `low` makes flushes
//! long and rare, a `low` close to `high` spreads them.
//!
//! **Parameters and source.** `high`, `low`: shares of the buffer. ttFlash flushes in the
//! background above 80 % (FAST'17 §4.5).
//!
//! **Left out.** Idle-time flushing.
//!
//! **Checked by** `policy_laws`, `policy_decisions` and the buffer model tests.

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
    /// Build the policy; an error if `low` is above `high`.
    pub fn new(c: &Config, _: &PolicyContext) -> Result<Policy, String> {
        Ok(Policy { marks: Marks::new(c.high, c.low, "watermark")? })
    }
}

impl Flush for Policy {
    #[inline]
    fn next(&mut self, view: &FlushView) -> FlushVerdict {
        if self.marks.drains(view) { FlushVerdict::Oldest } else { FlushVerdict::Hold }
    }
}

/// Two marks for the dirty share of the buffer, and whether it is being drained to the low mark.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Marks {
    high_permille: u64,
    low_permille: u64,
    draining: bool,
}

impl Marks {
    /// Build the marks of a member; an error if `low` is above `high`.
    pub fn new(high: f64, low: f64, member: &str) -> Result<Marks, String> {
        if low > high {
            return Err(format!(
                "policy.flush.{member}.low ({} %) is above high ({} %)",
                low * 100.0,
                high * 100.0
            ));
        }
        let permille = |share: f64| libm::round(share * 1000.0) as u64;
        Ok(Marks { high_permille: permille(high), low_permille: permille(low), draining: false })
    }

    /// Whether data should leave now.
    #[inline]
    pub fn drains(&mut self, view: &FlushView) -> bool {
        let dirty = u64::from(view.dirty) * 1000;
        let mark = if self.draining { self.low_permille } else { self.high_permille };
        self.draining = view.dirty > 0 && dirty > mark * u64::from(view.capacity);
        self.draining
    }
}
