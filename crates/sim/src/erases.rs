//! The erases of blocks alone, without a workload: how long they are after a number of program/erase cycles.

use serde::Serialize;
use tailcut_core::address::BlockId;
use tailcut_core::array::eraser::Eraser;
use tailcut_core::nand::erase::requirement::Row;
use tailcut_core::nand::loops::MOST_LOOPS;

/// Blocks that are erased, each once.
pub const BLOCKS: u32 = 20_000;

/// The erases of blocks of one age.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Erases {
    /// Mean pulse time, ns.
    pub pulse_ns: f64,
    /// Mean number of pulses.
    pub pulses: f64,
    /// Share of the blocks that took 0, 1, … pulses.
    pub by_pulses: [f64; MOST_LOOPS + 1],
    /// Share of the blocks in which fail bits were left.
    pub incomplete: f64,
    /// The largest difference of the shares of the blocks up to any pulse time from those of the scheme's row
    /// of requirements (Kolmogorov-Smirnov); `None` without a row of this age.
    pub distance: Option<f64>,
}

/// Erase blocks that only this scheme has erased, after `cycles` cycles. `rows` are the requirements of the
/// configuration.
pub fn erases(eraser: &Eraser, rows: &[Row], cycles: u32) -> Erases {
    let mut totals = Vec::with_capacity(BLOCKS as usize);
    let (mut by_pulses, mut left) = ([0; MOST_LOOPS + 1], 0);
    for block in 0..BLOCKS {
        let nature = eraser.chip().nature(BlockId(block));
        let plan = eraser.plan(&nature, &eraser.lived(&nature, cycles));
        totals.push(u64::from(plan.steps()) * eraser.chip().step_ns);
        by_pulses[plan.pulses().len()] += 1;
        left += u32::from(plan.left > 0);
    }
    let share = |n: u32| f64::from(n) / f64::from(BLOCKS);
    let row = rows.iter().find(|row| row.scheme == eraser.rows() && row.pe_cycles == cycles);
    let pulses: f64 = (0..).zip(&by_pulses).map(|(n, &blocks)| f64::from(n) * share(blocks)).sum();
    Erases {
        pulse_ns: totals.iter().sum::<u64>() as f64 / f64::from(BLOCKS),
        pulses,
        by_pulses: by_pulses.map(share),
        incomplete: share(left),
        distance: row.map(|row| distance(&mut totals, row)),
    }
}

/// The largest difference between the distribution of the totals (ns) and that of a row.
fn distance(totals: &mut [u64], row: &Row) -> f64 {
    totals.sort_unstable();
    let up_to = |ns: u64| totals.partition_point(|&total| total <= ns) as f64 / totals.len() as f64;
    let (mut wanted, mut before, mut most) = (0.0, 0, 0.0f64);
    for &(total, hundredths) in &row.totals {
        // The row has nothing between its totals.
        let between = up_to(total.0.saturating_sub(1)).max(up_to(before));
        most = most.max((between - wanted).abs());
        wanted += f64::from(hundredths) / 10_000.0;
        most = most.max((up_to(total.0) - wanted).abs());
        before = total.0;
    }
    most
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_distance_is_the_largest_difference_of_the_shares() {
        let row: Row = "a 0: 2ms 50, 3ms 50".parse().expect("a row");
        let of = |totals: &[u64]| distance(&mut totals.iter().map(|n| n * 500_000).collect::<Vec<_>>(), &row);
        assert_eq!(of(&[4, 4, 6, 6]), 0.0);
        assert_eq!((of(&[4, 4, 4, 6]), of(&[6, 6, 6, 6])), (0.25, 0.5));
        // Three quarters end before 3 ms, where the row has a half.
        assert_eq!((of(&[4, 4, 5, 6]), of(&[3, 3, 3, 3]), of(&[9, 9, 9, 9])), (0.25, 1.0, 1.0));
    }
}
