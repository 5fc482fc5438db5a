//! Is a trace read as its authors meant it, or refused with a reason: units, columns, events, headers?

use super::samples::*;
use crate::trace::{Columns, TimeUnit, TraceFile, TraceOptions, info, info_of};
use std::io::Write as _;
use tailcut_units::HostOp::{Flush, Read, Trim, Write};

fn message(text: &str) -> String {
    records(text.as_bytes()).unwrap_err().to_string()
}

fn info_with(text: &str, options: &TraceOptions) -> crate::trace::TraceInfo {
    info_of(reader(text.as_bytes(), options).unwrap()).unwrap()
}

fn info_text(text: &str) -> crate::trace::TraceInfo {
    info_with(text, &TraceOptions::default())
}

/// A request every half second, in seconds with nine decimals.
fn seconds() -> String {
    (0..20).map(|i| format!("{}.{}00000000 0 {} 16 {}\n", i / 2, i % 2 * 5, i * 16, i % 2)).collect()
}

#[test]
fn times_with_nine_decimals_are_seconds_and_other_fractions_no_ticks() {
    let i = info_text(&seconds());
    assert_eq!((i.format, i.time_unit, i.time_unit_from), ("disksim", TimeUnit::S, "detected"));
    assert_eq!(i.span_ns, 9_500_000_000);
    let mqsim = TraceOptions { format: Some("mqsim".into()), ..TraceOptions::default() };
    assert_eq!(info_with(&seconds(), &mqsim).span_ns, 9_500_000_000);
    let error = records_with(b"0.5 0 16 8 1\n", &mqsim).unwrap_err().to_string();
    assert!(error.contains("time is \"0.5\"") && error.contains("--time-unit"), "{error}");
    let given = TraceOptions { time_unit: Some(TimeUnit::Us), ..mqsim };
    assert_eq!(records_with(b"0.5 0 16 8 1\n1.5 0 16 8 1\n", &given).unwrap()[1].time, 1_000);
    assert_eq!(info_text(DISKSIM).time_unit, TimeUnit::Ms);
}

#[test]
fn sectors_and_bytes_are_told_apart_for_a_stated_reason() {
    let sequential: String = (0..10).map(|i| format!("{}.000 0 {} 512 1\n", i * 2, i * 512)).collect();
    let i = info_text(&sequential);
    assert_eq!((i.format, i.read_bytes), ("disksim", 10 * 512 * 512));
    assert!(i.note.contains("shorter than a page") && i.note.contains("--format heimdall"), "{}", i.note);
    let i = info_text(HEIMDALL);
    assert!(i.format == "heimdall" && i.note.contains("--format disksim"), "{} {}", i.format, i.note);
    assert_eq!(info_text(DISKSIM).note, "");
}

#[test]
fn an_assumed_format_is_named_in_errors_and_a_given_one_is_not() {
    let text = "key,op,size,op_count,key_size\n1001,GET,4096,1,20\n1002,SET,8192,2,20\n";
    let said = message(text);
    assert!(said.contains("line 2") && said.contains("(read as tencent, since"), "{said}");
    let given = TraceOptions { format: Some("tencent".into()), ..TraceOptions::default() };
    let said = records_with(text.as_bytes(), &given).unwrap_err().to_string();
    assert!(!said.contains("read as"), "{said}");
}

#[test]
fn zones_are_other_events_and_completions_alone_are_said() {
    let line = |event: &str, rwbs: &str, at: u64| {
        format!("259,0 1 1 0.{at:09} 1000 {event} {rwbs} 524288 + 8 [job]\n")
    };
    let text = line("D", "W", 1) + &line("D", "ZR", 2) + &line("D", "R", 3) + &line("D", "ZFS", 4);
    let i = info_text(&text);
    assert_eq!((i.reads, i.writes, i.flushes, i.counts.other_events), (1, 1, 0, 2));
    let said = message(&(line("C", "W", 1) + &line("C", "R", 2)));
    assert!(said.contains("2 completions (C) only") && said.contains("D (issued) or Q (queued)"), "{said}");
    let i = info_text(&(line("D", "FWFS", 1) + &line("D", "FN", 2)));
    assert_eq!((i.writes, i.flushes, i.requests, i.counts.lines), (1, 2, 3, 2));
    let [said] = &i.counts.warnings[..] else { panic!("{:?}", i.counts) };
    assert!(
        said.contains("1 requests had a flush before them") && said.contains("a FLUSH is issued"),
        "{said}"
    );
    assert!(said.contains("1 requests had forced unit access"), "{said}");
}

