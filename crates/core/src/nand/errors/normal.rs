//! The normal distribution: its quantiles as a table, and its tail.

/// Number of quantiles in the table.
pub const QUANTILES: usize = 4096;

/// The probability that a standard normal variable is above `x`.
pub fn above(x: f64) -> f64 {
    0.5 * libm::erfc(x / std::f64::consts::SQRT_2)
}

/// The value that a standard normal variable exceeds with probability `p`, 0 < `p` <= 0.5. Newton's method starts at
/// `from`, which is at least 0 and not above the result. The density falls there, so that no step overshoots.
fn upper_quantile(p: f64, from: f64) -> f64 {
    let mut z = from;
    for _ in 0..60 {
        let density = libm::exp(-z * z / 2.0) / libm::sqrt(2.0 * std::f64::consts::PI);
        let step = (above(z) - p) / density;
        z += step;
        if step.abs() < 1e-12 {
            break;
        }
    }
    z
}

/// The quantiles at the middles of [`QUANTILES`] equal parts, scaled so that their variance is 1.
pub fn quantiles() -> Vec<f64> {
    let n = QUANTILES as f64;
    let mut z = 0.0;
    let upper: Vec<f64> = (0..QUANTILES / 2)
        .map(|i| {
            z = upper_quantile(0.5 - (i as f64 + 0.5) / n, z);
            z
        })
        .collect();
    let all: Vec<f64> = upper.iter().rev().map(|z| -z).chain(upper.iter().copied()).collect();
    let scale = libm::sqrt(n / all.iter().map(|z| z * z).sum::<f64>());
    all.iter().map(|z| z * scale).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_values() {
        for (p, z) in [(0.5, 0.0), (0.025, 1.959964), (0.001, 3.090232)] {
            assert!((upper_quantile(p, 0.0) - z).abs() < 1e-5, "{p}");
            assert!((above(z) - p).abs() < 1e-6, "{p}");
        }
        let all = quantiles();
        assert!(all.len() == QUANTILES && all.is_sorted());
        let variance = all.iter().map(|z| z * z).sum::<f64>() / QUANTILES as f64;
        assert!((variance - 1.0).abs() < 1e-9 && all.iter().sum::<f64>().abs() < 1e-9);
    }
}
