//! The flash in memory: every unit erased, or programmed with bytes and a record.

use super::content::filled_bytes;
use super::oob::{Oob, UnitKind};
use super::store::Store;
use super::{Range, Size};
use crate::address::{Lpn, Ppa};
use crate::ftl::map::Fill;
use std::sync::Arc;
use xxhash_rust::xxh3::xxh3_64;

/// A programmed unit.
#[derive(Clone, Debug)]
pub struct Unit {
    /// Its record.
    pub oob: Oob,
    /// The bytes; `None` if they follow from the record: zeros of padding, else [`filled_bytes`].
    bytes: Option<Arc<[u8]>>,
    /// The first logical unit of its stripe, for parity without bytes of its own.
    first: Lpn,
}

impl Unit {
    /// Create a unit with bytes. The checksum is computed from them.
    pub fn new(oob: Oob, bytes: Arc<[u8]>) -> Unit {
        Unit { oob: Oob { checksum: xxh3_64(&bytes), ..oob }, bytes: Some(bytes), first: Lpn::NONE }
    }

    /// A unit whose bytes follow from its record.
    pub fn implied(oob: Oob) -> Unit {
        Unit { oob, bytes: None, first: Lpn::NONE }
    }

    /// Parity of units whose bytes follow from their records, in a stripe that begins with
    /// the logical unit `first`.
    pub fn implied_parity(oob: Oob, first: Lpn) -> Unit {
        let members = (0..u64::BITS).filter(|i| oob.members >> i & 1 != 0);
        let lpns = members.fold(0, |sum, i| sum ^ (first + i).0);
        Unit { oob: Oob { lpns, ..oob }, bytes: None, first }
    }

    /// A unit as it was stored: its record as it is, its bytes if it has bytes of its own, and the first logical unit of
    /// its stripe (see [`Unit::stored`]).
    pub fn from_stored(oob: Oob, bytes: Option<Arc<[u8]>>, first: Lpn) -> Unit {
        Unit { oob, bytes, first }
    }

    /// What a store needs beside the record: the bytes, if they do not follow from the record, and the first logical unit
    /// of the stripe of parity without bytes.
    pub fn stored(&self) -> (Option<&Arc<[u8]>>, Lpn) {
        (self.bytes.as_ref(), self.first)
    }

    /// Read the bytes from `from` on into `out`.
    pub fn read(&self, from: usize, out: &mut [u8]) {
        match &self.bytes {
            Some(bytes) => out.copy_from_slice(&bytes[from..from + out.len()]),
            None if self.oob.kind == UnitKind::Pad => out.fill(0),
            None if self.oob.kind == UnitKind::Parity => {
                out.fill(0);
                let mut one = vec![0; out.len()];
                for i in (0..u64::BITS).filter(|i| self.oob.members >> i & 1 != 0) {
                    filled_bytes(self.first + i, from, &mut one);
                    out.iter_mut().zip(&one).for_each(|(sum, byte)| *sum ^= byte);
                }
            }
            None => filled_bytes(self.oob.lpn, from, out),
        }
    }

    /// All `size` bytes.
    pub fn to_vec(&self, size: u32) -> Vec<u8> {
        let mut all = vec![0; size as usize];
        self.read(0, &mut all);
        all
    }

    /// Whether the bytes match the checksum.
    pub fn is_sound(&self) -> bool {
        self.bytes.as_ref().is_none_or(|b| xxh3_64(b) == self.oob.checksum)
    }

    /// Flip a bit of a unit that has bytes of its own.
    pub fn damage(&mut self, byte: usize) {
        if let Some(bytes) = &mut self.bytes {
            let mut other = bytes.to_vec();
            other[byte] ^= 1;
            *bytes = other.into();
        }
    }
}

/// The units of an extent.
#[derive(Clone, Debug)]
enum Extent {
    /// As the sequential fill left the extent; erased if there was no fill.
    AsFilled,
    Erased,
    Units(Box<[Option<Unit>]>),
}

