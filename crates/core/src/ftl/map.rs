//! The map from logical to physical units and back.
//!
//! Both directions are flat arrays of four-byte entries. Zero means *at the address of the sequential fill*. So a
//! freshly filled drive needs no memory for its map, and regions that are never written afterwards never need any. An
//! entry for an address is the address plus 1. Entries above the last address name contents of the buffer: slots, or
//! dirty stripes.

use super::layout::Layout;
use super::stripes::Stripes;
use crate::address::{Lpn, Ppa};
use crate::containers::big::BigArray;
use crate::divider::Divider;
use serde::{Deserialize, Serialize};
use tailcut_units::random::mix;

const TRIMMED: u32 = u32::MAX;
/// A drive with more physical units than this has its reverse map (8.6 GB and more) in a temporary file. The forward
/// map is read at random and needs memory, while writes and collections use the reverse map of an extent in order.
const UNITS_IN_MEMORY: u32 = 1 << 31;

/// The place of a logical unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mapping {
    /// Never written, or trimmed.
    Unmapped,
    /// In the write buffer.
    Buffer(InBuffer),
    /// At this physical unit address.
    Flash(Ppa),
}

/// The entry of a buffered logical unit: a slot for units of the host, a dirty stripe for parity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InBuffer {
    /// A unit of the host: it is in this slot of the write buffer (pblk: of the ring).
    Slot(u32),
    /// Parity: its stripe is this entry of the dirty stripes.
    Stripe(u32),
}

impl InBuffer {
    /// The slot of a unit of the host.
    #[inline]
    pub fn slot(self) -> u32 {
        let InBuffer::Slot(slot) = self else { panic!("parity has no slot") };
        slot
    }

    /// The entry of the stripe of a parity.
    #[inline]
    pub fn stripe(self) -> u32 {
        let InBuffer::Stripe(entry) = self else { panic!("a unit of the host is no stripe") };
        entry
    }
}

/// Rows of which only the first units take data.
#[derive(Clone, Debug)]
struct Rows {
    /// Number of units of a row.
    all: Divider,
    data: Divider,
}

impl Rows {
    /// The position of a unit that takes data, from its number among such units.
    fn place(&self, number: u32) -> u32 {
        let (row, within) = self.data.div_rem(number);
        row * self.all.by() + within
    }

    /// The number of the unit at a position; `None` if it takes no data.
    fn count(&self, place: u32) -> Option<u32> {
        let (row, within) = self.all.div_rem(place);
        (within < self.data.by()).then(|| row * self.data.by() + within)
    }
}

/// The closed form of a sequential fill: consecutive chunks of units go to the lanes in turn.
#[derive(Clone, Debug)]
pub struct Fill {
    stride_units: u32,
    lanes_in_order: Vec<u32>,
    position_of_lane: Vec<u32>,
    by_chunk: Divider,
    by_pitch: Divider,
    by_lanes: Divider,
    by_lane_units: Divider,
    chunk: u32,
    /// Distance between two chunks of a lane, in units.
    pitch: u32,
    first: u32,
    lanes: u32,
    stripes: Option<Stripes>,
    rows: Option<Rows>,
}

impl Fill {
    /// `order`: the lanes in the order in which consecutive chunks of `chunk` units go to them.
    /// With `stripes`, the layout of the stripes is used instead.
    pub fn new(layout: &Layout, chunk: u32, order: Vec<u32>, stripes: Option<Stripes>) -> Fill {
        let mut position_of_lane = vec![0; order.len()];
        for (i, &lane) in order.iter().enumerate() {
            position_of_lane[lane as usize] = i as u32;
        }
        let stride_units = layout.stride * layout.units_per_extent;
        Fill {
            stride_units,
            by_chunk: Divider::new(chunk),
            by_pitch: Divider::new(chunk),
            by_lanes: Divider::new(order.len() as u32),
            by_lane_units: Divider::new(stride_units),
            lanes: order.len() as u32,
            lanes_in_order: order,
            position_of_lane,
            chunk,
            pitch: chunk,
            first: 0,
            stripes,
            rows: None,
        }
    }

    /// A fill of `lines` of `sectors` units each. Of a line, `data` units from unit `first` take data. `row` is a pair
    /// (n, m): of every n consecutive units, only the first m take data.
    pub fn of_lines(lines: u32, sectors: u32, (first, data): (u32, u32), row: Option<(u32, u32)>) -> Fill {
        Fill {
            rows: row.map(|(all, data)| Rows { all: Divider::new(all), data: Divider::new(data) }),
            stride_units: lines * sectors,
            by_chunk: Divider::new(data),
            by_pitch: Divider::new(sectors),
            by_lanes: Divider::new(1),
            by_lane_units: Divider::new(lines * sectors),
            lanes: 1,
            lanes_in_order: vec![0],
            position_of_lane: vec![0],
            chunk: data,
            pitch: sectors,
            first,
            stripes: None,
        }
    }

