//! Refresh: data that have become old are written again before they need retries.
//!
//! **What it does.** Every `pause` each plane looks for the next full block whose data are older than `after`, and
//! collects it, whatever it holds. When no such block is left, it stops.
//!
//! **Why it matters for the tail.** Young data need no retries. The price are programs and erases, behind which
//! host reads wait, and wear.
//!
//! **Parameters and source.** `after`: 10 days, after which RiF's chips (HPCA'24) need retries at 500 cycles. `pause`:
//! an assumption. Rewriting old data is general practice (Cai et al., ICCD 2012, "flash correct-and-refresh").
//!
//! **Left out.** Data that become old during a run, since a run lasts no days. Correction in place. The
//! extent of several blocks is as old as its oldest block.
//!
//! **Checked by** `policy_laws`, `refresh`.

use super::{Background, PolicyContext, Refreshing, Scrubbing};
use serde::{Deserialize, Serialize};
use tailcut_units::{Span, quantity};

/// Which data are written again, and how fast.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    /// Age of data from which on they are written again.
    ///
    /// - Range: 1h to 36500d
    #[serde(with = "quantity::time")]
    pub after: Span,
    /// Time from one choice of a block in a plane to the next.
    ///
    /// - Range: 10us to 1000s
    #[serde(with = "quantity::time")]
    pub pause: Span,
}

const HOUR: u64 = 3_600_000_000_000;

impl Default for Config {
    fn default() -> Config {
        Config { after: Span(240 * HOUR), pause: Span(100_000_000) }
    }
}

/// The parameters.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Policy {
    after: Span,
    pause: Span,
}

impl Policy {
    /// Fails for times out of range.
    pub fn new(c: &Config, _: &PolicyContext) -> Result<Policy, String> {
        if !(HOUR..=36_500 * 24 * HOUR).contains(&c.after.0) {
            return Err("policy.background.refresh.after takes 1h to 36500d".into());
        }
        if !(10_000..=1_000_000_000_000).contains(&c.pause.0) {
            return Err("policy.background.refresh.pause takes 10us to 1000s".into());
        }
        Ok(Policy { after: c.after, pause: c.pause })
    }
}

impl Background for Policy {
    fn scrubbing(&self) -> Option<Scrubbing> {
        None
    }
    fn refreshing(&self) -> Option<Refreshing> {
        Some(Refreshing { after: self.after, pause: self.pause })
    }
}
