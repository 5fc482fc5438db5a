//! Does a bad trace give an error with the place and the allowed values?

use super::samples::*;
use crate::trace::{TraceError, TraceOptions};
use std::io::Write as _;

fn message(bytes: &[u8], format: Option<&str>) -> String {
    let options = TraceOptions { format: format.map(Into::into), ..TraceOptions::default() };
    match records_with(bytes, &options) {
        Ok(records) => panic!("taken as {} records", records.len()),
        Err(error) => error.to_string(),
    }
}

fn check(format: &str, text: &str, expected: &[&str]) {
    let message = message(text.as_bytes(), Some(format));
    for part in expected {
        assert!(message.contains(part), "{text:?}: {message:?} lacks {part:?}");
    }
}

#[test]
fn bad_lines_are_named() {
    let good = "1 0 16 8 1\n";
    for (line, expected) in [
        ("5 0 16 8\n", &["line 2", "field op is missing", "lba (512 B)"][..]),
        ("5 0 -16 8 1\n", &["line 2", "lba is \"-16\"", "negative"]),
        ("5 0 x 8 1\n", &["line 2", "lba is \"x\"", "decimal number"]),
        ("5 0 16 0 1\n", &["line 2", "size is 0", "1 to 4294967295"]),
        ("5 0 16 8 7\n", &["line 2", "op is \"7\"", "1 (read) or 0 (write)"]),
        ("99999999999999999999 0 16 8 1\n", &["line 2", "time", "too large"]),
        ("5 4294967296 16 8 1\n", &["line 2", "device", "at most 4294967295"]),
        ("5 0 18446744073709551615 8 1\n", &["line 2", "lba", "too large"]),
        ("5 0 18014398509481983 8 1\n", &["line 2", "offset", "too large"]),
        ("5 0 16 8388608 1\n", &["line 2", "size in bytes", "4294967295"]),
        ("5 0 16", &["line 2", "missing", "truncated"]),
        ("\u{0}\u{1}\u{ff}\n", &["line 2", "decimal number"]),
    ] {
        check("ssdsim", &format!("{good}{line}"), expected);
    }
    check("msr", "1,h,0,Read,-1,512,1\n", &["line 1", "offset", "negative"]);
    check("msr", "1,h,0,Erase,1,512,1\n", &["line 1", "\"Erase\"", "Read or Write"]);
    check("spc", "0,1,512,x,0.0\n", &["line 1", "opcode", "r or w"]);
    check("systor", "1.0,0.0,R,0,nan,512\n", &["line 1", "offset", "\"nan\""]);
    check("fiu", "1 2 sh 16 8 X 8 1 00\n", &["line 1", "operation", "R or W"]);
    check("tencent", "1,16,8,2,44\n", &["line 1", "ioType", "0 (read) or 1 (write)"]);
    check("blkparse", "8,0 0 1 0.0 1 D R 16 - 8 [a]\n", &["line 1", "separator"]);
    check("fio-iolog", "fio version 4 iolog\n", &["line 1", "fio version 2 iolog or fio version 3 iolog"]);
    check("fio-iolog", "fio version 3 iolog\n1 f jump 0 1\n", &["line 2", "\"jump\"", "datasync"]);
    check("alicloud", "0,R,0,512,5\n0,R,0,512,99999999999999999\n", &["line 2", "timestamp", "too large"]);
    check("disksim", "1.0 0 1 1 1\n1e400 0 1 1 1\n", &["line 2", "time", "too large"]);
}

#[test]
fn a_line_without_end_is_refused() {
    let mut text = b"1 0 16 8 1\n".to_vec();
    text.extend(std::iter::repeat_n(b'7', 3 << 20));
    assert!(message(&text, Some("ssdsim")).contains("line 2: the line is longer than 65536 bytes"));
    assert!(message(&vec![b'x'; 1 << 20], None).contains("no known trace format"));
}

