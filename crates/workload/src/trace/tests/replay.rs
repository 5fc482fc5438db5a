//! Does a source repeat, shift and fold by the documented rules?

use super::samples::*;
use crate::trace::footprint::Footprint;
use crate::trace::{DeviceRule, Remap, Touched, TraceOptions, TraceSource};
use crate::{Interrupt, Issue, Source, TraceReplay, WarmUp, WorkloadSpec};
use std::collections::HashSet;
use tailcut_units::{Span, Stream};

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

/// A spec of a trace in a file, its first lap on a drive, and the bytes it touches there.
fn laid(text: &str, options: TraceOptions, filled: u64) -> (Vec<(u64, u32)>, Option<u64>) {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), text).unwrap();
    let replay = TraceReplay { options, ..TraceReplay::default() };
    let spec = WorkloadSpec::parse(file.path().to_str().unwrap(), |_| None, &replay).unwrap();
    let mut workload = spec.open(filled, filled, 1).unwrap();
    let mut commands = Vec::new();
    while let Some(issue) = workload.next(0).unwrap() {
        commands.push((issue.command.offset / 4096, issue.command.bytes / 4096));
    }
    (commands, spec.trace().unwrap().drive_footprint(filled).unwrap())
}

#[test]
fn a_dense_remap_keeps_apart_what_folding_lays_on_one_place() {
    // Pages 0, 1000 and 2000 of device 5 fold to one page on a drive of 1,000 pages; device 2
    // comes first.
    let text = "0 5 0 16 1\n1000 5 8000 8 0\n2000 5 16000 8 1\n3000 2 80000 8 0\n";
    let overlay = TraceOptions { device_rule: DeviceRule::Overlay, ..TraceOptions::default() };
    let dense = TraceOptions { remap: Remap::Dense, ..TraceOptions::default() };
    let filled = 1000 * 4096;
    assert_eq!(laid(text, overlay.clone(), filled), (vec![(0, 2), (0, 1), (0, 1), (0, 1)], Some(2 * 4096)));
    assert_eq!(laid(text, dense.clone(), filled), (vec![(1, 2), (3, 1), (4, 1), (0, 1)], Some(5 * 4096)));
    let both = TraceOptions { remap: Remap::Dense, ..overlay };
    assert_eq!(laid(text, both, filled), (vec![(0, 2), (2, 1), (3, 1), (4, 1)], Some(5 * 4096)));
    // Pages that do not fit after numbering are folded as usual.
    let small = laid(text, dense.clone(), 3 * 4096);
    assert_eq!(small, (vec![(1, 2), (0, 1), (1, 1), (0, 1)], Some(3 * 4096)));
    // Later laps continue after the touched pages.
    let laps = TraceOptions { loop_count: 2, ..dense };
    assert_eq!(laid(text, laps, filled).0[4..], [(6, 2), (8, 1), (9, 1), (5, 1)]);
}

#[test]
fn the_footprint_on_the_drive_is_what_the_commands_touch() {
    let mut random = Stream::new(9, "footprint on the drive", 0);
    let line =
        |i: u64| format!("{} {} {} 8 {}\n", i * 20_000, random.below(3), random.below(1 << 40) * 8, i % 2);
    let text: String = (0..3000).map(line).collect();
    for remap in [Remap::Modulo, Remap::Dense] {
        for device_rule in [DeviceRule::Slices, DeviceRule::Overlay] {
            for pages in [100, 2048, 1 << 20] {
                let options = TraceOptions { remap, device_rule, ..TraceOptions::default() };
                let (commands, said) = laid(&text, options, pages * 4096);
                let touched: HashSet<u64> = commands.iter().map(|c| c.0).collect();
                assert_eq!(said, Some(touched.len() as u64 * 4096), "{remap:?} {device_rule:?} {pages}");
            }
        }
    }
}

#[test]
fn too_many_scattered_pages_for_a_dense_remap_are_refused() {
    let mut few = Footprint::new(1000, Interrupt::default());
    (0..100).for_each(|i| few.add(0, i << 30, i << 30));
    let dense = TraceOptions { remap: Remap::Dense, ..TraceOptions::default() };
    let error = Touched::new(few, &dense).unwrap_err().to_string();
    assert!(error.contains("remap = dense") && error.contains("modulo"), "{error}");
}

#[test]
fn a_warm_up_is_a_time_of_the_run_or_of_the_trace() {
    let file = tempfile::NamedTempFile::new().unwrap();
    let line = |i: u64| format!("0,{},4096,r,{i}.000000\n", i * 8);
    std::fs::write(file.path(), (0..100).map(line).collect::<String>()).unwrap();
    let ramp = |warm_up, options: TraceOptions, depth| -> Result<u64, String> {
        let replay = TraceReplay { options, depth, warm_up, ..TraceReplay::default() };
        let spec = WorkloadSpec::parse(file.path().to_str().unwrap(), |_| None, &replay);
        let workload = spec.map_err(|e| e.to_string())?.open(1 << 30, 1 << 30, 1).unwrap();
        Ok(workload.jobs()[0].ramp.0 / 1_000_000)
    };
    let s = |seconds: u64| Span(seconds * 1_000_000_000);
    let fast = TraceOptions { rate_scale: 10.0, start_ns: s(20).0, ..TraceOptions::default() };
    assert_eq!(ramp(WarmUp::For(s(5)), fast.clone(), None), Ok(5000));
    assert_eq!(ramp(WarmUp::Until(s(50)), fast.clone(), None), Ok(3000));
    assert_eq!(ramp(WarmUp::Until(s(5)), fast.clone(), None), Ok(0));
    let over = ramp(WarmUp::For(s(8)), fast.clone(), None).unwrap_err();
    assert!(over.contains("--warm-up") && over.contains("7.9 s"), "{over}");
    let over = ramp(WarmUp::Until(s(101)), fast, None).unwrap_err();
    assert!(over.contains("--measure-from"), "{over}");
    assert_eq!(ramp(WarmUp::For(s(500)), TraceOptions::default(), Some(4)), Ok(500_000));
    let closed = ramp(WarmUp::Until(s(5)), TraceOptions::default(), Some(4)).unwrap_err();
    assert!(closed.contains("--closed-loop") && closed.contains("--warm-up"), "{closed}");
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
