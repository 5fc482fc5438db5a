//! RAIN: one parity for each stripe of consecutive units, one unit on each channel.
//!
//! **What it does.** A stripe is `width − 1` consecutive mapping units and their parity. Each of
//! them lies on a plane of its own; these planes have the same position on `width` channels (a
//! plane group). The channel of the parity moves by one from stripe to stripe of a group, and
//! differs from group to group. A unit is bound to its plane, but not to a place inside it. When a
//! stripe is written, each member is read at its new address as soon as it is programmed there. The
//! parity covers the old copies of the members until the last program has ended, and the new ones
//! from then on. Until then the old copies stay readable.
//!
//! **Why it matters for the tail.** A page whose plane is busy can be computed from the rest of its
//! stripe (`read_path`), if no other plane of the group is busy (`gc_schedule`).
//!
//! **Parameters and source.** `width`: 3 to 32, a divisor of the channels; `xor`: the time to
//! compute a unit once the others are in the controller, less than 3 us up to a width of 8 (FAST'17
//! section 4.3). Placement of Yan et al. (FAST'17) Figure 4, rotation as in the authors' simulator.
//! The host capacity is (width − 1)/width of what over-provisioning leaves.
//!
//! **Left out.** Computing parity adds no time to a write: it is done while the pages pass through
//! the controller. A TRIM frees only whole stripes of which nothing is in the write buffer or on
//! its way to flash. In other stripes it is ignored, since their parity covers the data.
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
    /// Build the policy; an error if the stripes do not fit the channels, extents or write units,
    /// or if `xor` is too long.
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
