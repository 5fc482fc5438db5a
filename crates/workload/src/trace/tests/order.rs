//! Are records sorted stably within the window, and refused beyond it?

use super::samples::*;
use crate::trace::TraceOptions;
use tailcut_units::Stream;

fn trace(times: &[u64]) -> String {
    times.iter().enumerate().map(|(i, t)| format!("{t} 0 {} 8 1\n", i * 8)).collect()
}

#[test]
fn a_shuffle_within_the_window_comes_out_stably_sorted() {
    let mut random = Stream::new(3, "order", 0);
    // Steps of 20 ms, jitter below 1 s, many equal times.
    let times: Vec<u64> =
        (0..5000).map(|i| (1000 + i * 20 + random.below(990) / 10 * 10) * 1_000_000).collect();
    let mut expected: Vec<(u64, u64)> =
        times.iter().enumerate().map(|(i, t)| (*t, i as u64 * 4096)).collect();
    expected.sort();
    let first = expected[0].0;
    let mut traced = reader(trace(&times).as_bytes(), &TraceOptions::default()).unwrap();
    let mut found = Vec::new();
    while let Some(record) = traced.next_record().unwrap() {
        found.push((record.time + first, record.offset));
    }
    assert_eq!(found, expected);
    let mut newest = 0;
    let (mut late, mut back) = (0, 0);
    for &t in &times {
        newest = t.max(newest);
        late += u64::from(t < newest);
        back = back.max(newest - t);
    }
    assert_eq!((traced.counts().reordered, traced.counts().backward_max_ns), (late, back));
}

#[test]
fn a_jump_beyond_the_window_names_line_jump_and_remedy() {
    let text = trace(&[0, 5_000_000_000, 3_999_999_000]);
    let message = records(text.as_bytes()).unwrap_err().to_string();
    assert!(
        message.contains("line 3") && message.contains("1000001000 ns") && message.contains("--sort-window"),
        "{message}"
    );
    let wide = TraceOptions { sort_window_ns: 2_000_000_000, ..TraceOptions::default() };
    assert_eq!(records_with(text.as_bytes(), &wide).unwrap().len(), 3);
    let edge = trace(&[0, 5_000_000_000, 4_000_000_000]);
    assert_eq!(records(edge.as_bytes()).unwrap().len(), 3);
}

#[test]
fn the_window_is_also_bounded_in_records() {
    let small = TraceOptions { sort_records: 4, ..TraceOptions::default() };
    assert!(records_with(trace(&[10, 20, 30, 5]).as_bytes(), &small).is_ok());
    let message = records_with(trace(&[10, 20, 30, 40, 50, 5]).as_bytes(), &small).unwrap_err().to_string();
    assert!(message.contains("line 6") && message.contains("4 records"), "{message}");
}

#[test]
fn windows_limits_and_filters_select() {
    let text = "0 0 0 8 1\n100 1 8 8 1\n200 0 16 8 0\n300 1 24 8 1\n400 0 32 8 1\n";
    let offsets = |options: TraceOptions| -> Vec<(u64, u64)> {
        records_with(text.as_bytes(), &options).unwrap().iter().map(|r| (r.time, r.offset / 4096)).collect()
    };
    let base = TraceOptions { time_unit: Some(crate::trace::TimeUnit::Ns), ..TraceOptions::default() };
    assert_eq!(offsets(TraceOptions { limit: Some(2), ..base.clone() }), [(0, 0), (100, 1)]);
    let window = TraceOptions { start_ns: 100, end_ns: Some(300), ..base.clone() };
    assert_eq!(offsets(window), [(0, 1), (100, 2)]);
    assert_eq!(offsets(TraceOptions { device: Some(1), ..base.clone() }), [(100, 1), (300, 3)]);
    assert_eq!(
        offsets(TraceOptions { rate_scale: 4.0, limit: Some(3), ..base.clone() }),
        [(0, 0), (25, 1), (50, 2)]
    );
    let scaled = records_with(text.as_bytes(), &TraceOptions { size_scale: 1.3, ..base.clone() }).unwrap();
    assert!(scaled.iter().all(|r| r.bytes == 5632));
    let nobody =
        records_with(text.as_bytes(), &TraceOptions { device: Some(9), ..base }).unwrap_err().to_string();
    assert!(nobody.contains("5 of other devices"), "{nobody}");
}
