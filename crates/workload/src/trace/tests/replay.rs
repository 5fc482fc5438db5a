//! Does a source repeat, shift and fold by the stated rules?

use super::samples::*;
use crate::Issue;
use crate::trace::{DeviceRule, TraceOptions, TraceSource};

fn drain(mut source: TraceSource) -> (Vec<Issue>, TraceSource) {
    let mut issues = Vec::new();
    while let Some(issue) = source.next_issue().unwrap() {
        issues.push(issue);
    }
    (issues, source)
}

#[test]
fn laps_follow_after_a_mean_gap_with_shifted_addresses() {
    let text = "0 0 0 8 1\n1000 0 8 8 0\n2000 0 16 8 1\n";
    let options = TraceOptions { loop_count: 3, ..TraceOptions::default() };
    let (issues, source) = drain(source(text.as_bytes(), &options, 1 << 20).unwrap());
    let found: Vec<_> = issues.iter().map(|i| (i.earliest.0, i.command.offset / 4096)).collect();
    let expected: Vec<_> = (0..9).map(|i| (i * 1000, i)).collect();
    assert_eq!(found, expected);
    assert_eq!((source.counts().requests, source.counts().laps, source.counts().lines), (9, 3, 3));
}

#[test]
fn devices_lie_one_behind_another_or_overlaid() {
    let text = "0 5 0 8 1\n1000 2 8 8 0\n2000 5 8 8 1\n";
    let capacity = 2048 * 4096;
    let (sliced, _) = drain(source(text.as_bytes(), &TraceOptions::default(), capacity).unwrap());
    assert_eq!(sliced.iter().map(|i| i.command.offset / 4096).collect::<Vec<_>>(), [0, 1025, 1]);
    let overlay = TraceOptions { device_rule: DeviceRule::Overlay, ..TraceOptions::default() };
    let (overlaid, _) = drain(source(text.as_bytes(), &overlay, capacity).unwrap());
    assert_eq!(overlaid.iter().map(|i| i.command.offset / 4096).collect::<Vec<_>>(), [0, 1, 1]);
}

#[test]
fn a_closed_loop_has_no_arrival_times() {
    let options = TraceOptions { closed_loop: true, ..TraceOptions::default() };
    let (issues, _) = drain(source(SSDSIM.as_bytes(), &options, 1 << 20).unwrap());
    assert!(issues.len() == 3 && issues.iter().all(|i| i.earliest.0 == 0));
}

#[test]
fn a_request_larger_than_the_drive_is_issued_in_pieces() {
    let text = "0 0 8 64 1\n1000 0 0 8 0\n";
    let (issues, source) = drain(source(text.as_bytes(), &TraceOptions::default(), 4 * 4096).unwrap());
    let bytes: Vec<_> = issues.iter().map(|i| (i.command.offset, i.command.bytes)).collect();
    assert_eq!(bytes, [(4096, 12288), (0, 16384), (0, 4096), (0, 4096)]);
    assert_eq!((source.counts().split, source.counts().requests), (1, 2));
}

#[test]
fn a_long_trace_passes_the_read_ahead_unchanged() {
    let text: String = (0..150_000u64).map(|i| format!("{} 0 {} 8 {}\n", i * 20_000, i * 8, i % 2)).collect();
    let options = TraceOptions { loop_count: 2, ..TraceOptions::default() };
    let (issues, source) = drain(source(text.as_bytes(), &options, 1 << 40).unwrap());
    assert_eq!(issues.len(), 300_000);
    assert!(
        issues.iter().zip(0u64..).all(|(i, n)| i.earliest.0 == n * 20_000 && i.command.offset == n * 4096)
    );
    assert_eq!(source.counts().lines, 150_000);
}
