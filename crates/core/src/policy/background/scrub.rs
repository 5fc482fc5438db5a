//! Scrub: blocks that collection has filled are read through the decoder in idle time.
//!
//! **What it does.** A block is due once collection has filled it. After `idle` without host
//! operations each plane reads the valid units of its due blocks, one every `pause`, in the order
//! in which the blocks were filled. It stops at the next host operation. A block that is erased is
//! no longer due.
//!
//! **Why it matters for the tail.** Copybacks skip the decoder, so errors would accumulate in data
//! that nobody reads. Scrubbing finds them, but a host read may wait for the one page that is being
//! scrubbed on its plane.
//!
//! **Parameters and source.** `idle`, `pause`. FAST'17 section 7 proposes it for recently collected
//! blocks; it gives no times, so both are assumptions.
//!
//! **Left out.** Repair of errors: reads have no errors here. Choice of blocks by program/erase
//! count.
//!
//! **Checked by** `policy_laws`, `scrub`.

use super::{Background, PolicyContext, Scrubbing};
use serde::{Deserialize, Serialize};
use tailcut_units::{Span, quantity};

/// When scrubbing begins, and how fast it reads.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    /// How long the host must have been idle before scrubbing begins.
    ///
    /// - Range: 0ns to 1000s
    #[serde(with = "quantity::time")]
    pub idle: Span,
    /// Time from one scrub read of a plane to the next.
    ///
    /// - Range: 10us to 1000s
    #[serde(with = "quantity::time")]
    pub pause: Span,
}

impl Default for Config {
    fn default() -> Config {
        Config { idle: Span(10_000_000), pause: Span(1_000_000) }
    }
}

/// The parameters.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Policy {
    idle: Span,
    pause: Span,
}

impl Policy {
    /// Build the policy; an error if `pause` is below 10 us or a time is above 1000 s.
    pub fn new(c: &Config, _: &PolicyContext) -> Result<Policy, String> {
        let most = Span(1_000_000_000_000);
        if c.pause < Span(10_000) || c.pause > most {
            return Err("policy.background.scrub.pause takes 10us to 1000s".into());
        }
        if c.idle > most {
            return Err("policy.background.scrub.idle takes at most 1000s".into());
        }
        Ok(Policy { idle: c.idle, pause: c.pause })
    }
}

impl Background for Policy {
    fn scrubbing(&self) -> Option<Scrubbing> {
        Some(Scrubbing { idle: self.idle, pause: self.pause })
    }
}
