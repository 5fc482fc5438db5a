//! Reads before writes before erases, each of which may interrupt those after it.
//!
//! **What it does.** A queued host read is served first, an erase last, all else in
//! between by arrival. Where `suspend_program` and `suspend_erase` allow it, a read
//! interrupts a program or an erase and, with `write_suspends_erase`, the program of host
//! data (or the read it needs first) interrupts an erase, if no read waits. A read may
//! interrupt a program that itself interrupted an erase.
//!
//! **Why it helps the tail.** Without suspension a write still waits for a whole erase; a
//! drive without a write buffer shows that to its host.
//!
//! **Parameters and source.** `write_suspends_erase`. Wu and He, JSA'14 sections 4 and 5.
//!
//! **Left out.** A bound on how long writes and erases may be passed over.
//!
//! **Checked by** `policy_laws`, `suspension`.

use super::{PolicyContext, QueueView, Schedule, earliest};
use serde::{Deserialize, Serialize};
use tailcut_units::Occupant;

/// Who may interrupt an erase.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    /// Whether writes interrupt an erase, beside reads.
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

const READ: u8 = 1 << Occupant::UserRead as u8;
/// What writing to the flash takes.
const WRITE: u8 =
    1 << Occupant::UserProgram as u8 | 1 << Occupant::ParityProgram as u8 | 1 << Occupant::RmwRead as u8;
const ERASE: u8 = 1 << Occupant::Erase as u8;

impl Schedule for Policy {
    #[inline]
    fn next(&mut self, view: &QueueView<'_>) -> Occupant {
        if view.waiting & READ != 0 {
            return Occupant::UserRead;
        }
        match view.waiting & !ERASE {
            0 => Occupant::Erase,
            others => earliest(others, view.arrived),
        }
    }
    #[inline]
    fn first_on_channel(&mut self, occupant: Occupant) -> bool {
        occupant == Occupant::UserRead
    }
    fn interrupters(&mut self, holder: Occupant) -> u8 {
        match holder {
            Occupant::UserProgram | Occupant::ParityProgram | Occupant::GcProgram => READ,
            Occupant::Erase if self.write_suspends_erase => READ | WRITE,
            Occupant::Erase => READ,
            Occupant::UserRead | Occupant::RmwRead | Occupant::GcRead | Occupant::Background => 0,
        }
    }
}