/// The FLUSH comes at the time of its request and before it, also among requests that are sorted.
#[test]
fn a_flush_before_a_request_is_a_flush() {
    let line =
        |rwbs: &str, sector: u64, at: u64| format!("259,0 1 1 0.{at:09} 1000 Q {rwbs} {sector} + 8 [jbd2]\n");
    let text = line("WS", 0, 10) + &line("FWFS", 8, 30) + &line("FWS", 16, 20) + &line("R", 24, 40);
    let all: Vec<_> = records(text.as_bytes()).unwrap();
    let got: Vec<_> = all.iter().map(|r| (r.time, r.op, r.offset / 512)).collect();
    let wanted =
        [(0, Write, 0), (10, Flush, 0), (10, Write, 16), (20, Flush, 0), (20, Write, 8), (30, Read, 24)];
    assert_eq!(got, wanted);
    assert_eq!(all.iter().map(|r| u8::from(r.fua)).collect::<Vec<_>>(), [0, 0, 0, 0, 1, 0]);
    // A request that cannot be used takes its FLUSH with it.
    let bad = line("WS", 0, 10) + "259,0 1 1 0.000000020 1000 Q FWS 8 + 99999999999 [jbd2]\n";
    assert!(records(bad.as_bytes()).is_err());
}

#[test]
fn repeated_headers_are_skipped_and_counted() {
    let header = "Timestamp,Response,IOType,LUN,Offset,Size\n";
    let text =
        format!("{header}1456095600.1,0.001,R,0,4096,4096\n{header}1456099200.1,0.001,W,0,8192,4096\n");
    let i = info_text(&text);
    assert_eq!((i.requests, i.counts.comments, i.span_ns), (2, 2, 3_600_000_000_000));
    // Another line of words is a bad line.
    assert!(message(&text.replacen("1456099200.1", "later", 1)).contains("line 4"));
}

#[test]
fn waits_of_an_iolog_count_from_its_start() {
    let text = "fio version 2 iolog\n/dev/sda add\n/dev/sda open\n/dev/sda wait 4000 0\n/dev/sda read 0 4096\n\
                /dev/sda wait 6000 0\n/dev/sda read 4096 4096\n/dev/sda close\n";
    let i = info_text(text);
    assert_eq!((i.span_ns, i.time_unit), (2_000_000_000, TimeUnit::Ms));
    assert!(i.note.contains("from the start of the log"), "{}", i.note);
}

#[test]
fn archives_are_named_with_what_to_do() {
    let mut tar = vec![0u8; 512];
    tar[..10].copy_from_slice(b"a.msr.csv\0");
    tar[257..262].copy_from_slice(b"ustar");
    tar.extend(b"128000000000000000,h1,0,Read,8192,4096,100\n".repeat(100));
    for (kind, bytes) in [("a tar archive", tar.clone()), ("a zip archive", b"PK\x03\x04 and so on".to_vec())]
    {
        let said = records(&bytes).unwrap_err().to_string();
        assert!(said.contains(kind) && said.contains("unpack it"), "{said}");
    }
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(&tar).unwrap();
    assert!(records(&gzip.finish().unwrap()).unwrap_err().to_string().contains("a tar archive"));
    // Bytes of value 0 are no header.
    assert!(message("a\0b,c\n128000000000000000,h1,0,Read,8192,4096,100\n").contains("line 1"));
}

#[test]
fn bzip2_and_xz_are_read_and_cut_streams_named() {
    // `1000 0 16 8 1` and `4000 0 32 16 0` in lines, by bzip2 and xz.
    let bzip2 = {
        let mut encoder = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::fast());
        encoder.write_all(SSDSIM.as_bytes()).unwrap();
        encoder.finish().unwrap()
    };
    let i = info_of(reader(&bzip2, &TraceOptions::default()).unwrap()).unwrap();
    assert_eq!((i.compression, i.requests), (Some("bzip2"), 3));
    let i = info_of(reader(XZ, &TraceOptions::default()).unwrap()).unwrap();
    assert_eq!((i.compression, i.requests), (Some("xz"), 3));
    for (kind, whole) in [("bzip2", &bzip2[..]), ("xz", XZ)] {
        let said = records(&whole[..whole.len() / 2]).unwrap_err().to_string();
        assert!(said.contains(kind), "{said}");
    }
}

