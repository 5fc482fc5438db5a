//! Host reads first on the whole channel: while one waits, nothing else begins there.
//!
//! **What it does.** While a host read is queued, no program, erase or other read begins on any die
//! of its channel. While none is queued, the reads of read-modify-writes go first, then the reads
//! of collections, then their programs; but while both wait, every `share`-th program is the
//! host's. From the start of a collection of a die until its erase has ended, host programs of that die
//! begin only as such a `share`-th program. So they also wait for the erase, which begins when all
//! collections under way at the die have moved their data; so the erases of its planes join. A host read
//! interrupts an operation where `suspend_program` and `suspend_erase` allow it.
//!
//! **Why it matters for the tail.** The channel is free when a waiting read gets its die, and fewer
//! programs are under way that a read could meet. But one read that waits for an erase stops its
//! whole channel.
//!
//! **Parameters and source.** `share`. The authors' simulator of ATC'19 (their fork of MQSim,
//! 2019), which schedules by channel.
//!
//! **Left out.** In that simulator an operation is suspended only when the channel is idle.
//!
//! **Checked by** `policy_laws`, `flash` of `core`.

use super::{PolicyContext, QueueView, Schedule, earliest};
use serde::{Deserialize, Serialize};
use tailcut_units::{Occupant, Occupants};

/// How often a host program goes before a collection's.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    /// While programs of the host and of a collection wait, one program in this many is the host's.
    ///
    /// - Range: at least 1
    pub share: u32,
}

impl Default for Config {
    fn default() -> Config {
        Config { share: 20 }
    }
}

/// The parameter, and how many collection programs in a row went before waiting host programs.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Policy {
    share: u32,
    since: u32,
}

impl Policy {
    /// Build the policy; an error if `share` is 0.
    pub fn new(c: &Config, _: &PolicyContext) -> Result<Policy, String> {
        if c.share == 0 {
            return Err("policy.schedule.channel-reads.share is 0; it must be at least 1".into());
        }
        Ok(Policy { share: c.share, since: 0 })
    }
}

impl Schedule for Policy {
    #[inline]
    fn next(&mut self, view: &QueueView<'_>) -> Occupant {
        let has = |occupant| view.waiting.has(occupant);
        for first in [Occupant::UserRead, Occupant::RmwRead, Occupant::GcRead, Occupant::FoldRead] {
            if has(first) {
                return first;
            }
        }
        // Parity programs count as the host's: host writes need them, and both kinds go to the
        // pages of one block in order.
        let host = view.waiting & Occupants::HOST_PROGRAMS;
        let moved = if has(Occupant::GcProgram) { Occupant::GcProgram } else { Occupant::FoldProgram };
        match (has(moved), !host.is_empty()) {
            (true, true) if self.since + 1 < self.share => {
                self.since += 1;
                moved
            }
            (true, true) => {
                self.since = 0;
                earliest(host, view.arrived)
            }
            (true, false) => moved,
            _ => earliest(view.waiting, view.arrived),
        }
    }
    fn reads_close_channel(&self) -> bool {
        true
    }
    fn collections_hold_programs(&self) -> bool {
        true
    }
}
