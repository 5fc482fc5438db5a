//! Walk: V_REF moves step by step through a table until the data can be decoded.
//!
//! **What it does.** Each further sense has V_REF one entry of the table away from the sense before. After the
//! last entry the data are given up.
//!
//! **Why it matters for the tail.** What drives do without a better way: old data need many senses, each with a
//! transfer and the longest decoding.
//!
//! **Parameters and source.** `stride`: the distance of two entries, in steps of `errors.step`. `entries`: their
//! number. Tables of vendors are not published: both are assumptions.
//!
//! **Left out.** Tables with entries that differ by boundary.
//!
//! **Checked by** `senses` of `core`.

use super::{Aim, FailedView, ReadRetry, Sense, parts};
use crate::policy::PolicyContext;
use serde::{Deserialize, Serialize};

/// The table.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    /// Distance of two entries, in steps.
    ///
    /// - Range: 0 to 100
    pub stride: f64,
    /// Entries.
    ///
    /// - Range: 1 to 60
    pub entries: u32,
}

impl Default for Config {
    fn default() -> Config {
        Config { stride: 1.0, entries: 30 }
    }
}

/// The table.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Policy {
    stride: u16,
    entries: u32,
}

impl Policy {
    /// Fails for values out of range.
    pub fn new(c: &Config, _: &PolicyContext) -> Result<Policy, String> {
        if !(1..=60).contains(&c.entries) {
            return Err(format!("policy.read_retry.walk.entries = {}: 1 to 60", c.entries));
        }
        Ok(Policy { stride: parts("walk.stride", c.stride)?, entries: c.entries })
    }
}

impl ReadRetry for Policy {
    #[inline]
    fn next(&self, view: &FailedView) -> Option<Sense> {
        let moved = (u32::from(self.stride) * view.senses).min(u32::from(u16::MAX)) as u16;
        (view.senses <= self.entries).then_some(Sense { aim: Aim::Moved(moved), decoded: true })
    }
}
