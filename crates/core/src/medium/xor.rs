//! Accumulators, in which parity is computed and lost units are rebuilt.

use super::gf256::add_times;
use super::pages::Unit;

/// The exclusive or of some units: of their bytes and of their LPNs. A unit may have a factor, in GF(2^8).
#[derive(Clone, Debug)]
pub struct Accumulator {
    /// The exclusive or of the bytes.
    pub bytes: Vec<u8>,
    /// The exclusive or of the LPNs.
    pub lpns: u32,
    /// The unit that the result should be, if it is known.
    pub aim: Option<Unit>,
}

impl Accumulator {
    /// Create an accumulator of zeros.
    pub fn new(unit_bytes: u32) -> Accumulator {
        Accumulator { bytes: vec![0; unit_bytes as usize], lpns: 0, aim: None }
    }

    /// Write the accumulator's record, from which [`Accumulator::from_record`] makes it again but for the unit that the
    /// result should be.
    pub fn record(&self, out: &mut Vec<u8>) {
        out.clear();
        out.extend(self.lpns.to_le_bytes());
        out.extend(&self.bytes);
    }

    /// The accumulator of a record; `None` if units of this size have no such accumulator.
    pub fn from_record(record: &[u8], unit_bytes: u32) -> Option<Accumulator> {
        let (lpns, bytes) = record.split_first_chunk()?;
        let fits = bytes.len() == unit_bytes as usize;
        fits.then(|| Accumulator { bytes: bytes.to_vec(), lpns: u32::from_le_bytes(*lpns), aim: None })
    }

    /// Make the accumulator all zeros.
    pub fn clear(&mut self) {
        self.bytes.fill(0);
        self.lpns = 0;
        self.aim = None;
    }

    /// Add the bytes of logical unit `lpn`, times a factor.
    pub fn add(&mut self, bytes: &[u8], lpn: u32, factor: u8) {
        add_times(&mut self.bytes, bytes, factor);
        let mut lpns = self.lpns.to_le_bytes();
        add_times(&mut lpns, &lpn.to_le_bytes(), factor);
        self.lpns = u32::from_le_bytes(lpns);
    }

    /// Add a unit, times a factor.
    pub fn add_unit(&mut self, unit: &Unit, factor: u8) {
        self.add(&unit.to_vec(self.bytes.len() as u32), unit.oob.share(), factor);
    }

    /// Whether the accumulator equals the unit, in bytes and LPN.
    pub fn is(&self, unit: &Unit) -> bool {
        self.lpns == unit.oob.share() && self.bytes == unit.to_vec(self.bytes.len() as u32)
    }

    /// Whether the accumulator is all zeros.
    pub fn is_clear(&self) -> bool {
        self.lpns == 0 && self.bytes.iter().all(|&b| b == 0)
    }
}
