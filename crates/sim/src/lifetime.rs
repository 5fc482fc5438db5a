//! How many program/erase cycles blocks live under an erase scheme: blocks alone, without a workload.
//!
//! A block lives until its raw bit errors at the stated retention pass what is required. The errors are those
//! that its wear is expected to cause, which grow faster in one block than in another, and those that its last
//! erase has left.

use serde::Serialize;
use tailcut_core::address::BlockId;
use tailcut_core::flash::erase::{Eraser, Known, MOST_WEAR};
use tailcut_core::nand::erase::chip::Nature;
use tailcut_units::Stream;

/// Blocks that are aged.
pub const BLOCKS: u32 = 2000;
/// Cycles that are lived alike: each erase of so many is the same.
const ALIKE: u32 = 4;
/// A block that lives longer than this has no end.
const LONGEST: u32 = 200_000;

/// The lives of blocks under a scheme.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Lifetime {
    /// Blocks that were aged.
    pub blocks: u32,
    /// Mean number of program/erase cycles at the end of a block's life.
    pub mean: f64,
    /// The cycles after which one block in a hundred has ended.
    pub first_percent: u32,
    /// The first end.
    pub first: u32,
    /// The last end.
    pub last: u32,
    /// Blocks that have not ended after the most cycles that are tried.
    pub endless: u32,
    /// Mean pulse time of an erase over the lives, ns.
    pub pulse_ns: f64,
    /// Share of erases that left fail bits.
    pub incomplete: f64,
}

/// The end of one block's life.
struct End {
    cycles: u32,
    steps: u64,
    incomplete: u64,
}

/// Age blocks until their errors are more than `requirement` bits of a KiB. `spread`: the standard deviation
/// of the growth of the errors from block to block, as a share of its mean.
pub fn lifetime(eraser: &Eraser, requirement: u32, spread: f64, seed: u64) -> Lifetime {
    let of_block = |block: u32| {
        let nature = eraser.chip().nature(BlockId(block));
        // A growth below a fifth of the mean is none that a chip has.
        let growth = (1.0 + spread * normal(seed, block)).max(0.2);
        end_of(eraser, &nature, requirement, growth)
    };
    let ends: Vec<End> = (0..BLOCKS).map(of_block).collect();
    let mut cycles: Vec<u32> = ends.iter().map(|end| end.cycles).collect();
    cycles.sort_unstable();
    let all: u64 = cycles.iter().map(|&n| u64::from(n)).sum();
    let erases = all.max(1) as f64;
    Lifetime {
        blocks: BLOCKS,
        mean: all as f64 / f64::from(BLOCKS),
        first_percent: cycles[BLOCKS as usize / 100 - 1],
        first: cycles[0],
        last: cycles[BLOCKS as usize - 1],
        endless: cycles.iter().filter(|&&n| n >= LONGEST).count() as u32,
        pulse_ns: ends.iter().map(|end| end.steps).sum::<u64>() as f64 * eraser.chip().step_ns as f64
            / erases,
        incomplete: ends.iter().map(|end| end.incomplete).sum::<u64>() as f64 / erases,
    }
}

/// A normal deviate of a block: the sum of twelve uniform ones, less six.
fn normal(seed: u64, block: u32) -> f64 {
    let mut s = Stream::new(seed, "lifetime errors", u64::from(block));
    (0..12).map(|_| s.unit()).sum::<f64>() - 6.0
}

fn end_of(eraser: &Eraser, nature: &Nature, requirement: u32, growth: f64) -> End {
    let chip = eraser.chip();
    let fresh = f64::from(chip.expected_errors(0));
    let mut known: Known = eraser.lived(nature, 0);
    let mut end = End { cycles: 0, steps: 0, incomplete: 0 };
    while end.cycles < LONGEST {
        let plan = eraser.plan(nature, &known);
        let after = eraser.after(nature, &known, &plan);
        let residual = f64::from(chip.residual_errors(chip.fail_bits(nature, plan.left, None)));
        let worn = growth * (f64::from(chip.expected_errors(after.wear)) - fresh);
        if fresh + worn + residual > f64::from(16 * requirement) {
            break;
        }
        end.cycles += ALIKE;
        end.steps += u64::from(ALIKE * plan.steps());
        end.incomplete += if plan.left > 0 { u64::from(ALIKE) } else { 0 };
        known = Known {
            cycles: end.cycles,
            wear: known.wear.saturating_add(ALIKE.saturating_mul(after.wear - known.wear)).min(MOST_WEAR),
            pulses: u32::from(after.pulses),
            shallow: after.shallow,
        };
    }
    end
}
