//! Walk: V_REF moves step by step through a table until the data can be decoded.
//!
//! **What it does.** Each further sense has V_REF one entry of the table away from the sense before. After the
//! last entry the data are given up. Two options make the senses after the first faster. With `pipelined` the die
//! begins the next one while the data of one are transferred and decoded. Once data are decoded, it drops the sense
//! that is under way. With `shorter` each takes less time, and has more errors.
//!
//! **Why it matters for the tail.** What drives do without a better way: old data need many senses, each with a
//! transfer and the longest decoding.
//!
//! **Parameters and source.** `stride`: the distance of two entries, in steps of `errors.step`. `entries`: their
//! number. Tables of vendors are not published: both are assumptions. `table`: the entries of a table that is known.
//! `pipelined` and `drop`: pipelined read-retry
//! (PR²) of Park et al. (ASPLOS'21), by CACHE READ and RESET. `shorter` and `more_errors`: their adaptive
//! read-retry (AR²), by SET FEATURE. The share of the scheme `ar2` is theirs for the worst conditions; that this adds 7
//! errors of a KiB, a tenth of what their code corrects, is an assumption.
//!
//! **Left out.** Tables with entries that differ by boundary. A second sense ahead: the die begins another one only
//! when the data of the one before have failed, also if it has long ended. A sense of the whole time after the last
//! entry: a page within `more_errors` of the limit is given up. The commands of further senses that the die begins
//! ahead, and those that shorten senses: they take less than 1 us. A sense that other reads have joined is not
//! followed by one ahead, and is shorter only if all of them are further senses.
//!
//! **Checked by** `senses` of `core`.

use super::{Aim, FailedView, Faster, ReadRetry, Sense, parts};
use crate::policy::PolicyContext;
use serde::{Deserialize, Serialize};
use tailcut_units::{Span, quantity};

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
    /// The entries in their order, in place of `stride` and `entries`: where V_REF stands in the second sense and in
    /// each that follows, as its distance from the default, in steps. At most 60.
    ///
    /// - Range: each 0 to 100
    pub table: Vec<f64>,
    /// Whether the die begins the next sense while the data of one are transferred and decoded, from the second
    /// sense on.
    pub pipelined: bool,
    /// Time in which the die drops a sense that is not needed. Only with `pipelined`.
    ///
    /// - Range: 0ns to 1s
    #[serde(with = "quantity::time")]
    pub drop: Span,
    /// The share of a sense's time that is left out, from the second sense on.
    ///
    /// - Range: 0% to 90%
    #[serde(with = "quantity::fraction")]
    pub shorter: f64,
    /// Raw bit errors of a KiB that a shorter sense adds. Only with `shorter`.
    ///
    /// - Range: 0 to 1000
    pub more_errors: f64,
}

impl Default for Config {
    fn default() -> Config {
        Config {
            stride: 1.0,
            entries: 30,
            table: Vec::new(),
            pipelined: false,
            drop: Span(5_000),
            shorter: 0.0,
            more_errors: 7.0,
        }
    }
}

/// The table.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Policy {
    /// V_REF of the second sense and of each that follows, as its distance from the default.
    table: Vec<u16>,
    faster: Faster,
}

/// The most entries.
const MOST: u32 = 60;

impl Policy {
    /// Fails for values out of range.
    pub fn new(c: &Config, _: &PolicyContext) -> Result<Policy, String> {
        if !(1..=MOST).contains(&c.entries) {
            return Err(format!("policy.read_retry.walk.entries = {}: 1 to {MOST}", c.entries));
        }
        if c.table.len() > MOST as usize {
            return Err(format!("policy.read_retry.walk.table: {} entries; at most {MOST}", c.table.len()));
        }
        let stride = parts("walk.stride", c.stride)?;
        let strides = (1..=c.entries).map(|n| (u32::from(stride) * n).min(u16::MAX.into()) as u16);
        let table = match c.table.is_empty() {
            true => strides.collect(),
            false => c.table.iter().map(|&steps| parts("walk.table", steps)).collect::<Result<_, _>>()?,
        };
        if c.drop.0 > 1_000_000_000 {
            return Err(format!("policy.read_retry.walk.drop = {}: 0ns to 1s", c.drop));
        }
        if !(0.0..=0.9).contains(&c.shorter) {
            return Err(format!("policy.read_retry.walk.shorter = {}%: 0% to 90%", 100.0 * c.shorter));
        }
        if !(0.0..=1000.0).contains(&c.more_errors) {
            return Err(format!("policy.read_retry.walk.more_errors = {}: 0 to 1000", c.more_errors));
        }
        let more_errors = if c.shorter > 0.0 { c.more_errors } else { 0.0 };
        let faster = Faster {
            drop: c.pipelined.then_some(c.drop.0),
            shorter: libm::round(c.shorter * 1e6) as u32,
            errors: libm::round(more_errors * 16.0) as u32,
        };
        Ok(Policy { table, faster })
    }
}

impl ReadRetry for Policy {
    #[inline]
    fn faster(&self) -> Faster {
        self.faster
    }
    #[inline]
    fn next(&self, view: &FailedView) -> Option<Sense> {
        let moved = self.table.get(view.senses as usize - 1)?;
        Some(Sense { aim: Aim::Moved(*moved), decoded: true })
    }
}