/// The flash.
#[derive(Clone, Debug, Default)]
pub struct Pages {
    size: Size,
    extents: Vec<Extent>,
    fill: Option<Filled>,
}

/// What a sequential fill of a new flash has put where.
#[derive(Clone, Debug)]
pub struct Filled {
    order: Fill,
    units_by_lane: Vec<u32>,
}

impl Filled {
    /// A fill of this many logical units.
    pub fn new(order: &Fill, units: u32) -> Filled {
        Filled { order: order.clone(), units_by_lane: order.units_by_lane(units) }
    }

    /// The unit at an address of a flash of this size; `None` if it is erased.
    pub fn unit(&self, size: &Size, ppa: Ppa) -> Option<Unit> {
        let (lane, index) = (ppa.0 / size.units_per_lane, ppa.0 % size.units_per_lane);
        let units = self.units_by_lane[lane as usize];
        if index < units {
            let lpn = self.order.lpn(ppa);
            if let Some(data) = self.order.covered(lpn) {
                let sequence = u64::from(data.end.0 - 1);
                let oob = Oob { sequence, ..Oob::parity(lpn, (1 << (data.end - data.start)) - 1) };
                return Some(Unit::implied_parity(oob, data.start));
            }
            Some(Unit::implied(Oob::data(UnitKind::User, lpn, u64::from(lpn.0), 0)))
        } else if index < units.next_multiple_of(size.units_per_row) {
            Some(Unit::implied(Oob::pad(0)))
        } else {
            None
        }
    }
}

impl Pages {
    /// Create a flash in which all is erased.
    pub fn new(size: &Size) -> Pages {
        Pages { size: *size, extents: vec![Extent::AsFilled; size.extents as usize], fill: None }
    }

    fn slot(&mut self, ppa: Ppa) -> &mut Option<Unit> {
        let (extent, at) = (ppa.0 / self.size.units_per_extent, ppa.0 % self.size.units_per_extent);
        if !matches!(self.extents[extent as usize], Extent::Units(_)) {
            let first = self.size.units_of(extent).start;
            let units = first.run(self.size.units_per_extent).map(|ppa| self.unit(ppa)).collect();
            self.extents[extent as usize] = Extent::Units(units);
        }
        match &mut self.extents[extent as usize] {
            Extent::Units(units) => &mut units[at as usize],
            Extent::AsFilled | Extent::Erased => unreachable!("it has units of its own now"),
        }
    }

    /// Flip a bit of a unit that has bytes of its own.
    pub fn damage(&mut self, ppa: Ppa, byte: usize) {
        if let Some(unit) = self.slot(ppa) {
            unit.damage(byte);
        }
    }
}

impl Store for Pages {
    fn attach(&mut self, size: &Size) -> bool {
        let fits = self.size.is_same_flash(size);
        if !fits {
            *self = Pages::new(size);
        }
        fits
    }

    fn unit(&self, ppa: Ppa) -> Option<Unit> {
        let (extent, at) = (ppa.0 / self.size.units_per_extent, ppa.0 % self.size.units_per_extent);
        match &self.extents[extent as usize] {
            Extent::AsFilled => self.fill.as_ref()?.unit(&self.size, ppa),
            Extent::Erased => None,
            Extent::Units(units) => units[at as usize].clone(),
        }
    }

    fn program(&mut self, ppa: Ppa, unit: Unit) -> Option<Oob> {
        self.slot(ppa).replace(unit).map(|before| before.oob)
    }

    fn erase(&mut self, units: Range<Ppa>) {
        self.extents[(units.start.0 / self.size.units_per_extent) as usize] = Extent::Erased;
    }

    fn erase_unit(&mut self, ppa: Ppa) {
        *self.slot(ppa) = None;
    }

    fn fill(&mut self, order: &Fill, units: u32) {
        *self = Pages::new(&self.size);
        self.fill = Some(Filled::new(order, units));
    }
}
