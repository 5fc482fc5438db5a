//! The variation between pages: tables of lognormal factors.

use super::config::ErrorsConfig;
use super::normal::QUANTILES;
use tailcut_units::random::mix;

/// One as a factor of a spread.
pub const FACTOR_SHIFT: u32 = 16;
/// The largest factor of a page and of its shift. Its product with the largest rate is below 2^64.
pub const MOST_FACTOR: u64 = 1 << 24;

/// A table of factors by draw, unless all are 1.
#[derive(Clone, Debug)]
pub struct Spread(Option<Box<[u32; QUANTILES]>>);

impl Spread {
    /// Lognormal factors with this standard deviation of the logarithm; no table if it is 0.
    pub fn new(deviation: f64, normal: &[f64]) -> Spread {
        if deviation == 0.0 {
            return Spread(None);
        }
        let all: Vec<f64> = normal.iter().map(|z| libm::exp(deviation * z)).collect();
        let mean = all.iter().sum::<f64>() / all.len() as f64;
        let scale = f64::from(1u32 << FACTOR_SHIFT) / mean;
        Spread(Some(Box::new(std::array::from_fn(|i| libm::round(all[i] * scale) as u32))))
    }

    /// Factors of the excess at the default V_REF that come from a lognormal spread of the optimum. `deviation` is the
    /// standard deviation of the logarithm of the optimum's distance. The excess grows with the square of the distance.
    /// (The median of the factors is 1, not the mean, so that half of the pages are above the model and half below.)
    pub fn of_shift(deviation: f64, normal: &[f64]) -> Spread {
        if deviation == 0.0 {
            return Spread(None);
        }
        let factor = |z: f64| libm::round(libm::exp(2.0 * deviation * z) * f64::from(1u32 << FACTOR_SHIFT));
        Spread(Some(Box::new(std::array::from_fn(|i| factor(normal[i]).min(MOST_FACTOR as f64) as u32))))
    }

    /// The largest factor.
    pub fn most(&self) -> u64 {
        let most = self.0.as_ref().and_then(|factors| factors.iter().max().copied());
        most.unwrap_or(1 << FACTOR_SHIFT).into()
    }

    #[inline]
    pub fn times(&self, rate: u64, draw: u64) -> u64 {
        match &self.0 {
            Some(factors) => (rate * u64::from(factors[draw as usize % QUANTILES])) >> FACTOR_SHIFT,
            None => rate,
        }
    }
}

/// The spread of the optimum V_REF over the pages of a block.
pub struct Shifts {
    /// Number of page types, which use different read boundaries.
    pub boundaries: u32,
    /// Number of pages of a layer.
    pub layer_pages: u32,
}

impl Shifts {
    /// By page: the factor of its excess at the default V_REF. Empty if the optimum has no such spread.
    pub fn by_page(&self, c: &ErrorsConfig, pages: u32, normal: &[f64], key: u64) -> Vec<u32> {
        let all = [c.shift_block_spread, c.shift_layer_spread, c.shift_boundary_spread];
        if all.iter().all(|&spread| spread == 0.0) {
            return Vec::new();
        }
        let [layers, boundaries] = [all[1], all[2]].map(|spread| Spread::of_shift(spread, normal));
        let factor = |page: u32| {
            let layer = mix(key ^ u64::from(page / self.layer_pages));
            let boundary = mix(key ^ (1 << 32 | u64::from(page % self.boundaries)));
            boundaries.times(layers.times(1 << FACTOR_SHIFT, layer), boundary).min(MOST_FACTOR) as u32
        };
        (0..pages).map(factor).collect()
    }
}
