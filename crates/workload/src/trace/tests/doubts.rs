//! Are defects of a trace reported: a cut end, a clock that jumped, lost events? And is
//! input that only looks unusual read correctly?

use super::samples::*;
use crate::Interrupt;
use crate::trace::{TraceError, TraceOptions, TraceReader, info_of};
use std::io::{Cursor, Write as _};
use std::time::{Duration, Instant};

/// The number of records, and the warnings.
fn read(bytes: &[u8], options: &TraceOptions) -> Result<(usize, Vec<String>), TraceError> {
    let mut reader = reader(bytes, options)?;
    let mut records = 0;
    while reader.next_record()?.is_some() {
        records += 1;
    }
    Ok((records, reader.counts().warnings.clone()))
}

fn warnings(text: &str) -> Vec<String> {
    read(text.as_bytes(), &TraceOptions::default()).unwrap().1
}

/// Every text format with a request as its last line.
fn ending_in_a_request() -> Vec<(&'static str, String)> {
    let mut texts: Vec<(&str, String)> = TEXTS
        .iter()
        .map(|(name, text)| match *name {
            // The summary and the closing of files are not requests.
            "blkparse" => (
                *name,
                text.lines()
                    .filter(|l| l.contains(" Q ") || l.contains(" D "))
                    .collect::<Vec<_>>()
                    .join("\n"),
            ),
            "fio-iolog" => {
                let lines: Vec<&str> = text.lines().collect();
                let last = lines.iter().rposition(|l| l.contains("write")).unwrap();
                (*name, lines[..=last].join("\n"))
            }
            _ => (*name, text.trim_end().to_string()),
        })
        .collect();
    texts.push(("fio-iolog", IOLOG2.trim_end().to_string()));
    texts
}

#[test]
fn a_last_line_without_a_line_break_names_the_field_that_may_be_cut() {
    let fields = [
        ("msr", Some("response")),
        ("ssdsim", None),
        ("disksim", Some("flags")),
        ("heimdall", None),
        ("spc", Some("timestamp")),
        ("alicloud", Some("timestamp")),
        ("tencent", Some("volumeID")),
        ("systor", Some("size")),
        // A hash of 32 digits and a `]` end the line.
        ("fiu", None),
        ("blkparse", None),
        ("fio-iolog", Some("length")),
        ("fio-iolog", Some("length")),
        ("fio-iolog", None),
    ];
    for ((name, text), (same, field)) in ending_in_a_request().iter().zip(fields) {
        assert_eq!(*name, same);
        let said = warnings(text);
        assert_eq!(said.len(), usize::from(field.is_some()), "{name}: {said:?}");
        let line = format!("line {}: the file ends without a line break", text.lines().count());
        for field in field.into_iter() {
            assert!(said[0].contains(&line) && said[0].contains(field), "{name}: {said:?}");
        }
        // With a line break there is no warning.
        assert_eq!(warnings(&format!("{text}\n")), [""; 0], "{name}");
    }
}

#[test]
fn a_text_cut_anywhere_in_its_last_line_is_named() {
    for (name, text) in ending_in_a_request() {
        let start = text.rfind('\n').unwrap() + 1;
        let start = start + text[start..].find(|c: char| !c.is_whitespace()).unwrap();
        for end in start + 1..text.len() {
            let given = TraceOptions { format: Some(name.into()), ..TraceOptions::default() };
            let cut = &text[..end];
            let said = match read(cut.as_bytes(), &given) {
                Ok((_, said)) => said.join("; "),
                Err(error) => error.to_string(),
            };
            let line = format!("line {}", text.lines().count());
            assert!(
                said.contains(&line) && (said.contains("truncated") || said.contains("too short")),
                "{name}: {:?} after {said:?}",
                &cut[start..]
            );
        }
    }
}

#[test]
fn a_text_that_was_cut_before_it_was_compressed_is_named_too() {
    let cut = &ALICLOUD[..ALICLOUD.len() - 2];
    let zstd = zstd::encode_all(cut.as_bytes(), 1).unwrap();
    let said = match read(&zstd, &TraceOptions::default()) {
        Ok((_, said)) => said.join("; "),
        Err(error) => error.to_string(),
    };
    assert!(said.contains("line 2") && said.contains("too short"), "{said}");
}

