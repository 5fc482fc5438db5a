//! Host reads first on the whole channel: while one waits, nothing else begins there.
//!
//! **What it does.** A queued host read keeps every program, erase and other read from
//! beginning on any die of its channel. Without one, collection goes first: its reads,
//! then its programs, but every `share`-th program is the host's; an erase begins only
//! when no program of a collection waits for the die. A host read interrupts what
//! `suspend_program` and `suspend_erase` let it.
//!
//! **Why it matters for the tail.** The channel is free when a waiting read gets its die,
//! and fewer programs have begun that a read could meet; but one read that waits for an
//! erase stops its channel.
//!
//! **Parameters and source.** `share`. The authors' simulator of ATC'19 (their fork of
//! MQSim, 2019), whose unit of scheduling is the channel.
//!
//! **Left out.** That it suspends only when the channel is idle.
//!
//! **Checked by** `policy_laws`, `suspension`.

use super::{PolicyContext, QueueView, Schedule, earliest};
use serde::{Deserialize, Serialize};
use tailcut_units::{Occupant, Occupants};

/// How programs are shared out.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    /// One program in so many is the host's where a collection's waits too.
    ///
    /// - Range: at least 1
    pub share: u32,
}

impl Default for Config {
    fn default() -> Config {
        Config { share: 20 }
    }
}

/// The parameter, and the programs since the host's last.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Policy {
    share: u32,
    since: u32,
}

impl Policy {
    /// Refused with a share of 0.
    pub fn new(c: &Config, _: &PolicyContext) -> Result<Policy, String> {
        if c.share == 0 {
            return Err("policy.schedule.channel-reads.share is 0; it is at least 1".into());
        }
        Ok(Policy { share: c.share, since: 0 })
    }
}

impl Schedule for Policy {
    #[inline]
    fn next(&mut self, view: &QueueView<'_>) -> Occupant {
        let has = |occupant| view.waiting.has(occupant);
        for first in [Occupant::UserRead, Occupant::RmwRead, Occupant::GcRead] {
            if has(first) {
                return first;
            }
        }
        // Parity is the host's: it is part of what its writes take, page after page of one block.
        let host = view.waiting & Occupants::HOST_PROGRAMS;
        match (has(Occupant::GcProgram), !host.is_empty()) {
            (true, true) if self.since + 1 < self.share => {
                self.since += 1;
                Occupant::GcProgram
            }
            (true, true) => {
                self.since = 0;
                earliest(host, view.arrived)
            }
            (true, false) => Occupant::GcProgram,
            _ => earliest(view.waiting, view.arrived),
        }
    }
    #[inline]
    fn first_on_channel(&self, occupant: Occupant) -> bool {
        occupant == Occupant::UserRead
    }
    fn interrupters(&self, holder: Occupant) -> Occupants {
        match holder {
            Occupant::UserProgram | Occupant::ParityProgram | Occupant::GcProgram | Occupant::Erase => {
                Occupant::UserRead.only()
            }
            Occupant::UserRead | Occupant::RmwRead | Occupant::GcRead | Occupant::Background => {
                Occupants::NONE
            }
        }
    }
    fn reads_close_channel(&self) -> bool {
        true
    }
}