#[test]
fn empty_and_foreign_files_are_told_apart() {
    assert!(message(b"", None).contains("empty"));
    assert!(message(b"", Some("msr")).contains("empty"));
    assert!(message(b"# only a comment\n", None).contains("no known trace format"));
    assert!(message(b"# only a comment\n\n", Some("msr")).contains("no request in it: 2 lines"));
    let noise: Vec<u8> = (0..5000u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
    let text = message(&noise, None);
    assert!(text.contains("byte 0") && text.contains("blkparse") && text.contains("--format"), "{text}");
    let none = TraceOptions { format: Some("csv".into()), ..TraceOptions::default() };
    let text = records_with(b"1 0 1 1 1\n", &none).unwrap_err().to_string();
    assert!(text.contains("format = csv") && text.contains("heimdall"), "{text}");
}

#[test]
fn cut_binary_records_name_their_byte() {
    let cut = vscsi(1);
    assert!(message(&cut[..40], None).contains("byte 32: the file ends inside a record: 8 of its 32 bytes"));
    let cut = oracle();
    assert!(message(&cut[..60], None).contains("byte 48: the file ends inside a record: 12 of its 24 bytes"));
}

#[test]
fn cut_and_damaged_compressed_streams_are_told_apart() {
    let plain: String = (0..5000).map(|i| format!("{} 0 {} 8 1\n", i * 1000, i * 7919 % 100_000)).collect();
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(plain.as_bytes()).unwrap();
    let gzip = gzip.finish().unwrap();
    let zstd = zstd::encode_all(plain.as_bytes(), 1).unwrap();
    for (kind, whole) in [("gzip", gzip), ("zstd", zstd)] {
        for cut in [whole.len() - 1, whole.len() / 2, 20] {
            let error = records(&whole[..cut]).unwrap_err();
            assert!(matches!(error, TraceError::Truncated { .. }), "{kind} {cut}: {error}");
            assert!(error.to_string().contains(&format!("the {kind} stream is truncated")), "{error}");
        }
        let mut bent = whole.clone();
        bent[whole.len() / 2] ^= 0x55;
        bent[whole.len() / 2 + 1] ^= 0x55;
        assert!(records(&bent).is_err(), "{kind}");
        // Longer and shorter than the header of a stream.
        for garbage in [&b"tail that is no stream"[..], b"tail", b"t", b"\0"] {
            let error = records(&[&whole, garbage].concat()).unwrap_err();
            if kind == "gzip" {
                assert!(matches!(error, TraceError::TrailingGarbage { .. }), "{garbage:?}: {error}");
                let at = format!("trailing garbage: the gzip stream ends after {} decompressed", plain.len());
                assert!(error.to_string().contains(&at), "{error}");
            }
        }
        // A file may hold several streams; the second one may be cut.
        let twice = records(&[&whole[..], &whole].concat());
        assert!(twice.is_ok() || matches!(twice, Err(TraceError::OutOfOrder { .. })), "{kind}: {twice:?}");
        let error = records(&[&whole, &whole[..9]].concat()).unwrap_err();
        assert!(matches!(error, TraceError::Truncated { .. }), "{kind}: {error}");
    }
}

#[test]
fn a_byte_order_mark_is_skipped() {
    let plain =
        format!("timestamp,offset\n{}", "128166372003061629,hm,1,Read,383496192,32768,413\n".repeat(3));
    for text in [MSR, SSDSIM, &plain[17..]] {
        let marked = [b"\xef\xbb\xbf", text.as_bytes()].concat();
        assert_eq!(records(&marked).unwrap(), records(text.as_bytes()).unwrap(), "{text}");
        // The byte order mark does not change the line numbers.
        let spoiled = [&marked[..], b"spoiled\n"].concat();
        let line = format!("line {}", text.lines().count() + 1);
        assert!(message(&spoiled, None).contains(&line), "{}", message(&spoiled, None));
    }
    let given = TraceOptions { format: Some("ssdsim".into()), ..TraceOptions::default() };
    let marked = [b"\xef\xbb\xbf", SSDSIM.as_bytes()].concat();
    assert_eq!(records_with(&marked, &given).unwrap(), records(SSDSIM.as_bytes()).unwrap());
    assert!(message(b"\xef\xbb\xbf", None).contains("no known trace format"));
}

#[test]
fn options_out_of_bounds_are_refused() {
    let base = TraceOptions::default();
    for (options, expected) in [
        (TraceOptions { rate_scale: 0.0, ..base.clone() }, "rate_scale = 0"),
        (TraceOptions { rate_scale: f64::NAN, ..base.clone() }, "rate_scale = NaN"),
        (TraceOptions { size_scale: -1.0, ..base.clone() }, "size_scale = -1"),
        (TraceOptions { loop_count: 0, ..base.clone() }, "loop = 0"),
        (TraceOptions { limit: Some(0), ..base.clone() }, "limit = 0"),
        (TraceOptions { start_ns: 5, end_ns: Some(5), ..base.clone() }, "end_ns = 5"),
        (TraceOptions { sort_records: 0, ..base.clone() }, "sort_records = 0"),
    ] {
        let text = records_with(SSDSIM.as_bytes(), &options).unwrap_err().to_string();
        assert!(text.contains(expected) && text.contains("allowed is"), "{text}");
    }
    let text = source(SSDSIM.as_bytes(), &base, 4095).err().unwrap().to_string();
    assert!(text.contains("capacity = 4095"), "{text}");
}
