//! Tests that other tools can read the files of a run and that their figures add up.

mod common;

use hdrhistogram::Histogram;
use hdrhistogram::serialization::Deserializer;
use hdrhistogram::serialization::interval_log::{IntervalLogIterator, LogEntry};
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::{Field, Row};
use std::io::Write;
use tailcut_report::parquet::{RequestsWriter, SeriesWriter};
use tailcut_report::{hlog, slowest};
use tailcut_stats::{Gauges, Recorder, RecorderOptions};
use tailcut_units::{Cause, HostOp, SimTime, Span};

#[test]
fn the_latency_log_reads_back_as_recorded() {
    let (_, measured) = common::scheme("t-es", 20_000, 1);
    let mut text = Vec::new();
    hlog::write(&mut text, &[("t-es", &measured), ("es", &measured)]).unwrap();
    let mut seen = Vec::new();
    for entry in IntervalLogIterator::new(&text) {
        let LogEntry::Interval(interval) = entry.unwrap() else {
            continue;
        };
        let encoded = interval.encoded_histogram();
        let bytes = base64_decode(encoded);
        let histogram: Histogram<u64> = Deserializer::new().deserialize(&mut &bytes[..]).unwrap();
        seen.push((interval.tag().unwrap().as_str().to_string(), histogram));
    }
    // Both jobs read, write and flush.
    let ops = [HostOp::Read, HostOp::Write, HostOp::Flush];
    assert_eq!(seen.len(), 2 * 2 * ops.len());
    for (i, job) in ["serve", "load_data__nightly"].iter().enumerate() {
        for (op, (tag, histogram)) in ops.into_iter().zip(&seen[i * ops.len()..]) {
            assert_eq!(*tag, format!("t-es/{job}/{}", op.name()));
            assert_eq!(histogram, measured.jobs[i].of(op).histogram());
        }
    }
}

/// Decodes standard base64, which spares a dependency for one test.
fn base64_decode(text: &str) -> Vec<u8> {
    let digit = |c: u8| match c {
        b'A'..=b'Z' => u32::from(c - b'A'),
        b'a'..=b'z' => u32::from(c - b'a') + 26,
        b'0'..=b'9' => u32::from(c - b'0') + 52,
        b'+' => 62,
        b'/' => 63,
        _ => panic!("not base64: {c}"),
    };
    let mut out = Vec::new();
    for four in text.trim_end_matches('=').as_bytes().chunks(4) {
        let bits = four.iter().fold(0, |bits, &c| bits << 6 | digit(c)) << (6 * (4 - four.len()));
        out.extend_from_slice(&bits.to_be_bytes()[1..four.len()]);
    }
    out
}

fn rows(file: Vec<u8>) -> (usize, Vec<Row>) {
    let mut on_disk = tempfile::tempfile().unwrap();
    on_disk.write_all(&file).unwrap();
    let reader = SerializedFileReader::new(on_disk).unwrap();
    (reader.num_row_groups(), reader.get_row_iter(None).unwrap().map(Result::unwrap).collect())
}

fn number(row: &Row, name: &str) -> u64 {
    match row.get_column_iter().find(|(n, _)| *n == name) {
        Some((_, Field::ULong(n))) => *n,
        other => panic!("{name}: {other:?}"),
    }
}

#[test]
fn every_row_of_the_requests_adds_up() {
    let mut writer = RequestsWriter::new(Vec::new(), "t-es", &common::JOBS.map(String::from)).unwrap();
    let mut said = Vec::new();
    common::play(70_000, 1, |s| {
        writer.push(s).unwrap();
        said.push((s.index, s.completed.0, s.latency_ns(), s.bytes, s.ledger.get(Cause::ARRAY)));
    });
    let (groups, rows) = rows(writer.finish().unwrap());
    assert_eq!((groups, rows.len()), (2, said.len()));
    for (row, said) in rows.iter().zip(said) {
        let sum: u64 = Cause::all().map(|cause| number(row, &cause.name())).sum();
        assert_eq!(sum, number(row, "latency_ns"));
        assert_eq!(number(row, "completed_ns") - number(row, "arrived_ns"), sum);
        let got = (
            number(row, "index"),
            number(row, "completed_ns"),
            number(row, "latency_ns"),
            number(row, "bytes") as u32,
            number(row, "array"),
        );
        assert_eq!(got, said);
    }
    let text = |name: &str| rows[999].get_column_iter().find(|(n, _)| *n == name).unwrap().1.to_string();
    assert_eq!(text("op"), "\"flush\"");
    assert!(common::JOBS.iter().any(|job| text("job").contains(job)));
}

