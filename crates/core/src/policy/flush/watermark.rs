//! Above a high watermark, the oldest units leave until a low watermark is reached.
//!
//! **What it does.** Watches the share of the buffer that is dirty (held and not yet on
//! its way); past `high` it releases write units of the least recently written data
//! until `low`.
//!
//! **Why it matters for the tail.** The gap above `high` absorbs bursts; a low `low` makes
//! flushes long and rare, a `low` close to `high` spreads them.
//!
//! **Parameters and source.** `high`, `low`: shares of the buffer. ttFlash flushes in
//! the background above 80 % (FAST'17 §4.5).
//!
//! **Left out.** Idle-time flushing.
//!
//! **Checked by** `policy_laws` and the buffer model tests.

use super::{Flush, FlushVerdict, FlushView, PolicyContext};
use serde::{Deserialize, Serialize};
use tailcut_units::quantity;

/// The two marks, as shares of the buffer's capacity.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    /// Flushing starts above this share.
    #[serde(with = "quantity::fraction")]
    pub high: f64,
    /// Flushing stops at this share.
    #[serde(with = "quantity::fraction")]
    pub low: f64,
}

impl Default for Config {
    fn default() -> Config {
        Config { high: 0.8, low: 0.8 }
    }
}

/// The marks in mapping units' share, and whether a flush is under way.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Policy {
    high_permille: u64,
    low_permille: u64,
    draining: bool,
}

impl Policy {
    /// Refused when `low` lies above `high`.
    pub fn new(c: &Config, _: &PolicyContext) -> Result<Policy, String> {
        Policy::of(c, "watermark")
    }

    /// The marks of a member that has the same.
    pub(super) fn of(c: &Config, member: &str) -> Result<Policy, String> {
        if c.low > c.high {
            return Err(format!(
                "policy.flush.{member}.low ({} %) lies above high ({} %)",
                c.low * 100.0,
                c.high * 100.0
            ));
        }
        let permille = |share: f64| libm::round(share * 1000.0) as u64;
        Ok(Policy { high_permille: permille(c.high), low_permille: permille(c.low), draining: false })
    }
}

impl Policy {
    /// Whether data shall leave.
    #[inline]
    pub(super) fn drains(&mut self, view: &FlushView) -> bool {
        let dirty = u64::from(view.dirty) * 1000;
        let mark = if self.draining { self.low_permille } else { self.high_permille };
        self.draining = view.dirty > 0 && dirty > mark * u64::from(view.capacity);
        self.draining
    }
}

impl Flush for Policy {
    #[inline]
    fn next(&mut self, view: &FlushView) -> FlushVerdict {
        if self.drains(view) { FlushVerdict::Oldest } else { FlushVerdict::Hold }
    }
}
