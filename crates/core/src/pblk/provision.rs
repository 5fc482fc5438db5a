//! The capacity of users, the size of the metadata, and the size of the ring.

use super::array::{Array, SECTOR};
use super::config::Kernel;
use crate::problem::{ConfigProblem, refuse};

/// Sectors of the header of emeta, with its bitmap of bad chunks and its counters.
const HEADER_SECTORS: u32 = 1;
/// Bytes of a logical address in emeta.
const LBA_BYTES: u64 = 8;
/// Bytes of the count of valid sectors of a line in emeta.
const VALID_BYTES: u64 = 4;
/// The fewest entries of a ring.
const LEAST_RING: u32 = 128;

/// The sizes that follow from the geometry of a device and its over-provisioning.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Provision {
    /// Sectors of smeta, the metadata at the start of a line: a write unit.
    pub smeta: u32,
    /// Sectors of emeta, the metadata at the end of a line: whole write units.
    pub emeta: u32,
    /// Chunks that users do not get, without those for metadata.
    pub spare: u32,
    /// Number of chunks that all metadata would fill.
    pub metadata: u32,
    /// With this number of free chunks or more the rate limiter limits nobody.
    pub high: u32,
    /// Capacity of users, in sectors.
    pub capacity: u64,
    /// Entries of the ring, a power of two.
    pub ring: u32,
    /// Entries that must stay free behind the sectors that are written into the ring.
    pub back: u32,
    /// With this number of free chunks or fewer no user writes.
    pub reserve: u32,
}

impl Provision {
    /// The fewest good chunks of a line that can be used.
    pub fn least_chunks(a: &Array) -> u32 {
        1 + (a.write_unit + emeta(a, a.line_sectors())).div_ceil(a.chunk)
    }

    /// Whether a line with this number of good chunks and sectors of data can be used.
    pub fn can_use(a: &Array, chunks: u32, capacity: u32) -> bool {
        chunks >= Provision::least_chunks(a) && capacity > 0
    }

    /// Compute the sizes for `good` good chunks of usable lines and an over-provisioning in percent, by the rules of
    /// a kernel. The ring has at least `ring` entries.
    ///
    /// # Errors
    /// The device has no room for users or for the limiter.
    pub fn new(
        a: &Array,
        good: u32,
        percent: f64,
        kernel: Kernel,
        ring: Option<u32>,
    ) -> Result<Provision, ConfigProblem> {
        let (smeta, emeta) = (a.write_unit, emeta(a, a.line_sectors()));
        let metadata_of_line = smeta + emeta;
        // Rounding errors must not reduce a whole product.
        let provisioned = (f64::from(good) * (100.0 - percent) / 100.0 + 1e-6) as u32;
        let spare = good - provisioned;
        let metadata = (u64::from(metadata_of_line) * u64::from(a.lines)).div_ceil(a.chunk.into()) as u32;
        let taken = metadata + a.luns();
        if good == 0 {
            let problem = "no line has room for its metadata besides data: larger or fewer blocks are needed";
            return refuse("geometry.blocks", problem);
        }
        if provisioned <= metadata {
            let problem = format!(
                "{percent} % of {good} chunks leave {provisioned} to users, and metadata take {metadata} of them"
            );
            return refuse("ftl.over_provisioning", problem);
        }
        if spare <= taken {
            let problem = format!(
                "{percent} % of {good} chunks are {spare}; pblk needs more than {taken}: {metadata} for metadata, and a line of {}",
                a.luns()
            );
            return refuse("ftl.over_provisioning", problem);
        }
        let ahead = a.cunits.max(a.write_unit);
        let entries = match kernel {
            Kernel::V4_19 => ahead,
            Kernel::V5_1 | Kernel::V5_14 => ahead + a.write_unit,
        } * a.luns();
        let reserve = match kernel {
            Kernel::V4_19 | Kernel::V5_1 => a.luns(),
            Kernel::V5_14 => libm::ceil(100.0 / percent) as u32 * a.luns(),
        };
        Ok(Provision {
            smeta,
            emeta,
            spare,
            metadata,
            high: spare - taken,
            capacity: u64::from(provisioned - metadata) * u64::from(a.chunk),
            ring: entries.max(LEAST_RING).max(ring.unwrap_or(0)).next_power_of_two(),
            back: match kernel {
                Kernel::V4_19 => 0,
                Kernel::V5_1 | Kernel::V5_14 => a.cunits * a.luns(),
            },
            reserve,
        })
    }
}

