//! What is written beside a unit's bytes.

use crate::containers::NONE;
use serde::{Deserialize, Serialize};

/// Why a unit was programmed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Kind {
    /// The host wrote it.
    User,
    /// Collection moved it.
    Gc,
    /// It is the parity of others.
    Parity,
    /// Nothing was left to write in its row.
    Pad,
    /// Wear levelling moved it.
    Wear,
}

/// The out-of-band record of a unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Oob {
    /// Whose data these are; parity's own number; `NONE` for padding.
    pub lpn: u32,
    /// In which order the host's data entered the buffer: of two copies of a logical unit the
    /// higher is the newer. A moved unit keeps its own.
    pub sequence: u64,
    /// Why it was programmed.
    pub kind: Kind,
    /// Parity: which units of its stripe are its members, one bit each.
    pub members: u64,
    /// Parity: the exclusive or of its members' LPNs.
    pub lpns: u32,
    /// XXH3-64 of the bytes; 0 where they follow from the record.
    pub checksum: u64,
}

impl Oob {
    /// The record of a logical unit's data.
    pub fn data(kind: Kind, lpn: u32, sequence: u64, checksum: u64) -> Oob {
        Oob { lpn, sequence, kind, members: 0, lpns: 0, checksum }
    }

    /// The record of padding.
    pub fn pad(sequence: u64) -> Oob {
        Oob::data(Kind::Pad, NONE, sequence, 0)
    }

    /// What a parity unit is programmed with.
    pub fn parity(number: u32, members: u64) -> Oob {
        Oob { members, ..Oob::data(Kind::Parity, number, 0, 0) }
    }

    /// What the unit adds to the exclusive or of its stripe's LPNs. It is 0 over a whole
    /// stripe.
    pub fn share(&self) -> u32 {
        match self.kind {
            Kind::User | Kind::Gc | Kind::Wear => self.lpn,
            Kind::Parity => self.lpns,
            Kind::Pad => 0,
        }
    }
}
