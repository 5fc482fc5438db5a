//! How fast are the readers? Measured with `--ignored --nocapture`; other runs are short
//! and only keep the code working.

use super::convert::compact;
use crate::trace::{Input, TraceOptions, TraceReader, TraceSource};
use std::fmt::Write;
use std::io::Cursor;
use std::sync::Arc;

fn text(format: &str, lines: u64) -> String {
    let mut out = String::new();
    for i in 0..lines {
        let (time, at, op) = (i * 12_345, i * 7919 % 1_000_000 * 8, i & 1);
        let rw = if op == 1 { "Read" } else { "Write" };
        match format {
            "ssdsim" => writeln!(out, "{time} 0 {at} 8 {op}"),
            "msr" => writeln!(out, "{},web,0,{rw},{},4096,1234", 128_000_000_000_000_000 + time, at * 512),
            "disksim" => writeln!(out, "{}.{:03} 0 {at} 8 {op}", time / 1000, time % 1000),
            "fiu" => {
                writeln!(out, "{time} 4253 nfsd {at} 8 {} 6 0 88b93b628d84082186026d9da044f173", &rw[..1])
            }
            _ => writeln!(
                out,
                "259,2 0 {i} {}.{:09} 4020 D R {at} + 8 [java]",
                time / 1_000_000_000,
                time % 1_000_000_000
            ),
        }
        .unwrap();
    }
    out
}

/// Nanoseconds that this thread has run, so that other load does not change the figures.
fn cpu_ns() -> u64 {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    text.split(' ').next().and_then(|ns| ns.parse().ok()).unwrap_or(0)
}

fn rate(count: u64, since: u64) -> f64 {
    count as f64 * 1e3 / (cpu_ns() - since).max(1) as f64
}

fn measure(lines: u64) {
    let options = TraceOptions::default();
    for format in ["ssdsim", "msr", "disksim", "fiu", "blkparse", "compact"] {
        let bytes = match format {
            "compact" => compact(text("ssdsim", lines).as_bytes()),
            _ => text(format, lines).into_bytes(),
        };
        let bytes: Arc<[u8]> = bytes.into();
        let repeats = if lines > 10_000 { 3 } else { 1 };
        let clock = cpu_ns();
        for _ in 0..repeats {
            let mut traced =
                TraceReader::new("speed", Box::new(Cursor::new(bytes.clone())), &options).unwrap();
            let mut count = 0;
            while let Some(record) = traced.next_record().unwrap() {
                count += u64::from(record.bytes > 0);
            }
            assert_eq!((traced.format().name, count), (format, lines));
        }
        let reading = rate(repeats * lines, clock);
        let clock = cpu_ns();
        for _ in 0..repeats {
            let again = bytes.clone();
            let opener = move || Ok(Box::new(Cursor::new(again.clone())) as Input);
            let mut source = TraceSource::from_opener("speed", Box::new(opener), &options, 1 << 32).unwrap();
            let mut count = 0;
            while let Some(issue) = source.next_issue().unwrap() {
                count += u64::from(issue.command.bytes > 0);
            }
            assert_eq!(count, lines);
        }
        let replaying = rate(repeats * lines, clock);
        if repeats > 1 {
            println!(
                "{format}: {reading:.1} M records per CPU-second read, {replaying:.1} M issues replayed"
            );
        }
    }
}

#[test]
fn every_measured_format_reads_small() {
    measure(500);
}

#[test]
#[ignore = "a measurement: cargo test --release -- --ignored --nocapture trace_speed"]
fn trace_speed() {
    measure(2_000_000);
}
