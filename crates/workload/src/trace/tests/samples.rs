//! Small invented traces, one or more per format, and functions to read them.

use crate::trace::{Input, Record, TraceError, TraceOptions, TraceReader, TraceSource};
use std::io::Cursor;

pub const MSR: &str = "\
128000000000000000,web,0,Read,8192,4096,1200
128000000000000025,web,1,Write,1048576,8192,300
128000000000010000,src,0,Read,0,512,77
";
pub const SSDSIM: &str = "1000 0 16 8 1\n4000 0 32 16 0\n9000 1 0 1 1\n";
pub const DISKSIM: &str = "10.500 0 16 8 1\n11.250 0 100 3 0\n11.250 2 7 8 3\n";
pub const HEIMDALL: &str = "10.500 0 8192 4096 1\n11.250 0 51200 1024 0\n";
pub const SPC: &str = "0,16,4096,r,0.000000\n2,32,512,W,0.125000\n";
pub const ALICLOUD: &str = "7,R,8192,4096,1500000000000000\n9,W,0,512,1500000000000250\n";
pub const TENCENT: &str = "1500000000,16,8,0,44\n1500000001,32,1,1,45\n";
pub const SYSTOR: &str = "\
Timestamp,Response,IOType,LUN,Offset,Size
1400000000.500000000,0.001,R,3,8192,4096
1400000000.250000000,,W,3,0,512
";
pub const FIU: &str = "\
5000 17 httpd 16 8 R 8 1 0123456789abcdef0123456789abcdef
9000 18 two words 32 1 W 8 1 fedcba9876543210fedcba9876543210
";
pub const BLKPARSE: &str = "\
  8,16   0        1     0.000000000   11  Q   R 16 + 8 [app]
  8,16   0        2     0.000000500   11  U   N [app] 1
  8,16   0        3     0.000001000   11  D   R 16 + 8 [app]
  8,16   1        4     0.000002000   11  D  WS 32 + 1 [app]
  8,16   1        5     0.000003000   11  D  FN [app]
  8,16   1        6     0.000004000   11  D   D 64 + 8 [app]
  8,16   1        7     0.000005000   11  C   R 16 + 8 [0]
CPU0 (app):
 Reads Queued:           1,        4KiB
";
pub const IOLOG2: &str = "\
fio version 2 iolog
/dev/x add
/dev/x open
/dev/x read 8192 4096
/dev/x wait 150 0
/dev/x write 0 512
/dev/x trim 4096 4096
/dev/x sync 0 0
/dev/x close
";
pub const IOLOG3: &str = "\
fio version 3 iolog
1 /dev/x add
2 /dev/x open
100 /dev/x read 8192 4096
250 /dev/y write 0 512
260 /dev/x datasync
300 /dev/x close
";

/// All text samples, each with the format that must be detected.
pub const TEXTS: [(&str, &str); 12] = [
    ("msr", MSR),
    ("ssdsim", SSDSIM),
    ("disksim", DISKSIM),
    ("heimdall", HEIMDALL),
    ("spc", SPC),
    ("alicloud", ALICLOUD),
    ("tencent", TENCENT),
    ("systor", SYSTOR),
    ("fiu", FIU),
    ("blkparse", BLKPARSE),
    ("fio-iolog", IOLOG2),
    ("fio-iolog", IOLOG3),
];

/// vSCSI, version 1 (32-byte records) or 2 (40): a read, a write, an inquiry.
pub fn vscsi(version: u8) -> Vec<u8> {
    let mut out = Vec::new();
    for (i, (command, lba, bytes)) in
        [(0x28u16, 16u64, 4096u32), (0x2a, 32, 512), (0x12, 0, 36)].iter().enumerate()
    {
        let tag = u16::from(version) << 8;
        let numbers = [i as u32, *bytes, 1].map(u32::to_le_bytes).concat();
        let kind = [command.to_le_bytes(), tag.to_le_bytes()].concat();
        out.extend(if version == 1 { [numbers, kind].concat() } else { [kind, numbers].concat() });
        out.extend(lba.to_le_bytes());
        out.extend((1_000_000 + 250 * i as u64).to_le_bytes());
        if version == 2 {
            out.extend(90u64.to_le_bytes());
        }
    }
    out
}

