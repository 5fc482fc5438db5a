//! Complete groups of a die leave while no more than a share of the buffer is on its way.
//!
//! **What it does.** A group is one write unit for each lane of a die. A complete group leaves at once, so
//! that the programs of the die's planes may join. While `most` is on its way to flash, groups wait, and
//! leave in the order in which they were completed, a group of each die in turn. A small buffer that is full
//! of incomplete groups gives its oldest write unit away.
//!
//! **Why it matters for the tail.** What is on its way is in the order in which it was written, for all
//! dies alike. A die that collects holds more and more of it, and then groups for all other dies wait too.
//! With a limit on what waits for a die (`queue_limit` of the buffer), writes wait often, but each only
//! until the next group of its die leaves.
//!
//! **Parameters and source.** `most`: the authors' simulator of ATC'19 (their fork of MQSim, 2019), in
//! groups of eight pages a chip and 64 MiB on their way.
//!
//! **Left out.** Nothing.
//!
//! **Checked by** `policy_laws`, `policy_decisions`, `write_queues`.

use super::{Flush, FlushVerdict, FlushView, PolicyContext};
use serde::{Deserialize, Serialize};
use tailcut_units::quantity;

/// How much may be on its way.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    /// Share of the buffer's capacity that may be on its way to flash.
    #[serde(with = "quantity::fraction")]
    pub most: f64,
}

impl Default for Config {
    fn default() -> Config {
        Config { most: 0.33 }
    }
}

/// How much may be on its way.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Policy {
    most_permille: u64,
    lanes: u32,
}

impl Policy {
    /// Build the policy; an error if stripes are written.
    pub fn new(c: &Config, x: &PolicyContext) -> Result<Policy, String> {
        if x.groups > 0 {
            return Err(
                "policy.flush is `in-flight`, but stripes leave as a whole: it needs policy.redundancy `none`"
                    .into(),
            );
        }
        Ok(Policy { most_permille: libm::round(c.most * 1000.0) as u64, lanes: x.plane_lanes })
    }
}

impl Flush for Policy {
    #[inline]
    fn next(&mut self, view: &FlushView) -> FlushVerdict {
        let (group, leaving) = (self.lanes * view.units_per_write, view.held - view.dirty);
        let most = self.most_permille * u64::from(view.capacity);
        if leaving > 0 && u64::from(leaving + group) * 1000 > most {
            FlushVerdict::Hold
        } else if view.die_ready {
            FlushVerdict::ReadyDie
        } else if view.dirty == view.capacity {
            FlushVerdict::Oldest
        } else {
            FlushVerdict::Hold
        }
    }
    fn by_die(&self) -> bool {
        true
    }
}
