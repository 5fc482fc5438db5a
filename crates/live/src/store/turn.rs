//! A turn: the changes between two commits.
//!
//! Format, little-endian: magic `TCUTTURN`, u64 number, the note (seven u64), u64 length of the body, the body, and
//! u64 XXH3-64 of all bytes before. Body: u32 number of extents, each u32 and u64 epoch; u32 number of units, each
//! u32 address, its record (64 bytes), and its data (u32 length first); u32 number of parts of memory, each u64 place
//! and its data (u32 length first).

use super::record::{RECORD, Record, State};
use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::sync::Arc;
use tailcut_core::address::Ppa;
use tailcut_core::medium::{Size, Unit};
use xxhash_rust::xxh3::xxh3_64;

const MAGIC: &[u8; 8] = b"TCUTTURN";
/// The longest turn, bytes.
pub const TURN_MAX: u64 = 1 << 32;
/// The largest number of a turn and of a generation.
const NUMBER_MAX: u64 = 1 << 62;
/// Bytes before the body.
const HEAD: usize = 10 * 8;

/// The state of the controller that is committed with a turn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Note {
    /// The generation: which saved state of the controller the commands continue.
    pub generation: u64,
    /// Commands since the generation began.
    pub commands: u64,
    /// Timers that have fired since the generation began.
    pub events: u64,
    /// The time of the drive, ns.
    pub now: u64,
    /// Whether the server was stopped, so that the drive is idle.
    pub stopped: bool,
    /// XXH3-64 of the commands in their file.
    pub commands_sum: u64,
    /// The exclusive or of the checksums of all parts of memory.
    pub memory_sum: u64,
}

/// The changes of a turn.
#[derive(Clone, Debug, Default)]
pub struct Turn {
    /// Units that were programmed, or erased one by one.
    pub units: BTreeMap<Ppa, Option<Unit>>,
    /// Extents that were erased, with their new epochs. Units of these extents were programmed after the erase.
    pub extents: BTreeMap<u32, u64>,
    /// Changed parts of memory, by place.
    pub memory: BTreeMap<u64, Vec<u8>>,
}

impl Turn {
    /// Whether the turn fits a drive of this size.
    pub fn fits(&self, size: &Size) -> bool {
        let units = u64::from(size.extents) * u64::from(size.units_per_extent);
        let has_bytes = |unit: &Option<Unit>| {
            let bytes = unit.as_ref().and_then(|unit| unit.stored().0);
            bytes.is_none_or(|bytes| bytes.len() as u64 == u64::from(size.unit_bytes))
        };
        self.units.keys().all(|ppa| u64::from(ppa.0) < units) && self.units.values().all(has_bytes)
    }

    /// Encode the turn.
    pub fn encode(&self, number: u64, note: &Note) -> Vec<u8> {
        let mut out = MAGIC.to_vec();
        let Note { generation, commands, events, now, stopped, commands_sum, memory_sum } = *note;
        let stopped = u64::from(stopped);
        for word in [number, generation, commands, events, now, stopped, commands_sum, memory_sum, 0] {
            out.extend(word.to_le_bytes());
        }
        out.extend((self.extents.len() as u32).to_le_bytes());
        for (extent, epoch) in &self.extents {
            out.extend(extent.to_le_bytes());
            out.extend(epoch.to_le_bytes());
        }
        out.extend((self.units.len() as u32).to_le_bytes());
        for (ppa, unit) in &self.units {
            out.extend(ppa.0.to_le_bytes());
            // The epoch is that of the extent when the turn is applied.
            out.extend(Record::of(unit.as_ref(), 0).encode());
            let bytes = unit.as_ref().and_then(|unit| unit.stored().0);
            let bytes: &[u8] = bytes.map_or(&[], |bytes| bytes);
            out.extend((bytes.len() as u32).to_le_bytes());
            out.extend(bytes);
        }
        out.extend((self.memory.len() as u32).to_le_bytes());
        for (at, bytes) in &self.memory {
            out.extend(at.to_le_bytes());
            out.extend((bytes.len() as u32).to_le_bytes());
            out.extend(bytes);
        }
        let body = (out.len() - HEAD) as u64;
        out[HEAD - 8..HEAD].copy_from_slice(&body.to_le_bytes());
        let sum = xxh3_64(&out);
        out.extend(sum.to_le_bytes());
        out
    }
}

/// Read the turn of a file: its number, note and changes. `None` if it is incomplete.
///
/// # Errors
/// The file cannot be read.
pub fn read(file: &File) -> io::Result<Option<(u64, Note, Turn)>> {
    let len = file.metadata()?.len();
    let mut head = [0; HEAD];
    if len < (HEAD + 8) as u64 {
        return Ok(None);
    }
    file.read_exact_at(&mut head, 0)?;
    let word = |i: usize| u64::from_le_bytes(head[i * 8..].first_chunk().copied().unwrap_or_default());
    // The file may be longer, if an earlier turn was longer.
    let whole = word(9).checked_add((HEAD + 8) as u64).filter(|&whole| whole <= len.min(TURN_MAX));
    let (Some(whole), true) = (whole, head.starts_with(MAGIC)) else { return Ok(None) };
    let mut bytes = vec![0; whole as usize];
    file.read_exact_at(&mut bytes, 0)?;
    Ok(decode(&bytes))
}

