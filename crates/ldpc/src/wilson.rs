//! The confidence interval of a share.

use libm::sqrt;

/// A share with its 95 % confidence interval; each is 0 to 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    /// The share that was counted.
    pub share: f64,
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

/// Two-sided 95 % point of the normal distribution.
pub const NORMAL_95: f64 = 1.959964;

/// The interval of Wilson (1927) for `hits` of `trials`, which is valid for few hits too. Without trials it
/// is 0 to 1.
pub fn wilson(hits: u64, trials: u64) -> Interval {
    if trials == 0 {
        return Interval { share: 0.0, low: 0.0, high: 1.0 };
    }
    let (n, share, z) = (trials as f64, hits as f64 / trials as f64, NORMAL_95);
    let middle = (share + z * z / (2.0 * n)) / (1.0 + z * z / n);
    let half = z / (1.0 + z * z / n) * sqrt(share * (1.0 - share) / n + z * z / (4.0 * n * n));
    // Rounding must not put the share outside.
    Interval { share, low: (middle - half).clamp(0.0, share), high: (middle + half).clamp(share, 1.0) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_interval_is_that_of_the_textbook() {
        let few = wilson(1, 10);
        // Brown, Cai and DasGupta (2001): 0.0179 to 0.4042.
        assert!((few.low - 0.0179).abs() < 1e-4 && (few.high - 0.4042).abs() < 1e-4, "{few:?}");
        let none = wilson(0, 100);
        assert_eq!((none.share, none.low), (0.0, 0.0));
        assert!((none.high - 0.037).abs() < 1e-3, "{none:?}");
        assert_eq!(wilson(100, 100).high, 1.0);
    }
}