    /// The address that the fill gives a logical unit.
    #[inline]
    pub fn ppa(&self, lpn: Lpn) -> Ppa {
        if let Some(s) = &self.stripes {
            return Ppa(s.fill_lane(lpn) * self.stride_units + s.fill_row(lpn));
        }
        let (chunk, within) = self.by_chunk.div_rem(lpn.0);
        let (round, position) = self.by_lanes.div_rem(chunk);
        let lane = self.lanes_in_order[position as usize];
        let at = self.first + within;
        let at = self.rows.as_ref().map_or(at, |rows| rows.place(at));
        Ppa(lane * self.stride_units + round * self.pitch + at)
    }

    /// The logical unit that the fill puts at an address; inverse of [`Fill::ppa`].
    #[inline]
    pub fn lpn(&self, ppa: Ppa) -> Lpn {
        let (lane, index) = self.by_lane_units.div_rem(ppa.0);
        if let Some(s) = &self.stripes {
            return s.filled_at(lane, index);
        }
        if let Some(rows) = &self.rows {
            let (round, at) = self.by_pitch.div_rem(index);
            let number = rows.count(at).filter(|&number| number >= self.first);
            return number.map_or(Lpn::NONE, |number| Lpn(round * self.chunk + number - self.first));
        }
        let (round, within) = self.by_pitch.div_rem(index.wrapping_sub(self.first));
        Lpn((round * self.lanes + self.position_of_lane[lane as usize]) * self.chunk + within)
    }

    /// The data units of the stripe whose parity `unit` is; `None` if it is not parity.
    pub fn covered(&self, unit: Lpn) -> Option<std::ops::Range<Lpn>> {
        let s = self.stripes.as_ref().filter(|s| s.is_parity(unit))?;
        let first = s.first_of(s.stripe_of(unit));
        Some(first..first + (s.width - 1))
    }

    /// The end of a fill of at least `units` units; with stripes, of whole stripes.
    pub fn end(&self, units: u32) -> u32 {
        self.stripes.as_ref().map_or(units, |s| units.div_ceil(s.width - 1) * (s.width - 1))
    }

    /// Units that a fill of `0..filled` puts on each lane, in lane order; `filled` is a result of
    /// [`Fill::end`].
    pub fn units_by_lane(&self, filled: u32) -> Vec<u32> {
        if let Some(s) = &self.stripes {
            let (rounds, rest) = s.rows_of_fill(filled / (s.width - 1));
            return (0..self.lanes).map(|lane| rounds + u32::from(s.group_of_lane(lane) < rest)).collect();
        }
        let (chunks, rest) = self.by_chunk.div_rem(filled);
        let (rounds, position) = self.by_lanes.div_rem(chunks);
        (0..self.lanes)
            .map(|lane| {
                let p = self.position_of_lane[lane as usize];
                let whole = rounds + u32::from(p < position);
                whole * self.chunk + if p == position { rest } else { 0 }
            })
            .collect()
    }
}

/// The map in both directions, with the valid bits.
pub struct Map {
    /// Logical to physical.
    pub forward: BigArray<u32>,
    /// Physical to logical, meaningful where a unit is valid.
    pub reverse: BigArray<u32>,
    /// One bit per physical unit: whether it holds the current copy of a logical unit on flash.
    pub valid: BigArray<u64>,
    /// The sequential fill, to which zero entries refer.
    pub fill: Fill,
    /// The entry of the last physical unit.
    last: u32,
    /// Logical units of the host. Parity follows them.
    host_units: u32,
    /// The state of the map that is not in the arrays.
    pub state: MapState,
}

/// The part of a map's state that is not in its arrays.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct MapState {
    /// Logical units `0..filled` were filled sequentially, to the places of the closed form. 0 on a drive
    /// that was filled to other places: around holes, or scattered.
    pub filled: u32,
    /// The parity of their stripes was filled with them: logical units `parity.0..parity.1`.
    pub parity: (Lpn, Lpn),
}

impl Map {
    /// An empty map of a drive with this layout.
    pub fn new(layout: &Layout, fill: Fill) -> std::io::Result<Map> {
        Map::of(layout.host_units, layout.units(), fill)
    }

