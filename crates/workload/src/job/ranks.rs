//! Skewed draws over `0..count`, each in constant time and memory.
//!
//! All transcendental functions are from `libm`, which gives the same bits on every
//! machine.

use tailcut_units::Stream;

/// Zipf: rank `k` (from 0) has the weight `1 / (k + 1)^exponent`.
///
/// Rejection-inversion after Hörmann and Derflinger, "Rejection-inversion to generate
/// variates from monotone discrete distributions" (ACM TOMACS 1996). The hat is the
/// integral of `x^-exponent`, inverted in closed form. Common exponents need fewer than
/// 1.1 tries on average. There is no table and no zeta sum, so opening takes the same
/// time for any range.
#[derive(Clone, Debug)]
pub(super) struct Zipf {
    count: f64,
    exponent: f64,
    first: f64,
    last: f64,
    /// A draw closer to its rank than this is accepted without further arithmetic.
    squeeze: f64,
}

impl Zipf {
    pub fn new(count: u64, exponent: f64) -> Zipf {
        let mut zipf = Zipf { count: count as f64, exponent, first: 0.0, last: 0.0, squeeze: 0.0 };
        zipf.first = zipf.area(1.5) - 1.0;
        zipf.last = zipf.area(count as f64 + 0.5);
        zipf.squeeze = 2.0 - zipf.inverse(zipf.area(2.5) - zipf.weight(2.0));
        zipf
    }

    /// Draw a rank, from 0.
    pub fn draw(&self, stream: &mut Stream) -> u64 {
        loop {
            let u = self.last + stream.unit() * (self.first - self.last);
            let x = self.inverse(u);
            let rank = libm::floor(x + 0.5).clamp(1.0, self.count);
            if rank - x <= self.squeeze || u >= self.area(rank + 0.5) - self.weight(rank) {
                return rank as u64 - 1;
            }
        }
    }

    fn weight(&self, x: f64) -> f64 {
        libm::exp(-self.exponent * libm::log(x))
    }

    /// The integral of the weight from 1 to x: `(x^(1-e) - 1) / (1 - e)`, also at e = 1.
    fn area(&self, x: f64) -> f64 {
        let log = libm::log(x);
        let t = (1.0 - self.exponent) * log;
        let slope = if t.abs() > 1e-8 { libm::expm1(t) / t } else { 1.0 + t / 2.0 };
        slope * log
    }

    fn inverse(&self, area: f64) -> f64 {
        // Rounding may make the product less than the pole at -1.
        let t = (area * (1.0 - self.exponent)).max(-1.0);
        let slope = if t.abs() > 1e-8 { libm::log1p(t) / t } else { 1.0 - t / 2.0 };
        libm::exp(slope * area)
    }
}

/// Pareto by the 80/20 rule: a share `1 - h` of the draws falls on the first share `h` of
/// the ranks.
#[derive(Clone, Debug)]
pub(super) struct Pareto {
    count: u64,
    power: f64,
}

impl Pareto {
    pub fn new(count: u64, h: f64) -> Pareto {
        Pareto { count, power: libm::log(h) / libm::log(1.0 - h) }
    }

    /// Draw a rank, from 0.
    pub fn draw(&self, stream: &mut Stream) -> u64 {
        let share = libm::pow(stream.unit(), self.power);
        ((share * self.count as f64) as u64).min(self.count - 1)
    }
}

/// Normal around the middle of the range; a draw outside the range is repeated.
#[derive(Clone, Debug)]
pub(super) struct Normal {
    count: f64,
    deviation: f64,
    spare: Option<f64>,
}

impl Normal {
    /// `percent` is the standard deviation in percent of the range. It is at most 100, so
    /// that at least a third of the draws fall inside.
    pub fn new(count: u64, percent: f64) -> Normal {
        Normal { count: count as f64, deviation: count as f64 * percent / 100.0, spare: None }
    }

    /// Draw a position, from 0.
    pub fn draw(&mut self, stream: &mut Stream) -> u64 {
        loop {
            let z = match self.spare.take() {
                Some(z) => z,
                None => self.pair(stream),
            };
            let x = self.count / 2.0 + self.deviation * z;
            if x >= 0.0 && x < self.count {
                return x as u64;
            }
        }
    }

    /// Marsaglia's polar method: return one value and keep the other.
    fn pair(&mut self, stream: &mut Stream) -> f64 {
        loop {
            let (x, y) = (2.0 * stream.unit() - 1.0, 2.0 * stream.unit() - 1.0);
            let s = x * x + y * y;
            if s < 1.0 && s > 0.0 {
                let factor = libm::sqrt(-2.0 * libm::log(s) / s);
                self.spare = Some(y * factor);
                return x * factor;
            }
        }
    }
}
