//! Tests that every text reads back as written, and that every wrong text is refused with the
//! reason.

use super::*;
use crate::time::Span;
use proptest::prelude::*;
use serde::{Deserialize, Serialize};

/// One field of every kind, as configurations use them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct All {
    #[serde(with = "time")]
    one: Span,
    #[serde(with = "times")]
    many: Vec<Span>,
    #[serde(with = "time_or_times")]
    one_or_more: Vec<Span>,
    #[serde(with = "bytes")]
    size: u64,
    #[serde(default, skip_serializing_if = "Option::is_none", with = "maybe_bytes")]
    perhaps: Option<u64>,
    #[serde(with = "fraction")]
    share: f64,
    #[serde(default, skip_serializing_if = "Option::is_none", with = "maybe_fraction")]
    perhaps_share: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none", with = "maybe_ratio")]
    ratio: Option<f64>,
    #[serde(with = "rate")]
    speed: u64,
    level: Level,
}

#[test]
fn texts_mean_what_they_say() {
    let time = |t| parse_time(t).map(|s| s.0);
    assert_eq!([time("100us"), time("3.5ms"), time("0ns")], [Ok(100_000), Ok(3_500_000), Ok(0)]);
    assert_eq!([time("2µs"), time("2μs"), time(" 1.000000001 s ")], [Ok(2000), Ok(2000), Ok(1_000_000_001)]);
    let size = parse_bytes;
    assert_eq!([size("16KiB"), size("240GB"), size("4096B")], [Ok(16384), Ok(240_000_000_000), Ok(4096)]);
    assert_eq!([size("1.5KiB"), size("1kB")], [Ok(1536), Ok(1000)]);
    assert_eq!([parse_rate("1.2GB/s"), parse_rate("inf")], [Ok(1_200_000_000), Ok(u64::MAX)]);
    assert_eq!([parse_fraction("7%"), parse_fraction("12.5%")], [Ok(0.07), Ok(0.125)]);
    assert_eq!([parse_fraction("100%"), parse_fraction("0%")], [Ok(1.0), Ok(0.0)]);
    assert_eq!(
        [parse_ratio("7%"), parse_ratio("150%"), parse_ratio("99999%")],
        [Ok(0.07), Ok(1.5), Ok(999.99)]
    );
    assert_eq!([parse_level("4"), parse_level("30%")], [Ok(Level::Count(4)), Ok(Level::Share(300_000))]);
}

#[test]
fn texts_are_the_shortest() {
    let times = [0, 175, 1500, 100_000, 3_500_000, 1_000_001, 60_000_000_000].map(|n| format_time(Span(n)));
    assert_eq!(times, ["0ns", "175ns", "1.5us", "100us", "3.5ms", "1000001ns", "60s"]);
    let sizes = [0, 1, 1000, 1536, 4096, 16384, 240_000_000_000].map(format_bytes);
    assert_eq!(sizes, ["0B", "1B", "1KB", "1536B", "4KiB", "16KiB", "240GB"]);
    assert_eq!([format_rate(1_200_000_000), format_rate(u64::MAX)], ["1.2GB/s", "inf"]);
    assert_eq!([0.0, 0.07, 0.125, 1.0, 1e-6].map(format_fraction), ["0%", "7%", "12.5%", "100%", "0.0001%"]);
    assert_eq!([Level::Share(70_500), Level::Count(4)].map(|l| l.to_string()), ["7.05%", "4"]);
}

#[test]
fn a_share_of_extents_rounds_up_exactly() {
    let of = |text, total| parse_level(text).map(|l| l.of(total));
    assert_eq!([of("7%", 100), of("7%", 101), of("30%", 4096)], [Ok(7), Ok(8), Ok(1229)]);
    assert_eq!([of("0%", 9), of("0.0001%", 9), of("100%", u32::MAX)], [Ok(0), Ok(1), Ok(u32::MAX)]);
    assert_eq!(of("3", 2), Ok(3));
}

#[test]
fn wrong_texts_are_refused_with_the_reason() {
    let table = [
        (parse_time("100").err(), "`100` has no unit; write e.g. \"100us\" (ns, us, ms, s, h, d)"),
        (
            parse_time("100KiB").err(),
            "`100KiB` is not a time: `KiB` is not one of its units (ns, us, ms, s, h, d)",
        ),
        (parse_time("-3us").err(), "`-3us` is negative; a time is 0 or more"),
        (parse_time("soon").err(), "`soon` is not a time; write e.g. \"100us\" (ns, us, ms, s, h, d)"),
        (parse_time("").err(), "`` is not a time; write e.g. \"100us\" (ns, us, ms, s, h, d)"),
        (parse_time("1.2.3us").err(), "`1.2.3us` is not a time; write e.g. \"100us\" (ns, us, ms, s, h, d)"),
        (parse_time("0.1ns").err(), "`0.1ns` is too fine; a time must be a whole multiple of one nanosecond"),
        (
            parse_time("18446744073709551616ns").err(),
            "`18446744073709551616ns` is too large; a time is at most 584 years",
        ),
        (parse_bytes("0.3B").err(), "`0.3B` is too fine; a size must be a whole multiple of one byte"),
        (parse_fraction("101%").err(), "`101%` is too large; a share is at most 100%"),
        (parse_fraction("100.1%").err(), "`100.1%` is too large; a share is at most 100%"),
        (parse_ratio("100000%").err(), "`100000%` is too large; a ratio is at most 99999%"),
        (parse_ratio("1.5").err(), "`1.5` has no unit; write e.g. \"28%\" (%)"),
        (parse_fraction("0.07").err(), "`0.07` has no unit; write e.g. \"7%\" (%)"),
        (parse_rate("0B/s").err(), "`0B/s` is zero; a rate must be more than 0"),
        (
            parse_level("100.00001%").err(),
            "`100.00001%` is too fine; a level must be a whole multiple of one 0.0001 %",
        ),
        (parse_level("100.5%").err(), "`100.5%` is too large; a level is at most 100%"),
        (parse_level("4294967296").err(), "`4294967296` is too large; a level is at most 4294967295"),
    ];
    for (error, text) in table {
        assert_eq!(error.map(|e| e.to_string()).as_deref(), Some(text));
    }
    let rate = parse_rate("280MB").err().map(|e| e.to_string()).unwrap_or_default();
    assert!(rate.starts_with("`280MB` is not a rate: `MB` is not one of its units (B/s, "), "{rate}");
}

