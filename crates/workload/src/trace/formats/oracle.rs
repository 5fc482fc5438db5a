//! libCacheSim's oracleGeneral, binary, little-endian, records of 24 bytes.
//!
//! u32 clock time (s), u64 object id, u32 object size (bytes), i64 number of the next
//! access to the object (−1 or the largest value: none). The format has no operation: all
//! requests are reads. It has no address either: the object id modulo 2^53 is used as an
//! LBA of 512 bytes. This is exact for the block traces published in this form, and
//! spreads hashed ids evenly. All requests of a second have the same time.

use super::{Format, Looks};
use crate::trace::decode::{Outcome, Parsed, RecordParser, Records, le_u32, le_u64};
use crate::trace::options::TimeUnit;
use crate::trace::record::Raw;
use tailcut_units::HostOp;

pub(crate) static FORMAT: Format = Format {
    name: "oracle-general",
    aliases: &["oracleGeneral", "libcachesim"],
    title: "libCacheSim oracleGeneral binary",
    layout: "24 B records: u32 time (s), u64 object id (taken as LBA, 512 B), u32 size (bytes), i64 next access",
    looks: Looks::Bytes(looks),
    open: |setup| {
        let unit = setup.unit(TimeUnit::S);
        setup.note = "all reads; object id taken as LBA";
        Box::new(Records(Oracle { unit }))
    },
};

struct Oracle {
    unit: u64,
}

/// Whether up to 64 records are plausible: time never decreases, sizes are below 2^28,
/// and the next access is later. Text fails because of the sizes: four printable bytes
/// are above 2^29.
fn looks(sample: &[u8]) -> bool {
    let records = sample.chunks_exact(24).take(64);
    let mut last = 0;
    let mut good = 0;
    let count = records.len();
    for (i, record) in records.enumerate() {
        let (time, size, next) = (le_u32(record, 0), le_u32(record, 12), le_u64(record, 16) as i64);
        let ahead = next == -1 || next == i64::MAX || (next > i as i64 && next < 1 << 40);
        good += usize::from(time >= last && size < 1 << 28 && ahead);
        last = time;
    }
    count > 0 && good + usize::from(count > 8) >= count
}

impl RecordParser for Oracle {
    const HEAD: usize = 24;

    #[inline]
    fn parse(&mut self, record: &[u8]) -> Outcome {
        let time = u64::from(le_u32(record, 0)) * self.unit;
        let offset = (le_u64(record, 4) & ((1 << 53) - 1)) << 9;
        let bytes = u64::from(le_u32(record, 12));
        Ok(Parsed::Request(Raw { time, device: 0, offset, bytes, op: HostOp::Read }))
    }
}
