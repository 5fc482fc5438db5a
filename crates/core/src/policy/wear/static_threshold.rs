//! Static wear levelling: blocks with cold data are emptied, so that they are erased like the others.
//!
//! **What it does.** After each erase it compares the extents of the lane by the erases of their blocks. If
//! the least erased extent that holds data has `gap` program/erase cycles fewer than the most erased extent of
//! the lane, it is collected next, whatever it holds. Its data go where other collections of the lane write, and
//! its blocks take new data.
//!
//! **Why it matters for the tail.** Data that are never overwritten keep their blocks from being erased, so
//! that the others wear out first. Such a collection moves up to a whole extent and wins little, and host
//! operations wait behind it like behind any other.
//!
//! **Parameters and source.** `gap`: 100 program/erase cycles, in the drive of AERO (ASPLOS'24), which has the static wear
//! levelling of MQSim with this threshold.
//!
//! **Left out.** Levelling between lanes: placement spreads writes over them. MQSim takes the least erased
//! block also if it is free; here it is one that holds data.
//!
//! **Checked by** `policy_laws`, `wear` (cold blocks are erased, even wear moves nothing).

use super::{PolicyContext, Wear, WearVerdict, WearView};
use serde::{Deserialize, Serialize};

/// The difference in program/erase cycles at which an extent is emptied.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    /// Program/erase cycles by which the least erased extent of a lane is behind the most erased one before it
    /// is emptied.
    ///
    /// - Range: 1 to 1000000
    pub gap: u32,
}

impl Default for Config {
    fn default() -> Config {
        Config { gap: 100 }
    }
}

/// The parameter.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Policy {
    gap: u32,
}

impl Policy {
    /// Fails for a gap that is out of range.
    pub fn new(c: &Config, _: &PolicyContext) -> Result<Policy, String> {
        if !(1..=1_000_000).contains(&c.gap) {
            return Err(format!("policy.wear.static-threshold.gap = {}: 1 to 1000000", c.gap));
        }
        Ok(Policy { gap: c.gap })
    }
}

impl Wear for Policy {
    fn decide(&self, _: &WearView) -> WearVerdict {
        WearVerdict::Stay
    }
    fn moves_stripes(&self) -> bool {
        false
    }
    fn erase_gap(&self) -> Option<u32> {
        Some(self.gap)
    }
}
