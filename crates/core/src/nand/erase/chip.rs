//! The model of the array under erase pulses: the fail bits that a verify counts, the stress that a pulse puts on a
//! block, and the raw bit errors that follow.
//!
//! The fail bits fall linearly with the remaining pulse time: by `delta` per step, down to at most `gamma` when one
//! step remains (AERO, ASPLOS'24). All variation between blocks is a function of the seed and the block, so that all
//! schemes see the same blocks.

use super::config::EraseConfig;
use super::requirement::CLASSES;
use crate::address::BlockId;
use tailcut_units::Stream;
use tailcut_units::random::mix;

/// The properties of a block that come from process variation and never change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Nature {
    /// Quantile of the required pulse time among all blocks (0 to `CLASSES` − 1).
    pub class: u32,
    /// The point between two rows of requirements, in 1/65,536, at which the block changes from one row's pulse time to
    /// the other's.
    pub turn: u32,
    /// The point within its last step, in 1/65,536, at which the block is erased.
    cell: u32,
    /// Growth of its errors relative to the mean, in 1/65,536.
    growth: u32,
    key: u64,
}

/// The constants of the array.
#[derive(Clone, Debug)]
pub struct Chip {
    /// Length of a step, ns.
    pub step_ns: u64,
    /// Steps of the longest pulse at one level.
    pub steps_per_level: u32,
    /// Voltage levels.
    pub levels: u32,
    gamma: u32,
    delta: u32,
    pass: u32,
    noise: u32,
    /// Draws below this value are mispredicted erases, which need one step more.
    mispredicted: u64,
    /// Stress of one step, by level from 1: `[needed, over-erase]` at the scheme's voltage, and below at the voltage of
    /// full pulses.
    weights: Vec<[u64; 2]>,
    full_weights: Vec<[u64; 2]>,
    errors: Errors,
    residual_errors: u32,
    key: u64,
}

/// The expected errors of a block by its wear.
#[derive(Clone, Debug)]
struct Errors {
    fresh: f64,
    growth: f64,
    /// Standard deviation of the growth from block to block, of 65,536.
    spread: i64,
}

/// A nearly normal deviate of standard deviation 65,536 / sqrt(3): the sum of four uniform draws.
fn deviate(draw: u64) -> i64 {
    (0..4).map(|i| (draw >> (16 * i) & 0xFFFF) as i64).sum::<i64>() - 131_070
}

/// 65,536 / sqrt(3).
const DEVIATION: i64 = 37_837;

/// The wear of a program/erase cycle of full pulses.
pub const CYCLE: u32 = 1024;

impl Chip {
    /// Create the model for a checked configuration. `voltage` is the scheme's voltage relative to that of full pulses.
    pub fn new(c: &EraseConfig, voltage: f64, seed: u64) -> Chip {
        let weight = |level: u32, voltage: f64, over: f64| {
            let field = libm::pow(f64::from(level) * voltage, c.stress_exponent);
            libm::round(4096.0 * over * field).max(1.0) as u64
        };
        let of = |level, voltage| [weight(level, voltage, 1.0), weight(level, voltage, c.over_erase_stress)];
        let weights = |voltage: f64| (0..=c.levels).map(|level| of(level, voltage)).collect();
        let fresh = f64::from(c.fresh_errors);
        Chip {
            step_ns: c.step.0,
            steps_per_level: c.steps_per_level(),
            levels: c.levels,
            gamma: c.gamma,
            delta: c.delta,
            pass: c.pass,
            noise: c.noise,
            mispredicted: libm::round(c.misprediction * 4_294_967_296.0) as u64,
            weights: weights(voltage),
            full_weights: weights(1.0),
            errors: Errors {
                fresh,
                growth: (f64::from(c.worn_errors) - fresh) / (f64::from(c.worn_cycles) * f64::from(CYCLE)),
                spread: libm::round(65_536.0 * c.error_spread) as i64,
            },
            residual_errors: c.residual_errors,
            key: Stream::new(seed, "erase blocks", 0).next_u64(),
        }
    }

    /// The properties of a block that come from process variation and never change.
    #[inline]
    pub fn nature(&self, block: BlockId) -> Nature {
        let key = mix(self.key ^ u64::from(block.0).wrapping_mul(0x9E37_79B9_7F4A_7C15));
        let class = ((key >> 32) * u64::from(CLASSES)) >> 32;
        // No chip has a growth below a fifth of the mean.
        let growth = 65_536 + deviate(mix(key ^ 0x3C)) * self.errors.spread / DEVIATION;
        Nature {
            class: class as u32,
            turn: key as u32 & 0xFFFF,
            cell: (key >> 16) as u32 & 0xFFFF,
            growth: growth.max(13_107) as u32,
            key,
        }
    }