    /// An empty map of `host_units` logical units, and parity in addition to them, to `units` physical ones.
    pub fn of(host_units: u32, units: u32, fill: Fill) -> std::io::Result<Map> {
        let parities = fill.stripes.as_ref().map_or(0, |s| s.count);
        debug_assert!(fill.stripes.as_ref().is_none_or(|s| s.parity(0) == Lpn(host_units)));
        Ok(Map {
            forward: BigArray::zeroed((host_units + parities) as usize)?,
            reverse: match units {
                ..=UNITS_IN_MEMORY => BigArray::zeroed(units as usize)?,
                _ => BigArray::in_file(units as usize)?,
            },
            valid: BigArray::zeroed((units as usize).div_ceil(64))?,
            fill,
            last: units,
            host_units,
            state: MapState::default(),
        })
    }

    #[inline]
    fn decode(&self, lpn: Lpn, entry: u32) -> Mapping {
        if entry == 0 {
            let parity = self.state.parity;
            let filled = lpn.0 < self.state.filled || parity.0 <= lpn && lpn < parity.1;
            if filled { Mapping::Flash(self.fill.ppa(lpn)) } else { Mapping::Unmapped }
        } else if entry <= self.last {
            Mapping::Flash(Ppa(entry - 1))
        } else if entry == TRIMMED {
            Mapping::Unmapped
        } else {
            let number = entry - self.last - 1;
            let of_host = lpn.0 < self.host_units;
            Mapping::Buffer(if of_host { InBuffer::Slot(number) } else { InBuffer::Stripe(number) })
        }
    }

    /// The entry of a buffer slot or a dirty stripe.
    #[inline]
    fn buffered(&self, number: u32) -> u32 {
        self.last + 1 + number
    }

    /// Note that logical units `0..end` and their parity are where the fill puts them; `end` is a
    /// result of [`Fill::end`].
    pub fn filled(&mut self, end: u32) {
        self.state.filled = end;
        if let Some(s) = &self.fill.stripes {
            self.state.parity = (s.parity(0), s.parity(end / (s.width - 1)));
        }
    }

    /// Prefetch the entry of a logical unit for a look-up that follows soon. The unit need not exist.
    #[inline]
    pub fn prefetch(&self, lpn: Lpn) {
        self.forward.prefetch(lpn.index());
    }

    /// Prefetch the owners of a physical address and of the addresses after it.
    #[inline]
    pub fn prefetch_owner(&self, ppa: Ppa) {
        self.reverse.prefetch(ppa.index());
    }

    /// Prefetch the owners of an extent that is about to be collected.
    pub fn fetch_owners(&self, first: Ppa, count: u32) {
        self.reverse.fetch(first.index(), count as usize);
    }

    /// Prefetch the valid bit of a copy that will become stale.
    #[inline]
    pub fn prefetch_valid(&self, ppa: Ppa) {
        self.valid.prefetch((ppa.0 / 64) as usize);
    }

    /// The place of a logical unit.
    #[inline]
    pub fn lookup(&self, lpn: Lpn) -> Mapping {
        self.decode(lpn, self.forward[lpn.index()])
    }

    /// Map a logical unit to a physical address.
    #[inline]
    pub fn set_flash(&mut self, lpn: Lpn, ppa: Ppa) {
        self.forward[lpn.index()] = ppa.0 + 1;
    }

    /// Map a logical unit of the host to a buffer slot; returns where it was.
    #[inline]
    pub fn set_buffer(&mut self, lpn: Lpn, slot: u32) -> Mapping {
        debug_assert!(lpn.0 < self.host_units, "parity has no slot");
        let buffered = self.buffered(slot);
        let entry = std::mem::replace(&mut self.forward[lpn.index()], buffered);
        self.decode(lpn, entry)
    }

    /// Map parity to its stripe, an entry of the dirty stripes.
    #[inline]
    pub fn set_stripe(&mut self, parity: Lpn, entry: u32) {
        debug_assert!(parity.0 >= self.host_units, "a unit of the host is no stripe");
        self.forward[parity.index()] = self.buffered(entry);
    }

    /// Whether a logical unit of the host is mapped to this slot.
    #[inline]
    pub fn is_buffered_in(&self, lpn: Lpn, slot: u32) -> bool {
        debug_assert!(lpn.0 < self.host_units, "parity has no slot");
        self.forward[lpn.index()] == self.buffered(slot)
    }

