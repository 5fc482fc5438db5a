//! The valid units of a lane's extents in the steady state under uniform overwrites, from mean-field
//! theory.

use crate::policy::gc_victim::VictimRule;
use tailcut_units::Stream;

/// Largest number of levels of the valid share. An extent with more units than this has less spread than the levels
/// give; the overwrites that follow correct the difference.
const LEVELS_MAX: u32 = 1024;

/// The steady state of lanes with one share of valid units.
#[derive(Clone, Debug)]
pub(super) enum Steady {
    /// By level, from 0: the share of extents with at least this many valid units.
    AtLeast(Vec<f64>),
    /// By age of the extent, where the oldest has age 1: it has lost the share `1 - exp(-rate * age)` of its units.
    ByAge { rate: f64 },
}

impl Steady {
    /// The steady state of extents with `units` units, of which the share `valid` is valid on average.
    pub fn new(rule: VictimRule, units: u32, valid: f64) -> Steady {
        let draws = match rule {
            VictimRule::Age => {
                // The mean of exp(-rate * age) over the ages is (1 - exp(-rate)) / rate.
                let mean = |rate: f64| -libm::expm1(-rate) / rate;
                return Steady::ByAge { rate: solve(1e-9, 1e9, |rate| mean(rate) > valid) };
            }
            VictimRule::FewestOf(draws) => Some(draws),
            VictimRule::FewestOfAll => None,
        };
        let levels = units.min(LEVELS_MAX);
        let mut at_least = vec![0.0; levels as usize + 1];
        // The mean of the valid share grows with the rate of collections.
        let rate = solve(1e-9, 1e9, |rate| at_rate(&mut at_least, draws, rate) < valid);
        at_rate(&mut at_least, draws, rate);
        Steady::AtLeast(at_least)
    }

    /// The numbers of valid units of `count` extents with `units` units, from the oldest to the youngest. Their sum is
    /// `total`, which must fit.
    pub fn counts(&self, count: u32, units: u32, total: u32, stream: &mut Stream) -> Vec<u32> {
        let shift = stream.unit();
        let mut level = 0;
        let counts = (0..count).map(|i| {
            let rank = (f64::from(i) + shift) / f64::from(count);
            match self {
                Steady::AtLeast(at_least) => {
                    let last = at_least.len() - 1;
                    while level < last && 1.0 - at_least[level + 1] <= rank {
                        level += 1;
                    }
                    libm::round(level as f64 * f64::from(units) / last as f64) as u32
                }
                Steady::ByAge { rate } => {
                    let share = libm::exp(-rate * (1.0 - rank));
                    let spread = libm::sqrt(f64::from(units) * share * (1.0 - share));
                    let valid = f64::from(units) * share + spread * normal(stream);
                    libm::round(valid.clamp(0.0, f64::from(units))) as u32
                }
            }
        });
        let mut counts: Vec<u32> = counts.collect();
        adjust(&mut counts, units, total);
        counts
    }
}

/// Fill in `at_least`: by level, the share of extents with at least as many valid units. `rate` is the number of
/// collections, for each extent of the lane, in the time in which a valid unit becomes stale. Returns the mean share of
/// valid units.
///
/// In the steady state, as many extents go from level `j` to level `j - 1` as are collected below level `j`. With
/// `draws` this means `j (q[j] - q[j + 1]) = rate (1 - q[j]^draws)`. Without draws, extents are collected only at the
/// lowest level (Van Houdt, SIGMETRICS'13).
fn at_rate(at_least: &mut [f64], draws: Option<u32>, rate: f64) -> f64 {
    let last = at_least.len() - 1;
    let (mut above, mut sum) = (0.0, 0.0);
    for level in (1..=last).rev() {
        let j = level as f64;
        let mut q = f64::min(1.0, above + rate / j);
        if let Some(draws) = draws {
            // Newton's method from above; the function is increasing and convex.
            for _ in 0..50 {
                let less = power(q, draws - 1);
                let value = j * (q - above) - rate * (1.0 - less * q);
                let step = value / (j + rate * f64::from(draws) * less);
                q -= step;
                if step < 1e-13 {
                    break;
                }
            }
            q = q.clamp(above, 1.0);
        }
        at_least[level] = q;
        (above, sum) = (q, sum + q);
    }
    at_least[0] = 1.0;
    sum / last as f64
}

