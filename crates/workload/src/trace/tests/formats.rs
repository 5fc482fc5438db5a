//! Is each format recognised, and are its units right?

use super::samples::*;
use crate::trace::detect::NAMES;
use crate::trace::{FORMATS, TimeUnit, TraceOptions};
use tailcut_units::HostOp::{self, Flush, Read, Trim, Write};

/// (time ns, device, offset, bytes, op)
type Row = (u64, u32, u64, u32, HostOp);

fn check(bytes: &[u8], expected: &[Row]) {
    let found = records(bytes).unwrap();
    let found: Vec<Row> = found.iter().map(|r| (r.time, r.device, r.offset, r.bytes, r.op)).collect();
    assert_eq!(found, expected);
}

#[test]
fn every_sample_is_found_by_content_and_by_name() {
    for (name, bytes) in all() {
        assert_eq!(reader(&bytes, &TraceOptions::default()).unwrap().format().name, name);
        let given = TraceOptions { format: Some(name.into()), ..TraceOptions::default() };
        assert_eq!(records_with(&bytes, &given).unwrap(), records(&bytes).unwrap(), "{name}");
    }
}

#[test]
fn the_list_of_names_is_the_list_of_formats() {
    let names: Vec<_> = FORMATS.iter().map(|f| f.name).collect();
    assert_eq!(NAMES, names.join(", "));
}

#[test]
fn msr_counts_ticks_of_100_ns_and_tells_hosts_apart() {
    check(
        MSR.as_bytes(),
        &[(0, 0, 8192, 4096, Read), (2500, 1, 1 << 20, 8192, Write), (1_000_000, 1 << 16, 0, 512, Read)],
    );
}

#[test]
fn sector_formats_multiply_by_512() {
    check(
        SSDSIM.as_bytes(),
        &[(0, 0, 8192, 4096, Read), (3000, 0, 16384, 8192, Write), (8000, 1, 0, 512, Read)],
    );
    check(
        DISKSIM.as_bytes(),
        &[(0, 0, 8192, 4096, Read), (750_000, 0, 51200, 1536, Write), (750_000, 2, 3584, 4096, Read)],
    );
    check(SPC.as_bytes(), &[(0, 0, 8192, 4096, Read), (125_000_000, 2, 16384, 512, Write)]);
    check(TENCENT.as_bytes(), &[(0, 44, 8192, 4096, Read), (1_000_000_000, 45, 16384, 512, Write)]);
    let disk = 8 << 20 | 1;
    check(FIU.as_bytes(), &[(0, disk, 8192, 4096, Read), (4000, disk, 16384, 512, Write)]);
}

#[test]
fn byte_formats_take_offsets_as_they_are() {
    check(HEIMDALL.as_bytes(), &[(0, 0, 8192, 4096, Read), (750_000, 0, 51200, 1024, Write)]);
    check(ALICLOUD.as_bytes(), &[(0, 7, 8192, 4096, Read), (250_000, 9, 0, 512, Write)]);
    check(SYSTOR.as_bytes(), &[(0, 3, 0, 512, Write), (250_000_000, 3, 8192, 4096, Read)]);
}

#[test]
fn blkparse_replays_issues_and_falls_back_to_queued() {
    let disk = 8 << 20 | 16;
    check(
        BLKPARSE.as_bytes(),
        &[
            (0, disk, 8192, 4096, Read),
            (1000, disk, 16384, 512, Write),
            (2000, disk, 0, 0, Flush),
            (3000, disk, 32768, 4096, Trim),
        ],
    );
    let mut traced = reader(BLKPARSE.as_bytes(), &TraceOptions::default()).unwrap();
    while traced.next_record().unwrap().is_some() {}
    assert_eq!((traced.counts().other_events, traced.counts().comments, traced.counts().lines), (3, 2, 9));
    let queued: String = BLKPARSE.lines().filter(|l| !l.contains(" D ")).map(|l| format!("{l}\n")).collect();
    check(queued.as_bytes(), &[(0, disk, 8192, 4096, Read)]);
    assert!(reader(queued.as_bytes(), &TraceOptions::default()).unwrap().note().starts_with("Q events"));
}

#[test]
fn iologs_of_both_versions_are_read() {
    check(
        IOLOG2.as_bytes(),
        &[
            (0, 0, 8192, 4096, Read),
            (150_000_000, 0, 0, 512, Write),
            (150_000_000, 0, 4096, 4096, Trim),
            (150_000_000, 0, 0, 0, Flush),
        ],
    );
    check(
        IOLOG3.as_bytes(),
        &[(0, 0, 8192, 4096, Read), (150_000, 1, 0, 512, Write), (160_000, 0, 0, 0, Flush)],
    );
}

#[test]
fn binary_formats_are_read() {
    for version in [1, 2] {
        check(&vscsi(version), &[(0, 0, 8192, 4096, Read), (250_000, 0, 16384, 512, Write)]);
    }
    let second = 1_000_000_000;
    check(
        &oracle(),
        &[(0, 0, 8192, 4096, Read), (0, 0, 16384, 4096, Read), (2 * second, 0, 8192, 4096, Read)],
    );
}

#[test]
fn comments_headers_blank_lines_and_carriage_returns_are_skipped_and_counted() {
    let text = format!(
        "# a comment\r\n\r\ndevice_id,opcode,offset,length,timestamp\r\n{}",
        ALICLOUD.replace('\n', "\r\n")
    );
    let mut traced = reader(text.as_bytes(), &TraceOptions::default()).unwrap();
    let mut requests = 0;
    while traced.next_record().unwrap().is_some() {
        requests += 1;
    }
    let counts = traced.counts();
    assert_eq!((requests, counts.blank, counts.comments, counts.lines), (2, 1, 2, 5));
}

#[test]
fn a_given_unit_wins() {
    let options = TraceOptions { time_unit: Some(TimeUnit::Us), ..TraceOptions::default() };
    let times: Vec<_> = records_with(SSDSIM.as_bytes(), &options).unwrap().iter().map(|r| r.time).collect();
    assert_eq!(times, [0, 3_000_000, 8_000_000]);
    assert_eq!(reader(SSDSIM.as_bytes(), &options).unwrap().time_unit(), (TimeUnit::Us, "given"));
}

#[test]
fn compressed_traces_are_read_in_place() {
    use std::io::Write as _;
    for (_, plain) in all() {
        let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        gzip.write_all(&plain[..plain.len() / 2]).unwrap();
        let mut members = gzip.finish().unwrap();
        // A second member, as `cat a.gz b.gz` makes it.
        let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        gzip.write_all(&plain[plain.len() / 2..]).unwrap();
        members.extend(gzip.finish().unwrap());
        let zstd = zstd::encode_all(&plain[..], 1).unwrap();
        let expected = records(&plain).unwrap();
        assert_eq!(records(&members).unwrap(), expected);
        assert_eq!(records(&zstd).unwrap(), expected);
    }
}
