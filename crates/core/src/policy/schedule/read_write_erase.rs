//! Reads before writes before erases, each of which may interrupt those after it.
//!
//! **What it does.** A queued host read is served first and an erase last; all other operations are
//! served in between, in order of arrival. Where `suspend_program` and `suspend_erase` allow it, a
//! read interrupts a program or an erase. With `write_suspends_erase`, the program of host data (or
//! the read that it needs first) also interrupts an erase, if no read waits. A read may interrupt a
//! program that itself interrupted an erase.
//!
//! **Why it helps the tail.** Without suspension a write still waits for a whole erase; without a
//! write buffer the host sees this wait.
//!
//! **Parameters and source.** `write_suspends_erase`. Wu and He, JSA'14 sections 4 and 5.
//!
//! **Left out.** A bound on how long reads may delay writes and erases.
//!
//! **Checked by** `policy_laws`, `flash` of `core`.

use super::{PolicyContext, QueueView, Schedule, earliest};
use serde::{Deserialize, Serialize};
use tailcut_units::{ArrayAct, Occupant, Occupants};

/// Which operations may interrupt an erase.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    /// Whether host writes interrupt an erase, in addition to host reads.
    pub write_suspends_erase: bool,
}

impl Default for Config {
    fn default() -> Config {
        Config { write_suspends_erase: true }
    }
}

/// The parameter.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Policy {
    write_suspends_erase: bool,
}

impl Policy {
    /// Always possible.
    pub fn new(c: &Config, _: &PolicyContext) -> Result<Policy, String> {
        Ok(Policy { write_suspends_erase: c.write_suspends_erase })
    }
}

const READ: Occupants = Occupant::UserRead.only();

impl Schedule for Policy {
    #[inline]
    fn next(&mut self, view: &QueueView<'_>) -> Occupant {
        if view.waiting.has(Occupant::UserRead) {
            return Occupant::UserRead;
        }
        let others = view.waiting & !Occupant::Erase.only();
        if others.is_empty() { Occupant::Erase } else { earliest(others, view.arrived) }
    }
    fn interrupters(&self, holder: Occupant) -> Occupants {
        match holder.act() {
            ArrayAct::Read => Occupants::NONE,
            ArrayAct::Erase if self.write_suspends_erase => Occupants::HOST,
            ArrayAct::Program | ArrayAct::Erase => READ,
        }
    }
}
