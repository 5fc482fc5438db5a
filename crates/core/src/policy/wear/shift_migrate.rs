//! Shift and migrate: hot stripes are rotated inside their plane group, or moved to another.
//!
//! **What it does.** At each flush of a stripe, it takes the mean programs of the planes that the
//! flush writes (those of the dirty pages, and of parity). It compares this with the mean for the
//! planes that the flush would write in the best rotation of the stripe. If the first is larger by
//! more than `gap`, the stripe is *shifted*: {0 1 2 P} becomes {1 2 P 0}, or another rotation.
//! Otherwise, if the mean of its group is larger than that of the coldest group with room by more
//! than `gap`, the stripe *migrates* to that group. A stripe that moves is written whole: its other
//! pages are read, and programmed with the dirty ones and the parity.
//!
//! **Why it matters for the tail.** Under static striping a page that is overwritten often wears
//! out its plane and that of its parity, and a hot set of stripes wears out its group. Levelling
//! costs reads and programs that host reads may have to wait for.
//!
//! **Parameters and source.** Yan et al. (FAST'17) section 7: horizontal shifting, vertical
//! migration, and a table of moved stripes. `gap`: program/erase cycles, or a share of one; a cycle
//! is as many programs of a plane as it has pages. The paper gives no limit; 5 % is an assumption.
//! Under uniform random writes, a plane of 100,000 pages differs from the mean by the square root
//! of its programs: 0.3 % of a cycle after one cycle and 3 % after 100. Such a difference must not
//! move anything. And 5 % is little against the thousands of cycles that flash endures.
//!
//! **Left out.** Wear from before the run: only programs since the ageing count. Planes with fewer
//! blocks than others count as equal. Cold stripes stay where they are: hot stripes leave a worn
//! group, but cold ones are not moved into it. The data of moving stripes are held beside the write
//! buffer, for at most four stripes at once, and a stripe that finds no room there stays. That
//! memory is not counted. In the waits of others, the programs of a move count as user programs and
//! its reads as read-modify-write reads: the stripe switches only when all of it is programmed, so
//! all of its operations have the same rank. A write to part of a unit that is being moved finds
//! the rest of the unit in memory. After a plane has failed, nothing moves any more.
//!
//! **Checked by** `policy_laws`, `wear` (hot pages and hot groups are spread, even wear moves
//! nothing, every byte stays), `stripe_places` unit tests.

use super::{PolicyContext, Wear, WearVerdict, WearView};
use serde::{Deserialize, Serialize};
use tailcut_units::quantity::Level;

/// The difference in wear at which a stripe moves.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    /// A stripe moves if the wear of planes, or of groups, differs by more than this: program/erase
    /// cycles, or a share of one.
    ///
    /// - Range: more than 0; at least one page of a plane
    pub gap: Level,
}

impl Default for Config {
    fn default() -> Config {
        Config { gap: Level::Share(50_000) }
    }
}

/// The parameter, in programs.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Policy {
    gap: u64,
}

impl Policy {
    /// Build the policy; an error without parity, or if `gap` is less than one page of a plane.
    pub fn new(c: &Config, x: &PolicyContext) -> Result<Policy, String> {
        if x.groups == 0 {
            return Err("policy.wear.shift-migrate moves stripes between planes, and without parity there are no stripes: set policy.redundancy to rain, or policy.wear to none".into());
        }
        let pages = u64::from(x.extents_per_lane) * u64::from(x.units_per_extent / x.units_per_write);
        let gap = match c.gap {
            Level::Count(cycles) => u64::from(cycles) * pages,
            Level::Share(millionths) => u64::from(millionths) * pages / 1_000_000,
        };
        if gap == 0 {
            return Err(format!(
                "policy.wear.shift-migrate.gap is less than one of the {pages} pages of a plane: every write would move its stripe"
            ));
        }
        Ok(Policy { gap })
    }
}

impl Wear for Policy {
    fn decide(&self, view: &WearView) -> WearVerdict {
        if view.own > view.best_rotation + self.gap {
            WearVerdict::Shift
        } else if view.group > view.coldest + self.gap {
            WearVerdict::Migrate
        } else {
            WearVerdict::Stay
        }
    }
}