/// oracleGeneral: three reads of two objects.
pub fn oracle() -> Vec<u8> {
    let mut out = Vec::new();
    for (time, id, next) in [(10u32, 16u64, 2i64), (10, 32, i64::MAX), (12, 16, -1)] {
        out.extend(time.to_le_bytes());
        out.extend(id.to_le_bytes());
        out.extend(4096u32.to_le_bytes());
        out.extend(next.to_le_bytes());
    }
    out
}

/// One record of blktrace's binary format.
pub fn blktrace(time: u64, sector: u64, bytes: u32, action: u32, payload: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    out.extend(0x6561_7407u32.to_le_bytes());
    out.extend(1u32.to_le_bytes());
    out.extend(time.to_le_bytes());
    out.extend(sector.to_le_bytes());
    for word in [bytes, action, 1000, 259 << 20, 0] {
        out.extend(word.to_le_bytes());
    }
    out.extend(0u16.to_le_bytes());
    out.extend((payload.len() as u16).to_le_bytes());
    out.extend(payload);
    out
}

/// Every sample as bytes, with its format.
pub fn all() -> Vec<(&'static str, Vec<u8>)> {
    let mut samples: Vec<_> = TEXTS.iter().map(|(name, text)| (*name, text.as_bytes().to_vec())).collect();
    samples.extend([("vscsi", vscsi(1)), ("vscsi", vscsi(2)), ("oracle-general", oracle())]);
    let (read, write) = (1 << 16 | 7, 1 << 17 | 7);
    samples
        .push(("blktrace", [blktrace(5, 16, 4096, read, b""), blktrace(9, 32, 512, write, b"ab")].concat()));
    samples.push(("compact", super::convert::compact(MSR.as_bytes())));
    samples
}

pub fn reader(bytes: &[u8], options: &TraceOptions) -> Result<TraceReader, TraceError> {
    TraceReader::new("trace", Box::new(Cursor::new(bytes.to_vec())), options)
}

pub fn records_with(bytes: &[u8], options: &TraceOptions) -> Result<Vec<Record>, TraceError> {
    let mut reader = reader(bytes, options)?;
    let mut records = Vec::new();
    while let Some(record) = reader.next_record()? {
        records.push(record);
    }
    Ok(records)
}

pub fn records(bytes: &[u8]) -> Result<Vec<Record>, TraceError> {
    records_with(bytes, &TraceOptions::default())
}

pub fn source(bytes: &[u8], options: &TraceOptions, capacity: u64) -> Result<TraceSource, TraceError> {
    let bytes = bytes.to_vec();
    let opener = move || Ok(Box::new(Cursor::new(bytes.clone())) as Input);
    TraceSource::from_opener("trace", Box::new(opener), options, capacity)
}

/// [`SSDSIM`], compressed by xz.
pub const XZ: &[u8] = &[
    253, 55, 122, 88, 90, 0, 0, 4, 230, 214, 180, 70, 2, 0, 33, 1, 22, 0, 0, 0, 116, 47, 229, 163, 224, 0,
    41, 0, 33, 93, 0, 24, 140, 48, 4, 16, 2, 52, 62, 143, 100, 24, 32, 93, 72, 146, 117, 92, 163, 120, 253,
    115, 225, 140, 4, 55, 239, 6, 218, 47, 162, 172, 165, 206, 0, 0, 0, 0, 187, 22, 91, 58, 228, 91, 130, 22,
    0, 1, 61, 42, 67, 52, 213, 145, 31, 182, 243, 125, 1, 0, 0, 0, 0, 4, 89, 90,
];