#[test]
fn the_series_file_has_a_row_an_interval_and_nulls_where_nobody_looked() {
    let fine = Some(Span(1_000));
    let options = RecorderOptions { fine, ..RecorderOptions::default() };
    let mut recorder = Recorder::new(&["a".to_string()], options);
    let gauges = Gauges { free_blocks: 9, buffer_fill: 0.25, user_limit: Some(0.5), ..Gauges::default() };
    recorder.gauge(SimTime(10), &gauges);
    recorder.groups(2, 1, [500, 0].into_iter());
    recorder.groups(1, 0, [1_000, 250].into_iter());
    let ledger = tailcut_units::Ledger::new();
    recorder.record(&tailcut_stats::Sample {
        index: 0,
        job: 0,
        op: HostOp::Read,
        offset: 0,
        bytes: 1,
        arrived: SimTime(5_500),
        completed: SimTime(5_500),
        status: tailcut_units::Status::Ok,
        ledger: &ledger,
    });
    let mut writer = SeriesWriter::new(Vec::new(), "t-es").unwrap();
    recorder.finish(SimTime(6_000), |i| writer.push(i).unwrap());
    let (_, rows) = rows(writer.finish().unwrap());
    let column = |row: &Row, name: &str| {
        row.get_column_iter().find(|(n, _)| *n == name).map(|(_, field)| field.clone()).unwrap()
    };
    assert_eq!(rows.len(), 2);
    assert_eq!(column(&rows[0], "free_blocks"), Field::ULong(9));
    assert_eq!(column(&rows[0], "buffer_fill"), Field::Double(0.25));
    assert_eq!(column(&rows[1], "buffer_fill"), Field::Null);
    assert_eq!(column(&rows[0], "user_limit"), Field::Double(0.5));
    assert_eq!((number(&rows[0], "most_in_group"), number(&rows[0], "groups_collecting")), (2, 0));
    let Field::ListInternal(planes) = column(&rows[0], "planes_collecting") else { panic!("not a list") };
    assert_eq!(planes.elements(), [Field::Double(1.5), Field::Double(0.25)]);
    for name in ["most_in_group", "groups_collecting", "planes_collecting"] {
        assert_eq!(column(&rows[1], name), Field::Null, "{name}");
    }
    assert_eq!((number(&rows[1], "at_ns"), number(&rows[1], "read_requests")), (5_000, 1));
}

#[test]
fn the_slowest_requests_read_back_and_add_up() {
    let (scheme, measured) = common::scheme("t-es", 20_000, 1);
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join(slowest::FILE);
    slowest::write(std::fs::File::create(&path).unwrap(), "t-es", &measured).unwrap();
    let lines = slowest::read(&path, &|| false).unwrap();
    let failed = lines.iter().filter(|line| line.status.is_some()).count();
    assert_eq!(failed, measured.sides.iter().map(|side| side.failed.len()).sum::<usize>());
    let flushes = measured.side(HostOp::Flush).slowest.len();
    assert!(
        failed > 0 && flushes > 0 && lines.len() == 2 * 4096 + flushes + failed,
        "{failed} of {}",
        lines.len()
    );
    assert_eq!(lines[0].latency_ns, scheme.read.lat_ns.max);
    for (line, request) in lines.iter().zip(&measured.side(HostOp::Read).slowest) {
        assert_eq!(line.causes.iter().map(|(_, ns)| ns).sum::<u64>(), line.latency_ns);
        assert_eq!(line.ledger(), request.ledger);
    }
    std::fs::write(&path, "{}\n").unwrap();
    assert!(slowest::read(&path, &|| false).unwrap_err().to_string().contains("line 1"));
    assert!(slowest::read(&path, &|| true).unwrap_err().to_string().contains("interrupted"));
}
