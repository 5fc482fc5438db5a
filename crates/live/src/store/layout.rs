//! The layout of the file with the controller's memory.
//!
//! Each part has a fixed place of the largest size that it can have, and the file is sparse. A part consists of
//! XXH3-64 of the following fields, seeded with its place (u64), its length (u32) and its record. Twelve zeros mean
//! that the part does not exist. The counter is first, then the slots, the data of outstanding writes, and the
//! accumulators.

use tailcut_core::medium::{Part, Size};
use xxhash_rust::xxh3::xxh3_64_with_seed;

/// Bytes of a part before its record.
pub const HEAD: usize = 12;
/// The alignment of places.
const PAGE: u64 = 4096;
/// The most accumulators.
const ACCUMULATORS: u64 = 1 << 24;

/// The place of each part.
#[derive(Clone, Copy, Debug, Default)]
pub struct Layout {
    slots: Region,
    requests: Region,
    accumulators: Region,
}

#[derive(Clone, Copy, Debug, Default)]
struct Region {
    start: u64,
    count: u64,
    pitch: u64,
}

impl Region {
    fn after(start: u64, count: u64, longest: u64) -> Option<(Region, u64)> {
        let pitch = (longest + HEAD as u64).checked_next_multiple_of(PAGE)?;
        let end = start.checked_add(pitch.checked_mul(count)?)?;
        Some((Region { start, count, pitch }, end))
    }
}

impl Layout {
    /// The layout for a drive of this size; `None` if an offset would be too large.
    pub fn new(size: &Size) -> Option<Layout> {
        let unit = u64::from(size.unit_bytes);
        // A slot has its unit, and at most one range of eight bytes for every two bytes of the unit.
        let (slots, end) = Region::after(PAGE, size.slots.into(), 24 + unit * 5)?;
        let (requests, end) = Region::after(end, size.requests.into(), size.transfer)?;
        let (accumulators, end) = Region::after(end, ACCUMULATORS, 4 + unit)?;
        i64::try_from(end).ok()?;
        Some(Layout { slots, requests, accumulators })
    }

    /// The offset of a part; `None` if the part does not exist, or cannot have that many bytes.
    pub fn place(&self, part: Part, index: u32, bytes: usize) -> Option<u64> {
        let region = match part {
            Part::Sequence => Region { start: 0, count: 1, pitch: PAGE },
            Part::Slot => self.slots,
            Part::Request => self.requests,
            Part::Accumulator => self.accumulators,
        };
        let fits = u64::from(index) < region.count && (bytes + HEAD) as u64 <= region.pitch;
        fits.then(|| region.start + u64::from(index) * region.pitch)
    }
}

/// Encode a part for its place.
pub fn encode(at: u64, record: &[u8]) -> Vec<u8> {
    let mut out = vec![0; 8];
    out.extend((record.len() as u32).to_le_bytes());
    out.extend(record);
    let sum = xxh3_64_with_seed(&out[8..], at);
    out[..8].copy_from_slice(&sum.to_le_bytes());
    out
}

/// The length of a part's record, from its head.
pub fn record_bytes(head: &[u8; HEAD]) -> usize {
    u32::from_le_bytes([head[8], head[9], head[10], head[11]]) as usize
}

/// Decode a part at a place. Returns its checksum and record; `None` if it is damaged.
pub fn decode(at: u64, part: &[u8]) -> Option<(u64, &[u8])> {
    let (sum, summed) = part.split_first_chunk::<8>()?;
    let sum = u64::from_le_bytes(*sum);
    let record = part.get(HEAD..)?;
    (xxh3_64_with_seed(summed, at) == sum).then_some((sum, record))
}