#[test]
fn blktrace_is_read_in_its_binary_format() {
    let (read, write, flush, discard, notify) = (1 << 16, 1 << 17, 1 << 18, 1 << 29, 1 << 26);
    let all = [
        blktrace(0, 0, 0, notify, b"app"),
        blktrace(50, 16, 4096, read | 1, b""),
        blktrace(100, 16, 4096, read | 7, b""),
        blktrace(200, 32, 512, write | 7, b"payload"),
        blktrace(300, 0, 0, flush | 7, b""),
        blktrace(400, 64, 4096, write | discard | 7, b""),
        blktrace(900, 16, 4096, read | 8, b""),
    ]
    .concat();
    let got: Vec<_> =
        records(&all).unwrap().iter().map(|r| (r.time, r.device, r.offset, r.bytes, r.op)).collect();
    let device = 259 << 20;
    assert_eq!(
        got,
        [
            (0, device, 8192, 4096, Read),
            (100, device, 16_384, 512, Write),
            (200, device, 0, 0, Flush),
            (300, device, 32_768, 4096, Trim)
        ]
    );
    let said = records(&all[..all.len() - 5]).unwrap_err().to_string();
    assert!(said.contains("byte 298") && said.contains("inside a record: 43 of its 48"), "{said}");
    // A flush before a write is a FLUSH, and forced unit access is said.
    let forced = blktrace(100, 16, 4096, write | flush | 1 << 31 | 7, b"");
    let got: Vec<_> = records(&forced).unwrap().iter().map(|r| (r.op, r.bytes, r.fua)).collect();
    assert_eq!(got, [(Flush, 0, false), (Write, 4096, true)]);
    let i = info_of(reader(&forced, &TraceOptions::default()).unwrap()).unwrap();
    assert_eq!((i.counts.lines, i.counts.warnings.len()), (1, 2), "{:?}", i.counts);
    let said = records(&blktrace(900, 16, 4096, read | 8, b"")).unwrap_err().to_string();
    assert!(said.contains("1 completions (C) only"), "{said}");
}

fn columns(text: &str) -> TraceOptions {
    TraceOptions { columns: Some(text.parse().unwrap()), ..TraceOptions::default() }
}

#[test]
fn own_columns_are_read_and_printed_back() {
    let spec = "time=1:us,op=3,offset=4:sectors,size=5,volume=2";
    let text = "t;vol;kind;lba;len\n100,7,R,16,4096\n350,9,write,0,512\n350,9,flush,,\n"
        .replace("t;vol;kind;lba;len", "t,vol,kind,lba,len");
    let rows = |bytes: &str, options: &TraceOptions| -> Vec<_> {
        let all = records_with(bytes.as_bytes(), options).unwrap();
        all.iter().map(|r| (r.time, r.device, r.offset, r.bytes, r.op)).collect()
    };
    let expected = [(0, 7, 8192, 4096, Read), (250_000, 9, 0, 512, Write), (250_000, 9, 0, 0, Flush)];
    assert_eq!(rows(&text, &columns(spec)), expected);
    let printed = spec.parse::<Columns>().unwrap().to_string();
    assert_eq!(printed, "time=1:us,op=3,offset=4:sectors,size=5:bytes,volume=2,delimiter=comma");
    assert_eq!(rows(&text, &columns(&printed)), expected);
    // A file may have a line for each, and comments.
    assert_eq!(rows(&text, &columns(&format!("# mine\n{}\n", printed.replace(',', "\n")))), expected);
    let blanks = columns("time=2:ms,op=1:read0,offset=3:pages,size=4:sectors,delimiter=blanks");
    assert_eq!(
        rows("0  5 1 8\n1 6  2 8\n", &blanks),
        [(0, 0, 4096, 4096, Read), (1_000_000, 0, 8192, 4096, Write)]
    );
    let quoted = columns("time=1:s,op=read,offset=2,size=3,volume=4:name,delimiter=|");
    assert_eq!(
        rows("\"1.5\"|\"0\"|512|a\n2|0|512|b\n2|0|512|a\n", &quoted).iter().map(|r| r.1).collect::<Vec<_>>(),
        [0, 1, 0]
    );
    assert_eq!(info_with(&text, &columns(spec)).format, "columns");
}