#[test]
fn a_binary_trace_cut_inside_a_record_is_named() {
    for (size, whole) in [(32, vscsi(1)), (40, vscsi(2)), (24, oracle())] {
        let format = if size == 24 { "oracle-general" } else { "vscsi" };
        let given = TraceOptions { format: Some(format.into()), ..TraceOptions::default() };
        for end in (size + 1..whole.len()).filter(|end| end % size != 0) {
            let error = read(&whole[..end], &given).unwrap_err().to_string();
            let expected = format!(
                "byte {}: the file ends inside a record: {} of its {size}",
                end / size * size,
                end % size
            );
            assert!(error.contains(&expected), "{error}");
        }
    }
}

#[test]
fn every_text_format_reads_with_every_line_end() {
    for (name, text) in TEXTS {
        let expected = read(text.as_bytes(), &TraceOptions::default()).unwrap();
        for line_end in ["\r", "\r\n"] {
            let other = text.replace('\n', line_end);
            assert_eq!(
                records(other.as_bytes()).unwrap(),
                records(text.as_bytes()).unwrap(),
                "{name} {line_end:?}"
            );
            assert_eq!(
                read(other.as_bytes(), &TraceOptions::default()).unwrap(),
                expected,
                "{name} {line_end:?}"
            );
        }
    }
    // A bad line keeps its number, and line ends may be mixed.
    let error = records(b"1 0 16 8 1\r2 0 16 8 1\r\n3 0 16 8 1\nspoiled line\r").unwrap_err().to_string();
    assert!(error.contains("line 4"), "{error}");
}

#[test]
fn line_ends_across_the_buffer_are_one_line_end() {
    for (line_end, width) in [("\r\n", 0), ("\r\n", 1), ("\r\n", 2), ("\r", 0), ("\n", 3)] {
        let pad = " ".repeat(width);
        let text: String =
            (0..60_000).map(|i| format!("{pad}{} 0 {i:07} 8 1{line_end}", 1_000_000 + i)).collect();
        assert!(text.len() > 4 * 256 * 1024);
        let mut traced = reader(text.as_bytes(), &TraceOptions::default()).unwrap();
        while traced.next_record().unwrap().is_some() {}
        let counts = traced.counts();
        assert_eq!((counts.lines, counts.blank, counts.requests), (60_000, 0, 60_000), "{line_end:?}");
    }
}

#[test]
fn far_more_queued_than_issued_events_are_a_truncated_file() {
    let event = |i: usize, kind: &str| format!("8,16 0 {i} {i}.5 11 {kind} R {} + 8 [app]\n", i * 8);
    let text = |queued: usize, merged: usize, issued: usize| -> String {
        let kinds = [("D", issued), ("Q", queued), ("M", merged)];
        let events = kinds.iter().flat_map(|(kind, n)| std::iter::repeat_n(*kind, *n));
        events.enumerate().map(|(i, kind)| event(i, kind)).collect()
    };
    let said = warnings(&text(100, 0, 10));
    assert_eq!(said.len(), 1, "{said:?}");
    for part in ["100 requests", "only 10 were issued", "truncated"] {
        assert!(said[0].contains(part), "{said:?}");
    }
    // Some requests outstanding, a volume on top of a disk, merged requests.
    for (queued, merged, issued) in [(30, 0, 20), (100, 0, 50), (1000, 950, 40), (20, 0, 20)] {
        assert_eq!(warnings(&text(queued, merged, issued)), [""; 0], "{queued} {merged} {issued}");
    }
}

fn at_seconds(times: &[u64]) -> String {
    times.iter().map(|t| format!("0,{},4096,r,{t}.000000\n", t * 8)).collect()
}

