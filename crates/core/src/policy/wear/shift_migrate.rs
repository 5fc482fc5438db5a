//! Shift and migrate: hot stripes are rotated inside their plane group, or leave it.
//!
//! **What it does.** At a flush it compares the programs of the planes that the flush writes
//! (of the dirty pages, and of parity) with those of the planes that it would write in the
//! best rotation of the stripe. If they are more by `gap`, the stripe is *shifted*: {0 1 2 P}
//! becomes {1 2 P 0}, or another turn of it. Else, if its group is ahead of the coldest
//! group with room by `gap`, it *migrates* there. A stripe that moves is written whole: its
//! other pages are read and programmed with what was dirty and the parity.
//!
//! **Why it matters for the tail.** Under static striping a page that is overwritten often
//! wears out its plane and that of its parity, and a hot set of stripes its group. Levelling
//! costs reads and programs which host reads may meet.
//!
//! **Parameters and source.** Yan et al. (FAST'17) section 7: horizontal shifting, vertical
//! migration, and a table of moved stripes. `gap`: program/erase cycles, or a share of one:
//! programs of a plane by the pages it has. The paper gives no limit; 5 % is an assumption:
//! a plane of 100,000 pages under uniform random writes is off the mean by the square root
//! of its programs, 0.3 % of a cycle after one and 3 % after 100, which must not move
//! anything, while 5 % is nothing beside the thousands of cycles that flash bears.
//!
//! **Left out.** Wear from before the run: only programs since the ageing count. Planes that
//! have fewer blocks than others count as equal. Cold stripes stay where they are: a worn
//! group is relieved of hot ones, not filled with cold ones. What moves is held beside the
//! write buffer, of four stripes at once at most, and a stripe that finds no room there
//! stays; that memory is not counted. To what waits for them, the programs of a move are
//! user programs and its reads those of a read-modify-write, since the stripe switches only
//! when all of it is programmed and so has one rank. A write over a unit that is being moved
//! finds the rest of it in memory. Once a plane has failed, nothing moves any more.
//!
//! **Checked by** `policy_laws`, `wear` (hot pages and hot groups are spread, even wear moves
//! nothing, every byte stays), `stripe_places` unit tests.

use super::{PolicyContext, Wear, WearVerdict, WearView};
use serde::{Deserialize, Serialize};
use tailcut_units::quantity::Level;

/// When a difference is worth a move.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    /// The difference between planes, or between groups, at which a stripe moves: program/erase
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

/// The difference in programs.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Policy {
    gap: u64,
}

impl Policy {
    /// Refused without parity, and where any difference would do.
    pub fn new(c: &Config, x: &PolicyContext) -> Result<Policy, String> {
        if x.groups == 0 {
            return Err("policy.wear.shift-migrate moves stripes from plane to plane, and without parity there are none: set policy.redundancy to rain, or take none".into());
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