    /// A block with mean properties in a class.
    pub fn typical(&self, class: u32) -> Nature {
        Nature { class, turn: 0x8000, cell: 0x8000, growth: 65_536, key: self.key }
    }

    /// Whether an erase is mispredicted: it needs one step more than its fail bits show.
    pub fn is_mispredicted(&self, nature: &Nature, cycle: u32) -> bool {
        self.mispredicted > 0 && mix(nature.key ^ u64::from(cycle) << 32 ^ 0xA5) >> 32 < self.mispredicted
    }

    /// The fail bits of a block that needs `left` more steps. `pulse` gives the cycle and the number of the pulse
    /// before the verify, for the draw of the noise; `None` means no noise.
    pub fn fail_bits(&self, nature: &Nature, left: u32, pulse: Option<(u32, u32)>) -> u32 {
        if left == 0 {
            return self.pass;
        }
        let part = u64::from(0x1_0000 - nature.cell);
        let exact = match left {
            1 => u64::from(self.pass) + 1 + ((u64::from(self.gamma - self.pass - 1) * part) >> 16),
            _ => {
                u64::from(self.gamma)
                    + u64::from(self.delta) * u64::from(left - 2)
                    + ((u64::from(self.delta) * part) >> 16).max(1)
            }
        };
        let Some((cycle, number)) = pulse.filter(|_| self.noise > 0) else { return exact as u32 };
        let draw = mix(nature.key ^ u64::from(cycle) << 8 ^ u64::from(number) << 56 ^ 0x5A);
        let noise = deviate(draw) * i64::from(self.noise) / DEVIATION;
        (exact as i64 + noise).max(i64::from(self.pass) + 1) as u32
    }

    /// Whether a verify that counts `fail_bits` passes.
    #[inline]
    pub fn passes(&self, fail_bits: u32) -> bool {
        fail_bits <= self.pass
    }

    /// The stress of a pulse with `needed` steps that the block needs and `over` steps of over-erase, at the scheme's
    /// voltage or at that of full pulses.
    #[inline]
    pub fn stress(&self, full_voltage: bool, level: u32, needed: u32, over: u32) -> u64 {
        let weights = if full_voltage { &self.full_weights } else { &self.weights };
        let [of_needed, of_over] = weights[level as usize];
        of_needed * u64::from(needed) + of_over * u64::from(over)
    }

    /// The stress of an erase with full pulses, level by level. The verify passes after `steps` steps; the block is
    /// erased after `needed`.
    pub fn full_stress(&self, steps: u32, needed: u32) -> u64 {
        let pulses = steps.div_ceil(self.steps_per_level).min(self.levels);
        let mut left = needed;
        let pulse = |level: u32| {
            let needed = left.min(self.steps_per_level);
            left -= needed;
            self.stress(true, level, needed, self.steps_per_level - needed)
        };
        (1..=pulses).map(pulse).sum()
    }

    /// Expected raw bit errors per KiB, in 1/16, of a block with this wear at the stated retention.
    pub fn expected_errors(&self, wear: u32) -> u32 {
        libm::round(16.0 * (self.errors.fresh + self.errors.growth * f64::from(wear))) as u32
    }

    /// Raw bit errors per KiB, in 1/16, of one block with its own growth. The errors that its last erase has left,
    /// which was incomplete by `left` steps, are included.
    pub fn errors(&self, nature: &Nature, wear: u32, left: u32) -> u32 {
        let fresh = self.expected_errors(0);
        let grown = (u64::from(self.expected_errors(wear) - fresh) * u64::from(nature.growth)) >> 16;
        let residual = self.residual_errors(self.fail_bits(nature, left, None));
        let all = u64::from(fresh) + grown + u64::from(residual);
        u32::try_from(all).unwrap_or(u32::MAX)
    }

