//! Does the compact form hold the records that were read, and appear complete or not at
//! all?

use super::samples::*;
use crate::trace::{TraceError, TraceOptions, convert, info};
use std::fs;
use tempfile::tempdir;

/// A trace in the compact form.
pub fn compact(bytes: &[u8]) -> Vec<u8> {
    let dir = tempdir().unwrap();
    let (from, to) = (dir.path().join("in"), dir.path().join("out"));
    fs::write(&from, bytes).unwrap();
    convert(&from, &to, &TraceOptions::default()).unwrap();
    fs::read(&to).unwrap()
}

#[test]
fn the_compact_form_reads_back_the_same_records() {
    for (name, bytes) in all() {
        let compact = compact(&bytes);
        assert_eq!(records(&compact).unwrap(), records(&bytes).unwrap(), "{name}");
    }
}

#[test]
fn a_cut_is_a_compact_trace_of_the_part() {
    let dir = tempdir().unwrap();
    let (from, to) = (dir.path().join("in.csv"), dir.path().join("out.tcut"));
    fs::write(&from, MSR).unwrap();
    let options = TraceOptions { limit: Some(2), ..TraceOptions::default() };
    let converted = convert(&from, &to, &options).unwrap();
    assert_eq!((converted.requests, converted.span_ns, converted.format), (2, 2500, "msr"));
    assert_eq!(converted.bytes, fs::metadata(&to).unwrap().len());
    let measured = info(&to, &TraceOptions::default()).unwrap();
    assert_eq!((measured.format, measured.requests, measured.write_bytes), ("compact", 2, 8192));
    // In place: the trace may be replaced by its own compact form.
    convert(&to, &to, &TraceOptions { limit: Some(1), ..TraceOptions::default() }).unwrap();
    assert_eq!(info(&to, &TraceOptions::default()).unwrap().requests, 1);
}

#[test]
fn a_failed_conversion_leaves_nothing_behind() {
    let dir = tempdir().unwrap();
    let (from, to) = (dir.path().join("in"), dir.path().join("out"));
    fs::write(&from, format!("{SSDSIM}broken\n")).unwrap();
    fs::write(&to, "kept").unwrap();
    assert!(matches!(convert(&from, &to, &TraceOptions::default()), Err(TraceError::Record { .. })));
    assert_eq!(fs::read_to_string(&to).unwrap(), "kept");
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 2);
    let nowhere = dir.path().join("missing").join("out");
    assert!(matches!(
        convert(&from, &nowhere, &TraceOptions::default()),
        Err(TraceError::Io { action: "create", .. })
    ));
}

#[test]
fn any_single_flipped_bit_of_a_compact_trace_is_noticed() {
    let whole = compact(SSDSIM.as_bytes());
    for at in 0..whole.len() * 8 {
        let mut bent = whole.clone();
        bent[at / 8] ^= 1 << (at % 8);
        assert!(records(&bent).is_err(), "bit {at}");
    }
    for length in 1..whole.len() {
        assert!(records(&whole[..length]).is_err(), "cut to {length}");
    }
    let mut long = whole.clone();
    long.push(0);
    let message = records(&long).unwrap_err().to_string();
    assert!(message.contains("byte 136: bytes follow the 3 records"), "{message}");
    let message = records(&whole[..100]).unwrap_err().to_string();
    assert!(message.contains("announces 3 records, the file ends after 1"), "{message}");
}
