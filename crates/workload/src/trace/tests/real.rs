//! Do the measures of real traces agree with those found by other means?

use crate::trace::{TimeUnit, TraceOptions, TraceSource, info};
use tailcut_testkit::traces;

struct Expected {
    file: &'static str,
    format: &'static str,
    unit: TimeUnit,
    devices: u64,
    requests: u64,
    read_percent: f64,
    mean_kib: f64,
    footprint_mib: u64,
    span_s: f64,
    reordered: bool,
}

#[rustfmt::skip]
fn table() -> Vec<Expected> {
    use TimeUnit::{Ms, Ns, S, Tick, Us};
    let row = |file, format, unit, devices, requests, read_percent, mean_kib, footprint_mib, span_s, reordered| Expected {
        file, format, unit, devices, requests, read_percent, mean_kib, footprint_mib, span_s, reordered,
    };
    vec![
        row("dtrs.ssdsim.gz",              "ssdsim",   Us,    1, 127_043,  89.0,  55.3, 4_970,  300.0,  false),
        row("cloudphysics-vm.vscsi.gz",    "vscsi",    Us,    1, 113_872,  41.0,  36.1, 1_052, 7200.0,  false),
        row("tpcc-small.mqsim.gz",         "ssdsim",   Ns,   16,   6_999,  63.0,   8.3,    80,    0.14, false),
        row("websearch-small.mqsim.gz",    "ssdsim",   Ns,    6,  24_783, 100.0,  15.1,   363,   60.0,  false),
        row("financial1-head.ssdsim.gz",   "ssdsim",   Ns,   22,  10_000,  41.0,   5.4,    29,  260.0,  false),
        row("llm-offload.mqsim.gz",        "ssdsim",   Ns,    1,  36_873,  86.0, 147.8, 5_320,   34.0,  false),
        row("postmark.disksim.gz",         "disksim",  Ms,    1,  62_257,  83.0, 222.3, 5_990,  490.0,  false),
        row("msr-prxy_0-head.msr.csv.gz",  "msr",      Tick,  1,  20_000,   1.7,   2.6,    12,  939.0,  false),
        row("msr-hm_0-snia.msr.csv.gz",    "msr",      Tick,  1,   1_000,  51.0,   9.5,     7,  127.0,  false),
        row("msr-busiest.heimdall.gz",     "heimdall", Ms,    1,  10_000,  83.0,  12.7,   113,    1.0,  false),
        row("msr-write-heavy.heimdall.gz", "heimdall", Ms,    1,  10_000,  20.0,   5.4,    29,  243.0,  false),
        row("fiu-mail.fiu.gz",             "fiu",      Ns,    1,   9_997,  89.0,   4.0,    36,   24.0,  false),
        row("systor17-vdi.csv.gz",         "systor",   S,     1,     999,  83.0,  38.2,    38,    2.5,  true),
        row("ycsb-rocksdb.blkparse.gz",    "blkparse", S,     1,   1_694, 100.0, 114.2,   189,    0.7,  false),
    ]
}

#[test]
fn measures_match_the_published_ones() {
    let Some(folder) = traces() else { return };
    for row in table() {
        let Expected { file, .. } = row;
        let path = folder.join(file);
        if !path.exists() {
            println!("skipped: {file} is not there");
            continue;
        }
        let found = info(&path, &TraceOptions::default()).unwrap();
        assert_eq!(
            (found.format, found.time_unit, found.devices),
            (row.format, row.unit, row.devices),
            "{file}"
        );
        assert_eq!(found.requests, row.requests, "{file}");
        let percent = found.read_fraction * 100.0;
        assert!((percent - row.read_percent).abs() <= 0.5, "{file}: {percent} % reads");
        let kib = found.mean_bytes / 1024.0;
        assert!((kib - row.mean_kib).abs() <= 0.051, "{file}: mean {kib} KiB");
        let mib = found.footprint_bytes as f64 / f64::from(1 << 20);
        assert!(found.footprint_exact && (mib - row.footprint_mib as f64).abs() <= 0.51, "{file}: {mib} MiB");
        // The published spans are rounded to two figures or more.
        let span = found.span_ns as f64 / 1e9;
        assert!((span / row.span_s - 1.0).abs() <= 0.036, "{file}: {span} s");
        assert_eq!(found.reordered > 0, row.reordered, "{file}: {} reordered", found.reordered);
    }
}

#[test]
fn every_real_trace_replays_twice_on_a_small_drive() {
    let Some(folder) = traces() else { return };
    let capacity = 1 << 30;
    let options = TraceOptions { loop_count: 2, ..TraceOptions::default() };
    for row in table() {
        let path = folder.join(row.file);
        if !path.exists() {
            println!("skipped: {} is not there", row.file);
            continue;
        }
        let mut source = TraceSource::open(&path, &options, capacity).unwrap();
        let mut last = 0;
        while let Some(issue) = source.next_issue().unwrap() {
            let end = issue.command.offset + u64::from(issue.command.bytes);
            assert!(end <= capacity && issue.earliest.0 >= last, "{}", row.file);
            last = issue.earliest.0;
        }
        let counts = source.counts();
        assert_eq!((counts.requests, counts.laps), (2 * row.requests, 2), "{}", row.file);
        assert!(last as f64 >= 1.9 * row.span_s * 1e9, "{}: {last}", row.file);
    }
}
