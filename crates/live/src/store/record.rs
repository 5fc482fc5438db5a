//! The record of a unit in the file `oob`, 64 bytes: the out-of-band record (40), the epoch of its extent (u64), the
//! first logical unit of the stripe of a parity whose data are not stored (u32), the state (u8), three zeros, and
//! XXH3-64 of all bytes before (u64). A record of zeros was never written.

use tailcut_core::address::Lpn;
use tailcut_core::medium::{OOB_BYTES, Oob, Unit, UnitKind};
use xxhash_rust::xxh3::xxh3_64;

/// Bytes of a record.
pub const RECORD: usize = 64;
const SUMMED: usize = RECORD - 8;

/// The state of a unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// Programmed. Its data are in the file `flash`.
    Bytes = 1,
    /// Programmed. Its data follow from the record.
    Implied = 2,
    /// Erased.
    Erased = 3,
}

/// The record of a unit.
#[derive(Clone, Copy, Debug)]
pub struct Record {
    pub oob: Oob,
    pub epoch: u64,
    pub first: Lpn,
    pub state: State,
}

impl Record {
    /// The record of a unit; `None` is an erased unit.
    pub fn of(unit: Option<&Unit>, epoch: u64) -> Record {
        let Some(unit) = unit else {
            let oob = Oob::data(UnitKind::Pad, Lpn::NONE, 0, 0);
            return Record { oob, epoch, first: Lpn::NONE, state: State::Erased };
        };
        let (bytes, first) = unit.stored();
        let state = if bytes.is_some() { State::Bytes } else { State::Implied };
        Record { oob: unit.oob, epoch, first, state }
    }

    pub fn encode(&self) -> [u8; RECORD] {
        let mut out = [0; RECORD];
        out[..OOB_BYTES].copy_from_slice(&self.oob.encode());
        out[40..48].copy_from_slice(&self.epoch.to_le_bytes());
        out[48..52].copy_from_slice(&self.first.0.to_le_bytes());
        out[52] = self.state as u8;
        let sum = xxh3_64(&out[..SUMMED]);
        out[SUMMED..].copy_from_slice(&sum.to_le_bytes());
        out
    }

    /// Decode a record; `None` if it is damaged.
    pub fn decode(from: &[u8; RECORD]) -> Option<Record> {
        if xxh3_64(&from[..SUMMED]).to_le_bytes() != from[SUMMED..] {
            return None;
        }
        let state = match from[52] {
            1 => State::Bytes,
            2 => State::Implied,
            3 => State::Erased,
            _ => return None,
        };
        let oob = Oob::decode(from.first_chunk::<OOB_BYTES>()?)?;
        let epoch = u64::from_le_bytes(*from[40..].first_chunk()?);
        let first = Lpn(u32::from_le_bytes(*from[48..].first_chunk()?));
        Some(Record { oob, epoch, first, state })
    }
}