#[test]
fn a_clock_that_jumps_is_named_and_can_be_cut() {
    let skip = TraceOptions { skip_gaps_ns: Some(10_000_000_000), ..TraceOptions::default() };
    let spans = |text: &str, options: &TraceOptions| -> Vec<u64> {
        records_with(text.as_bytes(), options).unwrap().iter().map(|r| r.time / 1_000_000_000).collect()
    };
    // The first record of a blkparse file often has such a time, or the last.
    let early = at_seconds(&[0, 13_000, 13_001, 13_002]);
    let said = warnings(&early);
    assert!(
        said.len() == 1 && said[0].starts_with("line 2: 13000 s after") && said[0].contains("line 1"),
        "{said:?}"
    );
    assert!(said[0].contains("--skip-gaps"), "{said:?}");
    assert_eq!(spans(&early, &skip), [0, 10, 11, 12]);
    let late = at_seconds(&[100, 101, 102, 9_999_999]);
    assert!(warnings(&late)[0].starts_with("line 4"), "{:?}", warnings(&late));
    assert_eq!(spans(&late, &skip), [0, 1, 2, 12]);
    // In the middle of the file it is an error, which names both lines and the remedy.
    let amid = at_seconds(&[100, 101, 9_999_999, 102, 103]);
    let error = records(amid.as_bytes()).unwrap_err().to_string();
    assert!(error.contains("line 4: time jumps back") && error.contains("behind line 3"), "{error}");
    assert!(error.contains("--skip-gaps"), "{error}");
    assert_eq!(spans(&amid, &skip), [0, 1, 11, 11, 12]);
    let mut reader = reader(amid.as_bytes(), &skip).unwrap();
    while reader.next_record().unwrap().is_some() {}
    let counts = reader.counts();
    assert_eq!((counts.gaps_cut, counts.jumps_back_cut), (1, 1));
    assert_eq!(counts.gaps_cut_ns, (9_999_999 - 101 - 10) * 1_000_000_000);
    assert_eq!(counts.warnings, [""; 0]);
    // An evenly spaced trace is unchanged and gives no warning.
    let even = at_seconds(&[5, 6, 7, 17, 18]);
    assert_eq!((spans(&even, &skip), warnings(&even)), (vec![0, 1, 2, 12, 13], vec![]));
}

#[test]
fn a_jump_is_found_in_every_format_that_has_times() {
    let compact = super::convert::compact(at_seconds(&[0, 13_000, 13_001, 13_002]).as_bytes());
    let (_, said) = read(&compact, &TraceOptions::default()).unwrap();
    assert!(said.len() == 1 && said[0].starts_with("byte 88: "), "{said:?}");
    let vscsi: Vec<u8> = [0u64, 40_000_000_000, 40_000_000_001, 40_000_000_002]
        .iter()
        .flat_map(|us| {
            let mut record = vscsi(1)[..32].to_vec();
            record[24..].copy_from_slice(&us.to_le_bytes());
            record
        })
        .collect();
    let (_, said) = read(&vscsi, &TraceOptions::default()).unwrap();
    assert!(said.len() == 1 && said[0].starts_with("byte 32: "), "{said:?}");
}

/// How reading these bytes ends and after what time, if it is asked to stop after 50 ms.
fn stopped(bytes: Vec<u8>) -> (TraceError, Duration) {
    let options = TraceOptions::default();
    let interrupt: Interrupt = options.interrupt.clone();
    let asker = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(50));
        interrupt.raise();
        Instant::now()
    });
    let error = match TraceReader::new("bomb", Box::new(Cursor::new(bytes)), &options) {
        Err(error) => error,
        Ok(mut reader) => loop {
            match reader.next_record() {
                Ok(record) => assert!(record.is_some(), "it was read to its end in 50 ms"),
                Err(error) => break error,
            }
        },
    };
    let ended = Instant::now();
    (error, ended.saturating_duration_since(asker.join().unwrap()))
}

#[test]
fn reading_is_given_up_soon_after_it_was_asked() {
    // Little input without a record for minutes: 128 MiB of blank lines a frame, and empty
    // frames.
    let blank = zstd::encode_all(&vec![b'\n'; 128 << 20][..], 1).unwrap().repeat(400);
    let blank = [zstd::encode_all(SSDSIM.as_bytes(), 1).unwrap(), blank].concat();
    let gzip = |text: &str| {
        let mut member = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        member.write_all(text.as_bytes()).unwrap();
        member.finish().unwrap()
    };
    let empty = [gzip(SSDSIM), gzip("").repeat(3_000_000)].concat();
    for bytes in [blank, empty] {
        let (error, late) = stopped(bytes);
        assert!(matches!(error, TraceError::Interrupted { .. }), "{error}");
        assert!(late < Duration::from_secs(1), "{late:?}");
    }
}

#[test]
fn measuring_is_given_up_too() {
    // Each request touches a million pages, so the footprint soon has to be estimated.
    let lines = (0..60_000u64).map(|i| format!("{i} 0 {} 8388600 1\n", (i * 7919 % 60_000) << 24));
    let options = TraceOptions::default();
    let interrupt = options.interrupt.clone();
    let reader = reader(lines.collect::<String>().as_bytes(), &options).unwrap();
    let asker = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(200));
        interrupt.raise();
        Instant::now()
    });
    let error = info_of(reader).unwrap_err();
    let ended = Instant::now();
    assert!(matches!(error, TraceError::Interrupted { .. }), "{error}");
    assert!(ended.saturating_duration_since(asker.join().unwrap()) < Duration::from_secs(1));
}
