//! The out-of-band record that is programmed beside a unit's bytes.

use crate::address::Lpn;
use serde::{Deserialize, Serialize};

/// Why a unit was programmed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Kind {
    /// The host wrote the unit.
    User,
    /// Collection moved the unit.
    Gc,
    /// The unit is the parity of others.
    Parity,
    /// The unit is padding: no data were left for its row.
    Pad,
    /// Wear levelling moved the unit.
    Wear,
}

/// The out-of-band record of a unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Oob {
    /// The logical unit of the data; for parity its own number; `NONE` for padding.
    pub lpn: Lpn,
    /// The order in which the host's data entered the buffer. Of two copies of a logical unit, the
    /// one with the higher number is the newer. A moved unit keeps its number.
    pub sequence: u64,
    /// Why it was programmed.
    pub kind: Kind,
    /// Parity: which units of its stripe are its members, one bit each.
    pub members: u64,
    /// Parity: the sum of its members' LPNs, each byte for itself: their exclusive or, or with factors, as their bytes.
    pub lpns: u32,
    /// XXH3-64 of the bytes; 0 if the bytes follow from the record.
    pub checksum: u64,
}

impl Oob {
    /// The record of a logical unit's data.
    pub fn data(kind: Kind, lpn: Lpn, sequence: u64, checksum: u64) -> Oob {
        Oob { lpn, sequence, kind, members: 0, lpns: 0, checksum }
    }

    /// The record of padding.
    pub fn pad(sequence: u64) -> Oob {
        Oob::data(Kind::Pad, Lpn::NONE, sequence, 0)
    }

    /// The record with which a parity unit is programmed.
    pub fn parity(number: Lpn, members: u64) -> Oob {
        Oob { members, ..Oob::data(Kind::Parity, number, 0, 0) }
    }

    /// The unit's contribution to the exclusive or of its stripe's LPNs, which is 0 over a whole
    /// stripe.
    pub fn share(&self) -> u32 {
        match self.kind {
            Kind::User | Kind::Gc | Kind::Wear => self.lpn.0,
            Kind::Parity => self.lpns,
            Kind::Pad => 0,
        }
    }
}