    /// Raw bit errors per KiB, in 1/16, that an incomplete erase adds if it ended with `fail_bits`.
    pub fn residual_errors(&self, fail_bits: u32) -> u32 {
        if self.passes(fail_bits) {
            return 0;
        }
        let errors = u64::from(fail_bits) * 16 * u64::from(self.residual_errors) / u64::from(self.delta);
        u32::try_from(errors).unwrap_or(u32::MAX)
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::nand::erase::config::Reading;
    use tailcut_units::Span;

    /// A small configuration with rows for three schemes.
    pub(crate) fn config() -> EraseConfig {
        let rows = [
            "ispe 0: 3.5ms 100",
            "ispe 1000: 3.5ms 50, 7ms 50",
            "aero-cons 0: 2ms 60, 3.5ms 40",
            "aero-cons 1000: 2ms 20, 3ms 40, 4.5ms 40",
            "aero 0: 1.5ms 60, 3ms 40",
            "aero 1000: 2ms 60, 4ms 40",
        ];
        EraseConfig {
            step: Span(500_000),
            pulse: Span(3_500_000),
            levels: 5,
            gamma: 500,
            delta: 5000,
            high: 25_500,
            pass: 100,
            noise: 0,
            misprediction: 0.0,
            reading: Reading::Cycles,
            stress_exponent: 1.0,
            over_erase_stress: 2.0,
            cycles_per_erase: 1,
            defer_last_loop: false,
            fresh_errors: 20,
            worn_errors: 63,
            worn_cycles: 5300,
            error_spread: 0.1,
            residual_errors: 10,
            rows: rows.map(|row| row.parse().expect("a row")).to_vec(),
        }
    }

    #[test]
    fn fail_bits_fall_by_delta_a_step_and_end_below_gamma() {
        let chip = Chip::new(&config(), 1.0, 1);
        for block in 0..500 {
            let nature = chip.nature(BlockId(block));
            let at = |left| chip.fail_bits(&nature, left, None);
            assert!(chip.passes(at(0)) && !chip.passes(at(1)) && at(1) <= 500);
            for left in 2..30 {
                assert!(at(left) > 500 + 5000 * (left - 2) && at(left) <= 500 + 5000 * (left - 1), "{left}");
                assert_eq!(at(left + 1) - at(left), 5000);
            }
        }
    }

    #[test]
    fn noise_has_its_deviation_and_never_lets_a_block_pass() {
        let chip = Chip::new(&EraseConfig { noise: 300, ..config() }, 1.0, 1);
        let nature = chip.nature(BlockId(3));
        let exact = f64::from(chip.fail_bits(&nature, 4, None));
        let off: Vec<f64> = (0..20_000)
            .map(|n| f64::from(chip.fail_bits(&nature, 4, Some((n / 4, n % 4)))) - exact)
            .collect();
        let mean = off.iter().sum::<f64>() / 20_000.0;
        let deviation = libm::sqrt(off.iter().map(|x| x * x).sum::<f64>() / 20_000.0);
        assert!(mean.abs() < 9.0 && (290.0..310.0).contains(&deviation), "{mean} {deviation}");
        assert!((0..20_000).all(|n| !chip.passes(chip.fail_bits(&nature, 1, Some((n, 0))))));
    }

    #[test]
    fn errors_grow_faster_in_one_block_than_in_another() {
        let chip = Chip::new(&config(), 1.0, 1);
        let errors = |block: u32| chip.errors(&chip.nature(BlockId(block)), 5300 * CYCLE, 0);
        let off: Vec<f64> = (0..20_000).map(|block| f64::from(errors(block)) - 63.0 * 16.0).collect();
        let mean = off.iter().sum::<f64>() / 20_000.0;
        let deviation = libm::sqrt(off.iter().map(|x| x * x).sum::<f64>() / 20_000.0);
        // A tenth of the 43 bits that have grown.
        assert!(mean.abs() < 3.0 && (67.0..71.0).contains(&deviation), "{mean} {deviation}");
        let nature = chip.nature(BlockId(5));
        assert_eq!(chip.errors(&nature, 0, 0), 320);
        let residual = chip.residual_errors(chip.fail_bits(&nature, 2, None));
        assert!(residual > 0 && chip.errors(&nature, 0, 2) == 320 + residual);
    }

    #[test]
    fn classes_are_even_and_stress_grows_with_the_level() {
        let chip = Chip::new(&config(), 1.0, 7);
        let mut count = vec![0; CLASSES as usize];
        (0..20_000).for_each(|block| count[chip.nature(BlockId(block)).class as usize] += 1);
        // Each has 100: Poisson.
        assert!(count.iter().all(|n| (55..150).contains(n)), "{count:?}");
        assert_eq!((chip.stress(false, 1, 7, 0), chip.stress(true, 3, 5, 2)), (7 * 4096, 27 * 4096));
        let full = |steps, needed| chip.full_stress(steps, needed) / 4096;
        assert_eq!((full(7, 7), full(10, 14), full(14, 9)), (7, 7 + 2 * 7, 7 + 2 * (2 + 2 * 5)));
        assert_eq!(full(14, 5), 5 + 2 * 2 + 2 * 2 * 7, "the second pulse is not needed");
        assert_eq!((chip.expected_errors(0), chip.expected_errors(5300 * CYCLE)), (320, 63 * 16));
        assert_eq!((chip.residual_errors(100), chip.residual_errors(5500)), (0, 176));
    }
}
