//! The difference of a figure between two measurements, with its 95 % confidence interval.
//!
//! Differences are ratios. A figure comes with its *shifts*: how much each part of the measurement (one of 20 batches of
//! a run, or one of several runs) moves the figure, relative to the figure. The logarithm of the ratio of two figures
//! then has the standard error of the mean of the differences of their shifts.
//!
//! If both measurements had the same requests, part `i` of one corresponds to part `i` of the other. What
//! the requests have done to both cancels in the difference of the two shifts: common random numbers. An interval by
//! pairs is right whether or not the parts are correlated; with correlation it is narrower.

use crate::confidence::t_quantile;
use libm::{exp, log, sqrt};

/// The probability below the upper end of a 95 % interval.
const UPPER: f64 = 0.975;

/// A figure and its shifts.
#[derive(Clone, Copy, Debug)]
pub struct Shifted<'a> {
    /// The figure, in any unit.
    pub value: f64,
    /// By part: the relative amount by which the part moves the figure. The mean is 0.
    pub shifts: &'a [f64],
}

/// A figure of B relative to that of A, minus 1, with its 95 % interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Change {
    /// The estimate.
    pub value: f64,
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

/// The shifts of a figure from its values in several runs; `None` if the mean is not above 0.
pub fn shifts_of_runs(values: &[f64]) -> Option<Vec<f64>> {
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    (mean > 0.0).then(|| values.iter().map(|v| v / mean - 1.0).collect())
}

/// The change from `a` to `b`. With `paired`, part `i` of one belongs to part `i` of the other, and both must have as
/// many. Without it the two are independent (Welch's interval). `resolution` is the relative error of the two
/// figures together, by which the interval grows on both sides.
///
/// `None` if a figure is not above 0, or has fewer than two parts.
pub fn change(a: Shifted, b: Shifted, paired: bool, resolution: f64) -> Option<Change> {
    if !(a.value > 0.0 && b.value > 0.0) || a.shifts.len() < 2 || b.shifts.len() < 2 {
        return None;
    }
    let (error, dof) = if paired && a.shifts.len() == b.shifts.len() {
        let pairs: Vec<f64> = a.shifts.iter().zip(b.shifts).map(|(a, b)| b - a).collect();
        (error_of_mean(&pairs), (pairs.len() - 1) as f64)
    } else {
        let (of_a, of_b) = (error_of_mean(a.shifts), error_of_mean(b.shifts));
        let squares = of_a * of_a + of_b * of_b;
        let part = |error: f64, n: usize| error * error * error * error / (n - 1) as f64;
        let spread = part(of_a, a.shifts.len()) + part(of_b, b.shifts.len());
        (sqrt(squares), if spread > 0.0 { squares * squares / spread } else { 1.0 })
    };
    let ratio = b.value / a.value;
    let half = t_quantile(UPPER, dof.max(1.0)) * error + resolution;
    Some(Change { value: ratio - 1.0, low: exp(log(ratio) - half) - 1.0, high: exp(log(ratio) + half) - 1.0 })
}

/// The standard error of a mean.
fn error_of_mean(values: &[f64]) -> f64 {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    sqrt(values.iter().map(|v| (v - mean) * (v - mean)).sum::<f64>() / (n - 1.0) / n)
}

#[cfg(test)]
mod tests {
    use super::*;
    use tailcut_units::Stream;

    /// Draws a value that is normal enough: the sum of twelve uniform ones.
    fn normal(s: &mut Stream) -> f64 {
        (0..12).map(|_| s.unit()).sum::<f64>() - 6.0
    }

    /// Two measurements of `parts` parts with the same true value, of which `common` is shared, and their change.
    fn nothing_changed(seed: u64, parts: usize, common: f64, paired: bool) -> Change {
        let mut s = Stream::new(seed, "difference test", 0);
        let (mut a, mut b) = (Vec::new(), Vec::new());
        for _ in 0..parts {
            let shared = common * normal(&mut s);
            a.push(100.0 + shared + normal(&mut s));
            b.push(100.0 + shared + normal(&mut s));
        }
        let mean = |v: &[f64]| v.iter().sum::<f64>() / v.len() as f64;
        let (of_a, of_b) = (shifts_of_runs(&a).unwrap(), shifts_of_runs(&b).unwrap());
        let at = |v: &[f64]| mean(v);
        change(
            Shifted { value: at(&a), shifts: &of_a },
            Shifted { value: at(&b), shifts: &of_b },
            paired,
            0.0,
        )
        .unwrap()
    }

    // 1,000 intervals that each hold 0 with 0.95: 950 on average, sd 6.9.
    #[test]
    fn an_interval_of_no_difference_holds_zero_at_its_level() {
        for (parts, common, paired) in
            [(3, 0.0, true), (5, 4.0, true), (20, 4.0, true), (5, 0.0, false), (20, 0.0, false)]
        {
            let held = (0..1_000)
                .map(|seed| nothing_changed(seed, parts, common, paired))
                .filter(|c| c.low <= 0.0 && 0.0 <= c.high)
                .count();
            assert!((930..=970).contains(&held), "{parts} parts, {common} shared, paired {paired}: {held}");
        }
    }

    #[test]
    fn what_both_share_cancels_in_pairs() {
        let width = |paired| {
            let c = nothing_changed(1, 20, 10.0, paired);
            c.high - c.low
        };
        assert!(width(true) * 5.0 < width(false), "{} {}", width(true), width(false));
    }

    #[test]
    fn the_interval_is_that_of_the_textbook() {
        let shifts = [-0.01, 0.0, 0.01];
        let still = [0.0; 3];
        let (a, b) = (Shifted { value: 50.0, shifts: &still }, Shifted { value: 100.0, shifts: &shifts });
        let half = 4.30265 * 0.01 / 3f64.sqrt();
        for paired in [true, false] {
            let c = change(a, b, paired, 0.0).unwrap();
            assert_eq!(c.value, 1.0);
            assert!(((1.0 + c.high) / (1.0 + c.low) - (2.0 * half).exp()).abs() < 1e-6, "{c:?}");
        }
        let c = change(a, Shifted { shifts: &still, ..b }, true, 0.001).unwrap();
        assert!((c.high / 1.0 - (2.0 * 0.001f64.exp() - 1.0)).abs() < 1e-9, "{c:?}");
    }

    #[test]
    fn without_parts_or_value_there_is_no_interval() {
        let one = Shifted { value: 1.0, shifts: &[0.0] };
        let two = Shifted { value: 1.0, shifts: &[0.0, 0.0] };
        assert!(change(one, two, false, 0.0).is_none() && change(two, one, true, 0.0).is_none());
        assert!(change(two, Shifted { value: 0.0, ..two }, true, 0.0).is_none());
        assert_eq!(change(two, two, true, 0.0), Some(Change { value: 0.0, low: 0.0, high: 0.0 }));
        assert_eq!(shifts_of_runs(&[0.0, 0.0]), None);
    }
}
