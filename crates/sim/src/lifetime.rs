//! The lifetime of blocks under an erase scheme, in program/erase cycles: blocks alone, without a workload.
//!
//! The life of a block ends when its raw bit errors at the stated retention exceed the requirement. The errors are
//! those expected from its wear, whose growth differs between blocks, and those that come from an incomplete last
//! erase.

use serde::Serialize;
use tailcut_core::address::BlockId;
use tailcut_core::array::eraser::{Eraser, Known, MOST_WEAR};
use tailcut_core::nand::erase::chip::Nature;

/// Blocks that are aged.
pub const BLOCKS: u32 = 2000;
/// Length of a step of the simulation in cycles: all erases of a step are taken to be equal.
const ALIKE: u32 = 4;
/// Largest number of cycles that is simulated. A block that lives longer counts as endless.
pub const LONGEST: u32 = 40_000;

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
    /// Blocks whose life has not ended after [`LONGEST`] cycles.
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

/// Age blocks until their errors are more than `requirement` bits of a KiB. There is no host whose writes wait:
/// a scheme that chooses the voltage by their load takes the lower one in every erase.
pub fn lifetime(eraser: &Eraser, requirement: u32) -> Lifetime {
    lifetime_unless(eraser, requirement, &|| false).expect("nothing stops it")
}

/// As [`lifetime`]; `None` once `stopped` returns true, which is asked before each block.
pub fn lifetime_unless(eraser: &Eraser, requirement: u32, stopped: &dyn Fn() -> bool) -> Option<Lifetime> {
    let of_block =
        |block| (!stopped()).then(|| end_of(eraser, &eraser.chip().nature(BlockId(block)), requirement));
    let ends: Vec<End> = (0..BLOCKS).map(of_block).collect::<Option<_>>()?;
    Some(lives_of(eraser, &ends))
}

/// Summarise the ends of all blocks.
fn lives_of(eraser: &Eraser, ends: &[End]) -> Lifetime {
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

fn end_of(eraser: &Eraser, nature: &Nature, requirement: u32) -> End {
    let mut known: Known = eraser.lived(nature, 0);
    let mut end = End { cycles: 0, steps: 0, incomplete: 0 };
    let per_erase = eraser.cycles_per_erase();
    while end.cycles < LONGEST {
        let plan = eraser.plan(nature, &known);
        let after = eraser.after(nature, &known, &plan);
        if eraser.chip().errors(nature, after.wear, plan.left) > 16 * requirement {
            break;
        }
        end.cycles += ALIKE * per_erase;
        end.steps += u64::from(ALIKE * plan.steps());
        end.incomplete += if plan.left > 0 { u64::from(ALIKE) } else { 0 };
        known = Known {
            cycles: end.cycles,
            wear: known.wear.saturating_add(ALIKE.saturating_mul(after.wear - known.wear)).min(MOST_WEAR),
            pulses: u32::from(after.pulses),
            shallow: after.shallow,
            left: u32::from(after.left),
            full_voltage: false,
        };
    }
    end
}
