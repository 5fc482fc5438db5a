//! The normal distribution: its quantiles as a table, and its tail.

/// Number of quantiles in the table.
pub const QUANTILES: usize = 4096;

/// The probability that a standard normal variable is above `x`.
pub fn above(x: f64) -> f64 {
    0.5 * libm::erfc(x / std::f64::consts::SQRT_2)
}

/// The value below which a standard normal variable is with probability `p`, 0 < `p` < 1. (Halves an
/// interval: it is called when a drive is built only.)
pub fn quantile(p: f64) -> f64 {
    let (mut low, mut high) = (-10.0, 10.0);
    for _ in 0..60 {
        let middle = (low + high) / 2.0;
        if above(-middle) < p { low = middle } else { high = middle }
    }
    (low + high) / 2.0
}

/// The quantiles at the middles of [`QUANTILES`] equal parts, scaled so that their variance is 1.
pub fn quantiles() -> Vec<f64> {
    let n = QUANTILES as f64;
    let all: Vec<f64> = (0..QUANTILES).map(|i| quantile((i as f64 + 0.5) / n)).collect();
    let scale = libm::sqrt(n / all.iter().map(|z| z * z).sum::<f64>());
    all.iter().map(|z| z * scale).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_values() {
        for (p, z) in [(0.5, 0.0), (0.975, 1.959964), (0.001, -3.090232)] {
            assert!((quantile(p) - z).abs() < 1e-5, "{p}");
            assert!((above(z) - (1.0 - p)).abs() < 1e-6, "{p}");
        }
    }
}