#[test]
fn a_bare_number_in_a_file_is_told_about_units() {
    #[derive(Debug, Deserialize)]
    #[allow(dead_code)]
    struct One {
        #[serde(with = "time")]
        t: Span,
    }
    for (text, number) in [("t = 100", "100"), ("t = 1.5", "1.5")] {
        let error = toml::from_str::<One>(text).map_err(|e| e.message().to_string());
        let expected = format!("`{number}` has no unit; write e.g. \"100us\" (ns, us, ms, s, h, d)");
        assert_eq!(error.err(), Some(expected));
    }
    let error = toml::from_str::<One>("t = true").map_err(|e| e.message().to_string()).err();
    assert!(error.is_some_and(|e| e.contains("expected a time as a string such as \"100us\"")));
}

#[test]
fn one_time_needs_no_list() {
    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    struct Some {
        #[serde(with = "time_or_times")]
        t: Vec<Span>,
    }
    let read = |text: &str| toml::from_str::<Some>(text).map_err(|e| e.message().to_string());
    assert_eq!(read("t = '2us'"), Ok(Some { t: vec![Span(2_000)] }));
    assert_eq!(read("t = ['2us', '1us']"), Ok(Some { t: vec![Span(2_000), Span(1_000)] }));
    assert_eq!(toml::to_string(&Some { t: vec![Span(2_000)] }), Ok("t = \"2us\"\n".into()));
    let refused = |text: &str, reason: &str| {
        let error = read(text).expect_err(text);
        assert!(error.contains(reason), "{text}: {error}");
    };
    refused("t = 100", "`100` has no unit");
    refused("t = ['1us', 'soon']", "soon");
    refused(
        "t = {}",
        "a time as a string such as \"100us\" (ns, us, ms, s, h, d), or a list of such strings",
    );
}

#[test]
fn a_missing_optional_stays_missing() {
    let text =
        "one = '1ns'\nmany = []\none_or_more = '2ns'\nsize = '1B'\nshare = '0%'\nspeed = 'inf'\nlevel = 3\n";
    let all: All = toml::from_str(text).expect("a valid text");
    assert_eq!((all.perhaps, all.perhaps_share, all.level), (None, None, Level::Count(3)));
    assert_eq!(toml::from_str(&toml::to_string(&all).expect("serialises")), Ok(all));
}

fn levels() -> impl Strategy<Value = Level> {
    prop_oneof![any::<u32>().prop_map(Level::Count), (0u32..=1_000_000).prop_map(Level::Share)]
}

proptest! {
    #[test]
    fn every_value_reads_back(
        one in any::<u64>(), many in prop::collection::vec(any::<u64>(), 0..4), size in any::<u64>(),
        perhaps in any::<Option<u64>>(), share in 0.0f64..=1.0, speed in 1u64.., level in levels(),
        decades in 0u32..20,
    ) {
        let size = size / 10u64.pow(decades);
        let share_small = share / 10f64.powi(decades as i32 * 10);
        let many: Vec<Span> = many.into_iter().map(|n| Span(n >> decades)).collect();
        let one_or_more = many.clone();
        let ratio = Some(share * 900.0);
        let all = All { one: Span(one), many, one_or_more, size, perhaps, share, perhaps_share: Some(share_small), ratio, speed, level };
        let text = toml::to_string(&all).expect("serialises");
        prop_assert_eq!(toml::from_str::<All>(&text), Ok(all), "{}", text);
    }

    #[test]
    fn round_values_have_short_texts(n in 1u64..10_000, unit in 0usize..3) {
        let ns = n * 1000u64.pow(unit as u32);
        let text = format_time(Span(ns));
        prop_assert!(text.len() <= n.to_string().len() + 2, "{text}");
        prop_assert_eq!(parse_time(&text), Ok(Span(ns)));
    }

    #[test]
    fn no_text_panics(text in "\\PC*", number in "-?[0-9.]{0,45}", unit in "(ns|us|ms|s|B|KiB|PB|%|/s|GB/s| )?") {
        for t in [text.clone(), format!("{number}{unit}"), format!("{number}{text}")] {
            let _ = (parse_time(&t), parse_bytes(&t), parse_rate(&t), parse_ratio(&t), parse_level(&t));
        }
    }
}