    /// Unmap a logical unit; returns where it was.
    pub fn trim(&mut self, lpn: Lpn) -> Mapping {
        let entry = std::mem::replace(&mut self.forward[lpn.index()], TRIMMED);
        self.decode(lpn, entry)
    }

    /// The logical unit at a valid physical address.
    #[inline]
    pub fn owner(&self, ppa: Ppa) -> Lpn {
        match self.reverse[ppa.index()] {
            0 => self.fill.lpn(ppa),
            entry => Lpn(entry - 1),
        }
    }

    /// Record the logical unit at a physical address.
    #[inline]
    pub fn set_owner(&mut self, ppa: Ppa, lpn: Lpn) {
        self.reverse[ppa.index()] = lpn.0 + 1;
    }

    /// Whether the unit at this address is current.
    #[inline]
    pub fn is_valid(&self, ppa: Ppa) -> bool {
        self.valid[(ppa.0 / 64) as usize] >> (ppa.0 % 64) & 1 != 0
    }

    /// Mark a unit current.
    #[inline]
    pub fn set_valid(&mut self, ppa: Ppa) {
        self.valid[(ppa.0 / 64) as usize] |= 1 << (ppa.0 % 64);
    }

    /// Mark a unit stale.
    #[inline]
    pub fn clear_valid(&mut self, ppa: Ppa) {
        self.valid[(ppa.0 / 64) as usize] &= !(1 << (ppa.0 % 64));
    }

    /// Mark `start .. start + count` current.
    pub fn set_valid_range(&mut self, start: Ppa, count: u32) {
        if count == 0 {
            return;
        }
        let start = start.0;
        let end = start + count;
        for word in start / 64..end.div_ceil(64) {
            let (from, to) = (start.max(word * 64) - word * 64, end.min(word * 64 + 64) - word * 64);
            self.valid[word as usize] |= (u64::MAX >> (64 - (to - from))) << from;
        }
    }

    /// How many of the first `units` logical units hold data.
    pub fn held(&self, units: u32) -> u32 {
        Lpn(0).run(units).filter(|&lpn| self.lookup(lpn) != Mapping::Unmapped).count() as u32
    }

    /// Whether all entries of a restored map point inside the drive, or to one of `slots` places of the buffer. An idle
    /// drive has none.
    pub fn is_sane(&self, host_units: u32, slots: u32) -> bool {
        let logical = self.forward.len() as u32;
        within(&self.forward, self.last + slots, TRIMMED)
            && within(&self.reverse, logical, 0)
            && self.state.filled <= host_units
            && self.state.parity.1.0 <= logical
    }

    /// Whether the two directions of a restored, sane map agree: the mapped logical units must be the owners of the
    /// valid physical ones. Buffered units are in neither direction. The pairs of both directions are compared by sums
    /// of hashes, so that each table is read once in order.
    pub fn agrees(&self) -> bool {
        let of = |lpn: Lpn, ppa: Ppa| mix(u64::from(lpn.0) << 32 | u64::from(ppa.0));
        let mut sum = 0u64;
        for lpn in Lpn(0).run(self.forward.len() as u32) {
            if let Mapping::Flash(ppa) = self.lookup(lpn) {
                sum = sum.wrapping_add(of(lpn, ppa));
            }
        }
        for (word, &bits) in (0..).zip(self.valid.iter()) {
            let mut bits = bits;
            while bits != 0 {
                let ppa = Ppa(word * 64 + bits.trailing_zeros());
                bits &= bits - 1;
                if ppa.0 >= self.last {
                    return false;
                }
                sum = sum.wrapping_sub(of(self.owner(ppa), ppa));
            }
        }
        sum == 0
    }

    /// The valid bits of the (at most 64) units `start .. start + count`, as a mask.
    #[inline]
    pub fn valid_mask(&self, start: Ppa, count: u32) -> u64 {
        let (word, shift) = ((start.0 / 64) as usize, start.0 % 64);
        let mut bits = self.valid[word] >> shift;
        if shift + count > 64 {
            bits |= self.valid[word + 1] << (64 - shift);
        }
        if count == 64 { bits } else { bits & ((1 << count) - 1) }
    }
}

/// Whether all entries are at most `most`, or `other`.
fn within(entries: &[u32], most: u32, other: u32) -> bool {
    // Without an early exit inside a chunk, the compiler compares several entries at a time.
    entries.chunks(1 << 12).all(|chunk| chunk.iter().fold(true, |ok, &e| ok & (e <= most || e == other)))
}

#[cfg(test)]
mod tests;
