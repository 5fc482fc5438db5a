//! Rounded texts for people; nothing reads them back.

use crate::time::Span;

/// Three significant digits: `4.97 ms`, `16.9 us`, `0 ns`.
pub fn human_time(span: Span) -> String {
    scaled(span.0, 1000.0, &["ns", "us", "ms", "s"])
}

/// Three significant digits in the binary unit if that is whole, else in the decimal
/// one: `16 KiB`, `240 GB`.
pub fn human_bytes(bytes: u64) -> String {
    const BINARY: [(&str, u64); 5] =
        [("PiB", 1 << 50), ("TiB", 1 << 40), ("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)];
    for (name, factor) in BINARY {
        if bytes >= factor && bytes.is_multiple_of(factor) && bytes / factor < 1024 {
            return format!("{} {name}", bytes / factor);
        }
    }
    human_capacity(bytes)
}

/// Three significant digits in the decimal unit, as drives are sold: `240 GB`.
pub fn human_capacity(bytes: u64) -> String {
    scaled(bytes, 1000.0, &["B", "KB", "MB", "GB", "TB", "PB", "EB"])
}

/// Bytes a second, decimal: `1.2 GB/s`; `unlimited` for no limit.
pub fn human_rate(rate: u64) -> String {
    match rate {
        u64::MAX => "unlimited".to_string(),
        _ => format!("{}/s", human_capacity(rate)),
    }
}

fn scaled(value: u64, step: f64, units: &[&str]) -> String {
    let mut v = value as f64;
    let mut unit = 0;
    // 999.5 would print as 1000 of the smaller unit.
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
        assert_eq!([human_bytes(16384), human_bytes(240_000_000_000)], ["16 KiB", "240 GB"]);
        assert_eq!([human_bytes(275_045_679_104), human_bytes(100)], ["275 GB", "100 B"]);
        assert_eq!([human_rate(1_200_000_000), human_rate(u64::MAX)], ["1.2 GB/s", "unlimited"]);
    }
}
