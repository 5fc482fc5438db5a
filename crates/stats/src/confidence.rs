//! 95 % confidence intervals, and the Student-t quantile for them.

use libm::{exp, fabs, lgamma, log, sqrt};
use serde::{Deserialize, Serialize};

/// A mean with its 95 % confidence interval, in the unit of the values.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Ci95 {
    /// The estimate.
    pub mean: f64,
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

/// The interval of a figure from its values in independent runs (`--runs`), by Student's t
/// distribution with `values.len() - 1` degrees of freedom. `None` for fewer than two runs.
pub fn across_runs(values: &[f64]) -> Option<Ci95> {
    if values.len() < 2 {
        return None;
    }
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let squares: f64 = values.iter().map(|v| (v - mean) * (v - mean)).sum();
    let half = t95(values.len() - 1) * sqrt(squares / (n - 1.0) / n);
    Some(Ci95 { mean, low: mean - half, high: mean + half })
}

/// The two-sided 95 % point of Student's t with `dof` degrees of freedom (at least 1).
pub fn t95(dof: usize) -> f64 {
    t_quantile(0.975, dof as f64)
}

/// The `p` quantile of Student's t, for `p` in `0.5..1`, to about 1e-9 of its value.
pub fn t_quantile(p: f64, dof: f64) -> f64 {
    assert!((0.5..1.0).contains(&p) && dof >= 1.0, "t quantile of p {p}, {dof} degrees");
    // The CDF is monotonic, so bisection cannot fail. Its cost does not matter, since it is called
    // once per report.
    let (mut low, mut high) = (0.0, 1.0);
    while t_cdf(high, dof) < p {
        high *= 2.0;
    }
    for _ in 0..100 {
        let middle = 0.5 * (low + high);
        if t_cdf(middle, dof) < p {
            low = middle;
        } else {
            high = middle;
        }
    }
    0.5 * (low + high)
}

/// P(T <= t) for t >= 0.
fn t_cdf(t: f64, dof: f64) -> f64 {
    1.0 - 0.5 * incomplete_beta(0.5 * dof, 0.5, dof / (dof + t * t))
}

/// The regularised incomplete beta function by its continued fraction.
fn incomplete_beta(a: f64, b: f64, x: f64) -> f64 {
    if x <= 0.0 || x >= 1.0 {
        return x.clamp(0.0, 1.0);
    }
    // The fraction converges fast only below the mean; above it, use the mirrored function.
    if x > (a + 1.0) / (a + b + 2.0) {
        return 1.0 - incomplete_beta(b, a, 1.0 - x);
    }
    let front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log(1.0 - x));
    front * beta_fraction(a, b, x) / a
}

/// Lentz's evaluation of the continued fraction of the incomplete beta function.
fn beta_fraction(a: f64, b: f64, x: f64) -> f64 {
    let tiny = 1e-300;
    let away = |v: f64| if fabs(v) < tiny { tiny } else { v };
    let mut c = 1.0;
    let mut d = 1.0 / away(1.0 - (a + b) * x / (a + 1.0));
    let mut h = d;
    for m in 1..300 {
        let m = f64::from(m);
        let even = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m));
        d = 1.0 / away(1.0 + even * d);
        c = away(1.0 + even / c);
        h *= d * c;
        let odd = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0));
        d = 1.0 / away(1.0 + odd * d);
        c = away(1.0 + odd / c);
        h *= d * c;
        if fabs(d * c - 1.0) < 1e-14 {
            break;
        }
    }
    h
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn t_agrees_with_the_tables() {
        for (dof, expected) in
            [(1, 12.7062), (2, 4.30265), (4, 2.77645), (9, 2.26216), (19, 2.09302), (100, 1.98397)]
        {
            assert!((t95(dof) - expected).abs() < 1e-4, "{dof}: {}", t95(dof));
        }
        assert!((t_quantile(0.95, 10.0) - 1.81246).abs() < 1e-4);
    }

    #[test]
    fn runs_give_the_textbook_interval() {
        let ci = across_runs(&[10.0, 12.0, 14.0]).unwrap();
        // Standard error 2 / sqrt 3, t of 2 degrees 4.30265.
        assert!((ci.high - 12.0 - 4.30265 * 2.0 / 3f64.sqrt()).abs() < 1e-4);
        assert_eq!(ci.mean, 12.0);
        assert!((ci.low + ci.high - 24.0).abs() < 1e-9);
        assert_eq!(across_runs(&[1.0]), None);
    }
}
