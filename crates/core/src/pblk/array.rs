//! The geometry of the device as pblk uses it, and the address of a sector in a line.
//!
//! A *line* is the chunk of one index on every LUN. Data are striped over all LUNs in write units. Consecutive LUN
//! positions are on consecutive channels.

use crate::problem::{ConfigProblem, refuse};

/// Bytes of a sector, the unit of mapping and of reads.
pub const SECTOR: u64 = 4096;

/// The most sectors of one vector command.
pub const MOST_VECTOR: u32 = 64;

/// The most entries of a ring.
pub const MOST_RING: u64 = 1 << 20;

/// An open-channel device. All sizes are in sectors.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Array {
    /// Channels.
    pub channels: u32,
    /// LUNs of a channel.
    pub luns_per_channel: u32,
    /// Chunks of a LUN, which is the number of lines.
    pub lines: u32,
    /// Sectors of a chunk.
    pub chunk: u32,
    /// Sectors that one LUN programs at once.
    pub write_unit: u32,
    /// Number of sectors that must be written behind a sector of a chunk before it can be read.
    pub cunits: u32,
}

/// The location of a sector in its line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spot {
    /// LUN position.
    pub position: u32,
    /// Sector in the chunk.
    pub sector: u32,
}

impl Array {
    /// Check that pblk can use this geometry.
    ///
    /// # Errors
    /// The key that is out of range, and the values that are allowed.
    pub fn check(&self) -> Result<(), ConfigProblem> {
        if self.luns() < 2 {
            return refuse("geometry.channels", "pblk needs at least two LUNs");
        }
        if self.write_unit == 0 || !self.chunk.is_multiple_of(self.write_unit) {
            let problem = format!(
                "a chunk of {} sectors is no multiple of the {} that are programmed at once",
                self.chunk, self.write_unit
            );
            return refuse("geometry.pages", problem);
        }
        // A map entry names a sector or a ring slot.
        if u64::from(self.lines) * self.line_sectors() > u64::from(u32::MAX) - 2 * MOST_RING {
            return refuse(
                "geometry.blocks",
                "the device has too many sectors for pblk's map of 4 bytes, 2^32",
            );
        }
        Ok(())
    }

    /// Number of LUNs.
    pub fn luns(&self) -> u32 {
        self.channels * self.luns_per_channel
    }

    /// Sectors of a line.
    pub fn line_sectors(&self) -> u64 {
        u64::from(self.luns()) * u64::from(self.chunk)
    }

    /// The position of a LUN.
    pub fn position(&self, channel: u32, lun: u32) -> u32 {
        lun * self.channels + channel
    }

    /// The channel of a position, and the LUN of that channel.
    pub fn lun_at(&self, position: u32) -> (u32, u32) {
        (position % self.channels, position / self.channels)
    }

    /// Return the location of the sector at an address in a line.
    #[inline]
    pub fn spot(&self, address: u32) -> Spot {
        let (unit, within) = (address / self.write_unit, address % self.write_unit);
        let (stripe, position) = (unit / self.luns(), unit % self.luns());
        Spot { position, sector: stripe * self.write_unit + within }
    }

    /// Return the address in a line of the sector at a location.
    #[inline]
    pub fn address(&self, spot: Spot) -> u32 {
        let (stripe, within) = (spot.sector / self.write_unit, spot.sector % self.write_unit);
        (stripe * self.luns() + spot.position) * self.write_unit + within
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// The CNEX Westlake SDK: 16 channels of 8 LUNs. A program writes two planes of 16 KiB.
    pub fn westlake() -> Array {
        Array { channels: 16, luns_per_channel: 8, lines: 1067, chunk: 4096, write_unit: 8, cunits: 32 }
    }

    #[test]
    fn data_go_round_all_luns() {
        let a = westlake();
        assert_eq!((a.luns(), a.line_sectors()), (128, 524_288));
        let places = [0, 7, 8, 8 * 127, 8 * 128, 8 * 128 + 9].map(|address| a.spot(address));
        let expected = [(0, 0), (0, 7), (1, 0), (127, 0), (0, 8), (1, 9)];
        assert_eq!(places.map(|p| (p.position, p.sector)), expected);
        assert!((0..524_288).step_by(97).all(|address| a.address(a.spot(address)) == address));
        // Consecutive positions are on consecutive channels.
        assert_eq!([0, 1, 15, 16, 127].map(|p| a.lun_at(p)), [(0, 0), (1, 0), (15, 0), (0, 1), (15, 7)]);
        assert!((0..128).all(|p| a.position(a.lun_at(p).0, a.lun_at(p).1) == p));
    }

    #[test]
    fn devices_that_the_rules_cannot_serve_are_refused() {
        assert!(westlake().check().is_ok());
        let refused = |a: Array| a.check().expect_err("refused").key.to_string();
        assert_eq!(refused(Array { channels: 1, luns_per_channel: 1, ..westlake() }), "geometry.channels");
        assert_eq!(refused(Array { write_unit: 3, ..westlake() }), "geometry.pages");
        assert_eq!(refused(Array { lines: 8192, ..westlake() }), "geometry.blocks");
    }
}