/// `base` to a whole power, by squaring, which gives the same result on every machine.
fn power(base: f64, mut exponent: u32) -> f64 {
    let (mut square, mut result) = (base, 1.0);
    while exponent > 0 {
        if exponent & 1 != 0 {
            result *= square;
        }
        square *= square;
        exponent >>= 1;
    }
    result
}

/// The number between `low` and `high` at which `below` changes from true to false.
fn solve(mut low: f64, mut high: f64, mut below: impl FnMut(f64) -> bool) -> f64 {
    for _ in 0..80 {
        let middle = libm::sqrt(low * high);
        if below(middle) {
            low = middle;
        } else {
            high = middle;
        }
    }
    libm::sqrt(low * high)
}

/// A nearly normal random number with mean 0 and standard deviation 1.
fn normal(stream: &mut Stream) -> f64 {
    (0..12).map(|_| stream.unit()).sum::<f64>() - 6.0
}

/// Change the numbers by equal amounts so that their sum is `total`, within the range from 0 to `most`.
fn adjust(counts: &mut [u32], most: u32, total: u32) {
    let sum: u64 = counts.iter().map(|&count| u64::from(count)).sum();
    let (mut missing, mut extra) = (u64::from(total).saturating_sub(sum), sum.saturating_sub(total.into()));
    while missing > 0 || extra > 0 {
        let open = counts.iter().filter(|&&c| if missing > 0 { c < most } else { c > 0 }).count() as u64;
        if open == 0 {
            return;
        }
        let each = |left: u64| left.div_ceil(open) as u32;
        let (more, less) = (each(missing), each(extra));
        for count in counts.iter_mut() {
            let up = more.min(most - *count).min(missing.min(u32::MAX.into()) as u32);
            let down = less.min(*count).min(extra.min(u32::MAX.into()) as u32);
            *count = *count + up - down;
            (missing, extra) = (missing - u64::from(up), extra - u64::from(down));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const RULES: [VictimRule; 5] = [
        VictimRule::FewestOfAll,
        VictimRule::Age,
        VictimRule::FewestOf(1),
        VictimRule::FewestOf(11),
        VictimRule::FewestOf(1024),
    ];

    #[test]
    fn greedy_extents_have_a_density_of_one_by_the_valid_share() {
        // The share `valid` is (1 - least) / ln(1 / least), where `least` is the victims' share.
        let least: f64 = 0.4;
        let valid = (1.0 - least) / -libm::log(least);
        let mut stream = Stream::new(1, "test", 0);
        for rule in [VictimRule::FewestOfAll, VictimRule::Age] {
            let total = (10_000.0 * 1024.0 * valid) as u32;
            let counts = Steady::new(rule, 1024, valid).counts(10_000, 1024, total, &mut stream);
            for (i, &count) in counts.iter().enumerate() {
                let wanted = 1024.0 * libm::pow(least, 1.0 - i as f64 / 10_000.0);
                let off = (f64::from(count) - wanted).abs();
                assert!(off < 90.0, "{rule:?}: extent {i} has {count}, not {wanted}");
            }
        }
    }

    #[test]
    fn victims_at_random_have_the_mean_share() {
        // With one draw, the chance of at least a share v is 1 - v^(rate) for large extents.
        let mut stream = Stream::new(1, "test", 0);
        let counts =
            Steady::new(VictimRule::FewestOf(1), 1024, 0.75).counts(10_000, 1024, 7_680_000, &mut stream);
        for (i, &count) in counts.iter().enumerate().step_by(100).skip(1) {
            let wanted = 1024.0 * libm::pow(i as f64 / 10_000.0, 1.0 / 3.0);
            assert!((f64::from(count) - wanted).abs() < 15.0, "extent {i} has {count}, not {wanted}");
        }
    }

    proptest! {
        #[test]
        fn the_counts_fit_and_have_the_sum(
            rule in prop::sample::select(&RULES[..]),
            count in 1..200u32,
            units in 1..3000u32,
            share in 0.0..1.0f64,
            seed in any::<u64>(),
        ) {
            let total = (f64::from(count) * f64::from(units) * share) as u32;
            let mut stream = Stream::new(seed, "test", 0);
            let counts = Steady::new(rule, units, share).counts(count, units, total, &mut stream);
            prop_assert_eq!(counts.len() as u32, count);
            prop_assert!(counts.iter().all(|&c| c <= units));
            prop_assert_eq!(counts.iter().sum::<u32>(), total);
        }
    }
}
