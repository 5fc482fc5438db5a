//! The flash itself: every unit erased, or programmed with bytes and a record.

use super::content::filled_bytes;
use super::oob::{Kind, Oob};
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

    /// Read the bytes from `from` on into `out`.
    pub fn read(&self, from: usize, out: &mut [u8]) {
        match &self.bytes {
            Some(bytes) => out.copy_from_slice(&bytes[from..from + out.len()]),
            None if self.oob.kind == Kind::Pad => out.fill(0),
            None if self.oob.kind == Kind::Parity => {
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
    fill: Option<(Fill, Vec<u32>)>,
}

impl Pages {
    /// Create a flash in which all is erased.
    pub fn new(size: &Size) -> Pages {
        Pages { size: *size, extents: vec![Extent::AsFilled; size.extents as usize], fill: None }
    }

    /// Whether the flash is of this size.
    pub fn fits(&self, size: &Size) -> bool {
        *size == Size { slots: size.slots, requests: size.requests, ..self.size }
    }

    /// Make the contents those of a sequential fill of a new flash.
    pub fn fill(&mut self, order: &Fill, units: u32) {
        *self = Pages::new(&self.size);
        self.fill = Some((order.clone(), order.units_by_lane(units)));
    }

    /// The unit that the fill put at an address.
    fn filled(&self, ppa: Ppa) -> Option<Unit> {
        let (order, by_lane) = self.fill.as_ref()?;
        let (lane, index) = (ppa.0 / self.size.units_per_lane, ppa.0 % self.size.units_per_lane);
        let units = by_lane[lane as usize];
        if index < units {
            let lpn = order.lpn(ppa);
            if let Some(data) = order.covered(lpn) {
                let sequence = u64::from(data.end.0 - 1);
                let oob = Oob { sequence, ..Oob::parity(lpn, (1 << (data.end - data.start)) - 1) };
                return Some(Unit::implied_parity(oob, data.start));
            }
            Some(Unit::implied(Oob::data(Kind::User, lpn, u64::from(lpn.0), 0)))
        } else if index < units.next_multiple_of(self.size.units_per_row) {
            Some(Unit::implied(Oob::pad(0)))
        } else {
            None
        }
    }

    /// The unit at an address; `None` if it is erased.
    pub fn unit(&self, ppa: Ppa) -> Option<Unit> {
        let (extent, at) = (ppa.0 / self.size.units_per_extent, ppa.0 % self.size.units_per_extent);
        match &self.extents[extent as usize] {
            Extent::AsFilled => self.filled(ppa),
            Extent::Erased => None,
            Extent::Units(units) => units[at as usize].clone(),
        }
    }

    fn slot(&mut self, ppa: Ppa) -> &mut Option<Unit> {
        let (extent, at) = (ppa.0 / self.size.units_per_extent, ppa.0 % self.size.units_per_extent);
        if !matches!(self.extents[extent as usize], Extent::Units(_)) {
            let first = self.units_of(extent).start;
            let units = first.run(self.size.units_per_extent).map(|ppa| self.unit(ppa)).collect();
            self.extents[extent as usize] = Extent::Units(units);
        }
        match &mut self.extents[extent as usize] {
            Extent::Units(units) => &mut units[at as usize],
            Extent::AsFilled | Extent::Erased => unreachable!("it has units of its own now"),
        }
    }

    /// The addresses of an extent.
    pub fn units_of(&self, extent: u32) -> Range<Ppa> {
        let first = Ppa(extent * self.size.units_per_extent);
        first..first + self.size.units_per_extent
    }

    /// Program a unit. Returns the unit that was there before: there should be none.
    pub fn program(&mut self, ppa: Ppa, unit: Unit) -> Option<Unit> {
        self.slot(ppa).replace(unit)
    }

    /// Flip a bit of a unit that has bytes of its own.
    pub fn damage(&mut self, ppa: Ppa, byte: usize) {
        if let Some(unit) = self.slot(ppa) {
            unit.damage(byte);
        }
    }

    /// Erase a unit.
    pub fn erase_unit(&mut self, ppa: Ppa) {
        *self.slot(ppa) = None;
    }

    /// Erase an extent.
    pub fn erase(&mut self, extent: u32) {
        self.extents[extent as usize] = Extent::Erased;
    }
}