/// Sectors of emeta of a line of `line` sectors: the fewest whole write units that hold a header, the logical address
/// of every other sector of the line, and the count of valid sectors of every line.
pub fn emeta(a: &Array, line: u64) -> u32 {
    let valid = (u64::from(a.lines) * VALID_BYTES).div_ceil(SECTOR) as u32;
    let units = (1..).find(|&units| {
        let own = units * a.write_unit;
        let others = line.saturating_sub(own.into());
        let addresses = (others * LBA_BYTES).div_ceil(SECTOR) as u32;
        own >= HEADER_SECTORS + addresses + valid
    });
    units.expect("numbers have no end") * a.write_unit
}

#[cfg(test)]
mod tests {
    use super::super::array::tests::westlake;
    use super::*;

    fn of(percent: f64) -> Provision {
        Provision::new(&westlake(), 1067 * 128, percent, Kernel::V5_1, None).expect("a sound device")
    }

    /// The sizes that the kernel's code gives for this device.
    #[test]
    fn reference_points() {
        let p = of(11.0);
        assert_eq!((p.smeta, p.emeta, Provision::least_chunks(&westlake())), (8, 1032, 2));
        assert_eq!((p.spare, p.metadata, p.high), (15_024, 271, 14_625));
        assert_eq!((p.ring, p.back), (8192, 4096));
        let wide = Array { write_unit: 16, ..westlake() };
        let p = Provision::new(&wide, 1067 * 128, 11.0, Kernel::V5_1, None).expect("a sound device");
        assert_eq!((p.smeta, p.emeta, p.ring, p.back), (16, 1040, 8192, 4096));
    }

    /// Older kernels have a smaller ring, and the last ones have a larger reserve.
    #[test]
    fn kernels_differ_in_ring_and_reserve() {
        let of = |kernel, percent, ring| {
            let p = Provision::new(&westlake(), 1067 * 128, percent, kernel, ring).expect("a sound device");
            (p.ring, p.back, p.reserve)
        };
        assert_eq!(of(Kernel::V4_19, 11.0, None), (4096, 0, 128));
        assert_eq!(of(Kernel::V5_1, 11.0, None), (8192, 4096, 128));
        let lines = [11.0, 12.0, 20.0, 7.0].map(|percent| of(Kernel::V5_14, percent, None).2 / 128);
        assert_eq!(lines, [10, 9, 5, 15]);
        assert_eq!(of(Kernel::V5_1, 11.0, Some(9000)), (16_384, 4096, 128));
        assert_eq!(of(Kernel::V5_1, 11.0, Some(100)), (8192, 4096, 128));
    }

    #[test]
    fn capacity_by_over_provisioning() {
        let gigabytes = |percent| of(percent).capacity as f64 * SECTOR as f64 / 1e9;
        for (percent, expected) in [(7.0, 2126.4), (11.0, 2034.8), (12.0, 2011.8), (20.0, 1828.5)] {
            assert!((gigabytes(percent) - expected).abs() < 0.06, "{percent} %: {}", gigabytes(percent));
        }
    }

    #[test]
    fn a_device_without_room_is_refused() {
        let small = Array { lines: 8, ..westlake() };
        let error = Provision::new(&small, 8 * 128, 11.0, Kernel::V5_1, None).expect_err("refused");
        assert_eq!(error.key, "ftl.over_provisioning");
        assert!(error.problem.contains("needs more than"), "{}", error.problem);
    }
}