#[test]
fn wrong_columns_are_explained() {
    let cases = [
        ("time=1:us,op=3,offset=4", "size=N"),
        ("time=1,op=3,offset=4,size=5", "time=1: allowed is time=N:UNIT"),
        ("time=0:us", "columns count from 1"),
        ("time=1:us,time=2:us", "each field once"),
        ("time=1:us,op=3:odd", "op=N:read1"),
        ("time=1:us,delimiter=x", "semicolon"),
        ("time", "time=N:UNIT"),
    ];
    for (text, part) in cases {
        let said = text.parse::<Columns>().unwrap_err().to_string();
        assert!(said.contains(part), "{text}: {said}");
    }
    let said = |line: &str| {
        let options = columns("time=1:us,op=2,offset=3,size=4");
        records_with(format!("1,R,0,512\n{line}\n").as_bytes(), &options).unwrap_err().to_string()
    };
    for (line, part) in [
        ("2,1,0,512", "op is \"1\"; allowed is a word such as R"),
        ("2,R,0", "field size is missing"),
        ("x,R,0,512", "time is \"x\""),
        ("2,R,-1,512", "negative"),
    ] {
        let said = said(line);
        assert!(said.contains("line 2") && said.contains(part), "{line}: {said}");
    }
}

/// Requests of 4 KiB, eight in each second.
fn coarse() -> String {
    (0..240).map(|i| format!("{},{},8,0,1\n", 1_600_000_000 + i / 8, i * 64)).collect()
}

#[test]
fn the_step_of_a_coarse_clock_is_found_and_spread() {
    let i = info_text(&coarse());
    assert_eq!((i.clock_step_ns, i.requests_per_time), (Some(1_000_000_000), 8.0));
    assert_eq!(i.counts.warnings.len(), 1, "{:?}", i.counts.warnings);
    assert!(
        i.counts.warnings[0].contains("step is 1 s") && i.counts.warnings[0].contains("--spread 1s spreads"),
        "{i:?}"
    );
    let spread = |seed| TraceOptions { spread_ns: Some(1_000_000_000), seed, ..TraceOptions::default() };
    let times = |seed| -> Vec<u64> {
        records_with(coarse().as_bytes(), &spread(seed)).unwrap().iter().map(|r| r.time).collect()
    };
    let all = times(1);
    assert_eq!(all.len(), 240);
    for (n, time) in (0u64..).zip(&all) {
        // Each has an eighth of its second for itself.
        assert_eq!(time / 125_000_000, n, "{time}");
    }
    assert!(all == times(1) && all != times(2));
    let i = info_with(&coarse(), &spread(1));
    assert!(i.counts.warnings.is_empty() && i.requests == 240, "{i:?}");
    // A fine clock, and a coarse one with a request at a time, are no problem.
    let fine: String = (0..240)
        .map(|i| format!("1,R,{},4096,{}\n", i * 32_768, 1_600_000_000_000_000u64 + i * 125_001))
        .collect();
    assert!(info_text(&fine).counts.warnings.is_empty());
    let alone: String = (0..240).map(|i| format!("{},0,8,0,1\n", 1_600_000_000 + i)).collect();
    assert!(info_text(&alone).counts.warnings.is_empty());
    let bad = TraceOptions { spread_ns: Some(0), ..TraceOptions::default() };
    assert!(records_with(coarse().as_bytes(), &bad).unwrap_err().to_string().contains("spread = 0 ns"));
}

#[test]
fn files_follow_each_other_each_with_its_own_compression() {
    let dir = tempfile::tempdir().unwrap();
    let write = |name: &str, bytes: &[u8]| {
        let path = dir.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        TraceFile::from(path)
    };
    let first = write("1.csv", b"7,R,8192,4096,1500000000000000");
    let second = write("2.csv.zst", &zstd::encode_all(&b"9,W,0,512,1500000000000250\n"[..], 1).unwrap());
    let both = TraceFile::Several(vec![first, second]);
    let i = info(both.clone(), &TraceOptions::default()).unwrap();
    assert_eq!((i.reads, i.writes, i.span_ns, i.devices), (1, 1, 250_000, 2));
    assert!(both.name().contains("1.csv + ") && both.name().ends_with("2.csv.zst"), "{}", both.name());
    let gone = TraceFile::Several(vec![
        write("3.csv", b"7,R,8192,4096,15\n"),
        TraceFile::from("/nonexistent/4.csv"),
    ]);
    let said = info(gone, &TraceOptions::default()).unwrap_err().to_string();
    assert!(said.contains("4.csv"), "{said}");
}