/// Decode a turn; `None` if it is incomplete or damaged.
pub fn decode(bytes: &[u8]) -> Option<(u64, Note, Turn)> {
    let (summed, sum) = bytes.split_last_chunk::<8>()?;
    if xxh3_64(summed) != u64::from_le_bytes(*sum) {
        return None;
    }
    let mut from = Reader(summed.strip_prefix(MAGIC)?);
    let number = from.long()?;
    let (generation, commands, events, now) = (from.long()?, from.long()?, from.long()?, from.long()?);
    let stopped = from.long()? != 0;
    let (commands_sum, memory_sum) = (from.long()?, from.long()?);
    if number > NUMBER_MAX || generation > NUMBER_MAX {
        return None;
    }
    let note = Note { generation, commands, events, now, stopped, commands_sum, memory_sum };
    from.long()?;
    let mut turn = Turn::default();
    for _ in 0..from.word()? {
        turn.extents.insert(from.word()?, from.long()?);
    }
    for _ in 0..from.word()? {
        let ppa = Ppa(from.word()?);
        let record = Record::decode(from.take(RECORD)?.first_chunk()?)?;
        let bytes = from.bytes()?;
        let unit = match record.state {
            State::Erased => None,
            State::Implied => Some(Unit::from_stored(record.oob, None, record.first)),
            State::Bytes => Some(Unit::from_stored(record.oob, Some(Arc::from(bytes)), record.first)),
        };
        turn.units.insert(ppa, unit);
    }
    for _ in 0..from.word()? {
        let at = from.long()?;
        turn.memory.insert(at, from.bytes()?.to_vec());
    }
    from.0.is_empty().then_some((number, note, turn))
}

/// Reads integers from bytes.
struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(taken)
    }

    fn word(&mut self) -> Option<u32> {
        self.take(4)?.first_chunk().map(|b| u32::from_le_bytes(*b))
    }

    fn long(&mut self) -> Option<u64> {
        self.take(8)?.first_chunk().map(|b| u64::from_le_bytes(*b))
    }

    fn bytes(&mut self) -> Option<&'a [u8]> {
        let count = self.word()?;
        self.take(count as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use tailcut_core::address::Lpn;
    use tailcut_core::medium::{Oob, UnitKind};

    fn turn() -> (Note, Turn) {
        let unit = |lpn: u32, bytes: Option<Vec<u8>>| {
            let oob = Oob::data(UnitKind::User, Lpn(lpn), 9, 0);
            Some(match bytes {
                Some(bytes) => Unit::new(oob, bytes.into()),
                None => Unit::implied(oob),
            })
        };
        let mut turn = Turn::default();
        turn.units.insert(Ppa(3), unit(7, Some(vec![5; 64])));
        turn.units.insert(Ppa(4), unit(8, None));
        turn.units.insert(Ppa(9), None);
        turn.extents.insert(2, 11);
        turn.memory.insert(4096, vec![1, 2, 3]);
        (
            Note {
                generation: 1,
                commands: 2,
                events: 3,
                now: 4,
                stopped: true,
                commands_sum: 5,
                memory_sum: 6,
            },
            turn,
        )
    }

    #[test]
    fn a_turn_is_read_as_it_was_written() {
        let (note, turn) = turn();
        let bytes = turn.encode(6, &note);
        let (number, read, again) = decode(&bytes).unwrap();
        assert_eq!((number, read), (6, note));
        assert_eq!(again.encode(6, &note), bytes);
        assert!(again.units[&Ppa(3)].as_ref().unwrap().is_sound());
    }

    proptest! {
        /// A truncated or changed turn is refused, and arbitrary bytes never panic.
        #[test]
        fn only_a_whole_turn_is_read(cut in 0usize..400, flip in 1u8.., noise: Vec<u8>) {
            let (note, turn) = turn();
            let mut bytes = turn.encode(6, &note);
            let at = cut % bytes.len();
            prop_assert!(decode(&bytes[..at]).is_none());
            bytes[at] ^= flip;
            prop_assert!(decode(&bytes).is_none());
            prop_assert!(decode(&noise).is_none());
        }

        /// A body with a correct checksum and arbitrary contents never panics.
        #[test]
        fn a_body_of_noise_is_refused_or_read(noise in proptest::collection::vec(any::<u8>(), 0..300)) {
            let mut bytes = MAGIC.to_vec();
            bytes.extend(&noise);
            let sum = xxh3_64(&bytes);
            bytes.extend(sum.to_le_bytes());
            if let Some((number, note, turn)) = decode(&bytes) {
                prop_assert!(turn.encode(number, &note).len() <= bytes.len());
            }
        }
    }
}
