//! Rounded texts for display. They are never read back.

use crate::time::Span;

/// Three significant digits: `4.97 ms`, `16.9 us`, `0 ns`.
pub fn human_time(span: Span) -> String {
    scaled(span.0, 1000.0, &["ns", "us", "ms", "s"])
}

/// Three significant digits in the binary unit: `16 KiB`, `224 GiB`. Capacities, blocks and lengths
/// are always shown in binary units, although drives are sold in decimal ones.
pub fn human_bytes(bytes: u64) -> String {
    scaled(bytes, 1024.0, &["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"])
}

/// Bytes per second in decimal units, as is usual for buses and links: `1.2 GB/s`; `unlimited` for
/// no limit.
pub fn human_rate(rate: u64) -> String {
    match rate {
        u64::MAX => "unlimited".to_string(),
        _ => scaled(rate, 1000.0, &["B/s", "KB/s", "MB/s", "GB/s", "TB/s", "PB/s", "EB/s"]),
    }
}

fn scaled(value: u64, step: f64, units: &[&str]) -> String {
    let mut v = value as f64;
    let mut unit = 0;
    // 999.5 (of binary units 1023.5) would print as 1000 of the smaller unit.
    while v >= step - 0.5 && unit + 1 < units.len() {
        v /= step;
        unit += 1;
    }
    let places = if unit == 0 || v >= 99.95 {
        0
    } else if v >= 9.995 {
        1
    } else {
        2
    };
    let text = format!("{v:.places$}");
    let text = if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { &text };
    format!("{text} {}", units[unit])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn people_get_three_digits() {
        let time = |ns| human_time(Span(ns));
        assert_eq!([time(0), time(999), time(999_600), time(16_940)], ["0 ns", "999 ns", "1 ms", "16.9 us"]);
        assert_eq!(time(35_004_000_000), "35 s");
        assert_eq!([human_bytes(16384), human_bytes(240_000_000_000)], ["16 KiB", "224 GiB"]);
        assert_eq!([human_bytes(1 << 40), human_bytes(100), human_bytes(1023)], ["1 TiB", "100 B", "1023 B"]);
        assert_eq!([human_bytes(1_048_570), human_bytes(u64::MAX)], ["1 MiB", "16 EiB"]);
        assert_eq!([human_rate(1_200_000_000), human_rate(u64::MAX)], ["1.2 GB/s", "unlimited"]);
    }
}
