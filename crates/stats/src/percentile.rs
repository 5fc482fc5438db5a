//! Ranks of percentiles, computed in integers, so that "the 99.9th of 1,000" does not depend on
//! rounding errors.

/// The percentiles in every report, in percent.
pub const LEVELS: [f64; 22] = [
    1.0, 5.0, 10.0, 20.0, 30.0, 40.0, 50.0, 60.0, 70.0, 80.0, 90.0, 95.0, 96.0, 97.0, 98.0, 99.0, 99.5, 99.9,
    99.95, 99.99, 99.999, 99.9999,
];

/// The levels (percent) above which a report gives the blame; 0 is every request.
pub const BLAME_LEVELS: [f64; 7] = [0.0, 50.0, 90.0, 99.0, 99.9, 99.99, 99.999];

/// A percentile with fewer samples than this beyond it is marked as uncertain.
pub const MIN_BEYOND: u64 = 10;

/// 100 % in millionths of a percent. Ranks are computed in this unit, since percentiles are printed
/// with six decimals.
const WHOLE: u128 = 100_000_000;

/// The 1-based rank of percentile `percent` among `n` samples: the smallest `r` with
/// `r / n >= percent`. 0 only when `n` is 0.
pub fn rank(percent: f64, n: u64) -> u64 {
    debug_assert!((0.0..=100.0).contains(&percent), "percentile {percent}");
    let millionths = (percent * 1e6).round() as u128;
    let r = (millionths * u128::from(n)).div_ceil(WHOLE) as u64;
    r.max(1).min(n)
}

/// The number of samples, out of `n`, that lie beyond percentile `percent`.
pub fn beyond(percent: f64, n: u64) -> u64 {
    n - rank(percent, n)
}

/// Whether percentile `percent` of `n` samples has too few samples beyond it to be trusted.
pub fn is_thin(percent: f64, n: u64) -> bool {
    beyond(percent, n) < MIN_BEYOND
}

/// The percentile of a name such as `p99.9`, whether it is in reports or not.
pub fn named(text: &str) -> Option<f64> {
    text.strip_prefix('p')?.parse().ok()
}

/// The names of the percentiles in every report.
pub fn names() -> String {
    // Not `LEVELS.map(…).join(…)`: the optimiser spends minutes on joining an array whose length it knows.
    let mut names = format!("p{}", LEVELS[0]);
    for level in &LEVELS[1..] {
        names += &format!(", p{level}");
    }
    names
}

/// The key of a percentile in output, as fio prints it: `99.900000`.
pub fn key(percent: f64) -> String {
    format!("{percent:.6}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_are_exact() {
        assert_eq!(rank(99.9, 1_000), 999);
        assert_eq!(rank(99.9, 1_001), 1_000);
        assert_eq!(rank(50.0, 3), 2);
        assert_eq!((rank(0.0, 5), rank(100.0, 5), rank(50.0, 0)), (1, 5, 0));
        assert_eq!(rank(99.9999, 10_000_000_000), 9_999_990_000);
    }

    #[test]
    fn a_percentile_needs_ten_samples_beyond_it() {
        assert!(!is_thin(99.0, 1_000));
        assert!(is_thin(99.0, 999));
        assert!(is_thin(1.0, 9));
    }
}
