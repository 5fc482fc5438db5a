//! The out-of-band record that is programmed beside a unit's bytes.

use crate::address::Lpn;
use serde::{Deserialize, Serialize};

/// Bytes of an encoded record.
pub const OOB_BYTES: usize = 40;

/// Why a unit was programmed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum UnitKind {
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
    pub kind: UnitKind,
    /// Parity: which units of its stripe are its members, one bit each.
    pub members: u64,
    /// Parity: the sum of its members' LPNs, each byte for itself: their exclusive or, or with factors, as their bytes.
    pub lpns: u32,
    /// XXH3-64 of the bytes; 0 if the bytes follow from the record.
    pub checksum: u64,
}

impl Oob {
    /// The record of a logical unit's data.
    pub fn data(kind: UnitKind, lpn: Lpn, sequence: u64, checksum: u64) -> Oob {
        Oob { lpn, sequence, kind, members: 0, lpns: 0, checksum }
    }

    /// The record of padding.
    pub fn pad(sequence: u64) -> Oob {
        Oob::data(UnitKind::Pad, Lpn::NONE, sequence, 0)
    }

    /// The record with which a parity unit is programmed.
    pub fn parity(number: Lpn, members: u64) -> Oob {
        Oob { members, ..Oob::data(UnitKind::Parity, number, 0, 0) }
    }

    /// Encode the record, little-endian.
    pub fn encode(&self) -> [u8; OOB_BYTES] {
        let mut out = [0; OOB_BYTES];
        out[..4].copy_from_slice(&self.lpn.0.to_le_bytes());
        out[4] = match self.kind {
            UnitKind::User => 0,
            UnitKind::Gc => 1,
            UnitKind::Parity => 2,
            UnitKind::Pad => 3,
            UnitKind::Wear => 4,
        };
        out[8..12].copy_from_slice(&self.lpns.to_le_bytes());
        out[16..24].copy_from_slice(&self.sequence.to_le_bytes());
        out[24..32].copy_from_slice(&self.members.to_le_bytes());
        out[32..].copy_from_slice(&self.checksum.to_le_bytes());
        out
    }

    /// The record that [`Oob::encode`] has encoded; `None` if there is no such kind.
    pub fn decode(from: &[u8; OOB_BYTES]) -> Option<Oob> {
        let word = |at: usize| u32::from_le_bytes([from[at], from[at + 1], from[at + 2], from[at + 3]]);
        let long = |at: usize| u64::from(word(at)) | u64::from(word(at + 4)) << 32;
        let kind = match from[4] {
            0 => UnitKind::User,
            1 => UnitKind::Gc,
            2 => UnitKind::Parity,
            3 => UnitKind::Pad,
            4 => UnitKind::Wear,
            _ => return None,
        };
        Some(Oob {
            lpn: Lpn(word(0)),
            sequence: long(16),
            kind,
            members: long(24),
            lpns: word(8),
            checksum: long(32),
        })
    }

    /// The unit's contribution to the exclusive or of its stripe's LPNs, which is 0 over a whole
    /// stripe.
    pub fn share(&self) -> u32 {
        match self.kind {
            UnitKind::User | UnitKind::Gc | UnitKind::Wear => self.lpn.0,
            UnitKind::Parity => self.lpns,
            UnitKind::Pad => 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_is_decoded_as_it_was_encoded() {
        for (i, kind) in [UnitKind::User, UnitKind::Gc, UnitKind::Parity, UnitKind::Pad, UnitKind::Wear]
            .into_iter()
            .enumerate()
        {
            let i = i as u64 + 1;
            let lpn = Lpn(0x0102_0304 * i as u32);
            let oob =
                Oob { lpn, sequence: i << 40 | 7, kind, members: !i, lpns: 0xF00D, checksum: i << 56 | 9 };
            assert_eq!(Oob::decode(&oob.encode()), Some(oob));
        }
        let mut other = Oob::pad(1).encode();
        other[4] = 5;
        assert_eq!(Oob::decode(&other), None);
    }
}
