//! A write-back buffer with in-place overwrite and least-recently-written eviction.
//!
//! **What it does.** A write completes when its units are in the buffer. A unit that is written
//! again before it leaves is overwritten in place. The flush policy says when units leave; the
//! least recently written leave first. Reads are served from the buffer where it holds their data.
//!
//! **Why it matters for the tail.** Writes do not wait for programs and collections until the
//! buffer is full; overwrites cost no program at all.
//!
//! **Parameters and source.** `capacity`: no more is used than the drive's whole address space and
//! the commands under way can fill (a warning is given if it is larger). `power_loss`: with
//! `capacitor` held data survive a power cut and a FLUSH completes at once; with `volatile` a FLUSH
//! waits until all data held when it arrived are on flash. `write_latency`: the time from when a
//! write's data have arrived until the buffer holds them (the ttFlash authors' simulator: 1 us),
//! for any number of writes at once. `queue_limit` (absent: none): while `bytes` or more wait in
//! the buffer, not yet on their way, for the die (or lane, by `of`) that a write is for, the write waits,
//! and writes for others pass it (the authors' simulator of ATC'19: 2,047 pages a chip). Without a limit,
//! one die whose programs cannot run may take the whole buffer before any write waits.
//!
//! **Left out.** Read caching: only written data are held.
//!
//! **Checked by** the buffer cases of the model tests and `policy_laws`.

use super::{Acknowledge, Buffer, PolicyContext, QueueLimit};
use serde::{Deserialize, Serialize};
use tailcut_units::{Span, quantity};

/// What happens to held data at a power cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PowerLoss {
    /// Held data are saved.
    Capacitor,
    /// Held data are lost.
    Volatile,
}

/// The size of the buffer, its behaviour at a power cut, and its delays and limits.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    /// Bytes of host data that the buffer holds.
    ///
    /// - Range: more than 0B; at least one write unit
    #[serde(with = "quantity::bytes")]
    pub capacity: u64,
    /// What a power cut does to held data.
    pub power_loss: PowerLoss,
    /// Time to put a write into the buffer.
    ///
    /// - Range: 0ns to 1s
    #[serde(with = "quantity::time")]
    pub write_latency: Span,
    /// The amount of data that wait to leave for one die or lane at which further writes to it wait.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub queue_limit: Option<QueueLimit>,
}

impl Default for Config {
    fn default() -> Config {
        Config {
            capacity: 64 << 20,
            power_loss: PowerLoss::Capacitor,
            write_latency: Span(0),
            queue_limit: None,
        }
    }
}

/// The parameters.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Policy {
    capacity: u64,
    durable: bool,
    write_latency: Span,
    queue_limit: Option<QueueLimit>,
}

impl Policy {
    /// Build the policy; an error if the buffer or the queue limit is less than one write unit, or
    /// if `write_latency` is above 1 s.
    pub fn new(c: &Config, context: &PolicyContext) -> Result<Policy, String> {
        let least = u64::from(context.units_per_write) * context.unit_bytes;
        if c.capacity < least {
            return Err(format!(
                "policy.buffer.lru.capacity is {} bytes, but one write unit is {least} bytes",
                c.capacity
            ));
        }
        if let Some(QueueLimit { bytes, .. }) = c.queue_limit
            && bytes < least
        {
            return Err(format!(
                "policy.buffer.lru.queue_limit.bytes is {bytes} bytes, but one write unit is {least} bytes"
            ));
        }
        if c.write_latency > Span(1_000_000_000) {
            return Err(format!(
                "policy.buffer.lru.write_latency is {} ns, but a buffer takes at most 1s",
                c.write_latency.0
            ));
        }
        Ok(Policy {
            capacity: c.capacity,
            durable: c.power_loss == PowerLoss::Capacitor,
            write_latency: c.write_latency,
            queue_limit: c.queue_limit,
        })
    }
}

impl Buffer for Policy {
    fn capacity(&self) -> Option<u64> {
        Some(self.capacity)
    }
    fn acknowledge(&self) -> Acknowledge {
        Acknowledge::WhenHeld
    }
    fn overwrites_in_place(&self) -> bool {
        true
    }
    fn survives_power_cut(&self) -> bool {
        self.durable
    }
    fn write_latency(&self) -> Span {
        self.write_latency
    }
    fn queue_limit(&self) -> Option<QueueLimit> {
        self.queue_limit
    }
}
