//! RAIN: one parity for each stripe of consecutive units, one unit a channel.
//!
//! **What it does.** `width − 1` consecutive mapping units and their parity lie on one
//! plane each, of the planes at one position on `width` channels (a plane group); the
//! parity's channel moves by one from stripe to stripe of a group and differs from group
//! to group. A unit is bound to its plane and free inside it. A written member is read at
//! its new place as soon as it is programmed; what parity covers switches to the new members
//! with the last program, and until then the old ones stay readable.
//!
//! **Why it matters for the tail.** A page whose plane is busy can be computed from the
//! rest of its stripe (`read_path`), if no other plane of the group is busy
//! (`gc_schedule`).
//!
//! **Parameters and source.** `width`: 3 to 32, a divisor of the channels; `xor`: the
//! time to compute a unit once the others are there, less than 3 us up to a width of 8
//! (FAST'17 section 4.3). Placement of Yan et al. (FAST'17) Figure 4, rotation as in the
//! authors' simulator. The host has (width − 1)/width of what over-provisioning leaves.
//!
//! **Left out.** Computing parity costs a write no time of its own: it is done while the
//! pages pass. A TRIM frees whole stripes at rest; of others it is not heeded, since their
//! parity covers the data.
//!
//! **Checked by** `rain` (a rebuilt page is what was written), `stripes` unit tests.

use super::{PolicyContext, Redundancy, Striping};
use serde::{Deserialize, Serialize};
use tailcut_units::{Span, quantity};

/// The stripes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    /// Units of a stripe, parity included.
    ///
    /// - Range: 3 to 32; divides `geometry.channels`
    pub width: u32,
    /// Time to compute a unit from the others of its stripe.
    ///
    /// - Range: 0ns to 1s
    #[serde(with = "quantity::time")]
    pub xor: Span,
}

impl Default for Config {
    fn default() -> Config {
        Config { width: 8, xor: Span(3_000) }
    }
}

/// The parameters.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Policy {
    width: u32,
    xor: Span,
}

impl Policy {
    /// Refused when the stripes do not fit the channels.
    pub fn new(c: &Config, x: &PolicyContext) -> Result<Policy, String> {
        const KEY: &str = "policy.redundancy.rain";
        if !(3..=32).contains(&c.width) {
            return Err(format!("{KEY}.width is {}; a stripe has 3 to 32 units", c.width));
        }
        if !x.channels.is_multiple_of(c.width) {
            return Err(format!(
                "{KEY}.width is {}, which does not divide the {} channels: a stripe has one unit on each of its channels",
                c.width, x.channels
            ));
        }
        if x.lanes < x.channels {
            return Err(format!("{KEY} needs extents inside a channel, not ftl.extent = \"line\""));
        }
        if x.units_per_write != 1 {
            return Err(format!(
                "{KEY} needs write units of one mapping unit, and here they have {}: set ftl.write_planes and ftl.mapping_unit accordingly",
                x.units_per_write
            ));
        }
        if c.xor > Span(1_000_000_000) {
            return Err(format!("{KEY}.xor is {} ns; at most 1s", c.xor.0));
        }
        Ok(Policy { width: c.width, xor: c.xor })
    }
}

impl Redundancy for Policy {
    fn striping(&self) -> Option<Striping> {
        Some(Striping { width: self.width, xor: self.xor })
    }
}
