//! Accumulators: what parity is computed in, and what a lost unit is rebuilt in.

use super::pages::Unit;

/// The exclusive or of some units, byte by byte, and of whose they are.
#[derive(Clone, Debug)]
pub struct Accumulator {
    /// Of the bytes.
    pub bytes: Vec<u8>,
    /// Of the LPNs.
    pub lpns: u32,
    /// What it is to become.
    pub aim: Option<Unit>,
}

impl Accumulator {
    /// All zeros.
    pub fn new(unit_bytes: u32) -> Accumulator {
        Accumulator { bytes: vec![0; unit_bytes as usize], lpns: 0, aim: None }
    }

    /// All zeros again.
    pub fn clear(&mut self) {
        self.bytes.fill(0);
        self.lpns = 0;
        self.aim = None;
    }

    /// Add bytes that are those of `lpn`.
    pub fn add(&mut self, bytes: &[u8], lpn: u32) {
        for (sum, byte) in self.bytes.iter_mut().zip(bytes) {
            *sum ^= byte;
        }
        self.lpns ^= lpn;
    }

    /// Add a unit.
    pub fn add_unit(&mut self, unit: &Unit) {
        self.add(&unit.to_vec(self.bytes.len() as u32), unit.oob.share());
    }

    /// Whether this is the unit, byte for byte, and whose.
    pub fn is(&self, unit: &Unit) -> bool {
        self.lpns == unit.oob.share() && self.bytes == unit.to_vec(self.bytes.len() as u32)
    }

    /// Whether nothing is left.
    pub fn is_clear(&self) -> bool {
        self.lpns == 0 && self.bytes.iter().all(|&b| b == 0)
    }
}
