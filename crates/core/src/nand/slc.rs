//! Blocks whose cells hold one bit: the SLC region of a drive whose other blocks hold more.
//!
//! A block in SLC mode has one page for each word line. The numbers of its pages begin after those of ordinary blocks,
//! so that the page number of an operation shows the mode of its block. An erase has the number of the first page.

use super::config::{EraseTiming, LONGEST_PULSE, ProgramErase, TimingConfig};
use super::loops::Loops;
use crate::problem::{ConfigProblem, check_time, refuse};
use serde::{Deserialize, Deserializer, Serialize};
use tailcut_units::{Span, quantity};

/// Blocks that hold one bit a cell, and take the writes of the host first.
///
/// - Read by: the region (`device::slc`)
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SlcConfig {
    /// Blocks of each plane that are the region. The host cannot use their capacity. Each has the pages of a block
    /// divided by the page types of `timing.read`. With 0 there is no region, whatever the other keys of the table say.
    ///
    /// - Range: at least 0; leaves room for the data; excludes pblk, parity, `ftl.gc.copy = "copyback"`,
    ///   `ftl.bad_blocks = "hole"`, faults and cells of one bit
    /// - Read by: the address arithmetic (`ftl::layout`), set up in `device::shape`
    pub blocks: u32,
    /// Sense time of a page of the region.
    ///
    /// - Range: 0ns to 1000s
    /// - Read by: the array times (`nand::timing`)
    #[serde(with = "quantity::time")]
    pub read: Span,
    /// Program time of a page of the region: one pulse and its verify.
    ///
    /// - Range: 0ns to 1000s
    /// - Read by: the array times (`nand::timing`)
    #[serde(with = "quantity::time")]
    pub program: Span,
    /// Erase time of a block of the region, whatever scheme erases the others.
    ///
    /// - Range: 0ns to 4s; at least `timing.erase.ramp_up`, `timing.erase.recovery` and `timing.erase.verify` together
    /// - Read by: the array times (`nand::timing`)
    #[serde(with = "quantity::time")]
    pub erase: Span,
    /// How long there must have been no host command before full blocks of the region are folded: what is valid in them
    /// is programmed into other blocks, and they are erased.
    ///
    /// - Range: 1ms to 1000s
    /// - Read by: the region (`device::slc`), set up in `device::shape`
    #[serde(with = "quantity::time")]
    pub fold_idle: Span,
    /// Share of the region's pages that are free below which its full blocks are folded at once, lane by lane.
    ///
    /// - Range: 0% to 100%
    /// - Read by: the region (`device::slc`), set up in `device::shape`
    #[serde(with = "quantity::fraction")]
    pub fold_below: f64,
}

/// Read a region. One without blocks is none: so a device takes away what its base has.
pub(crate) fn region<'de, D: Deserializer<'de>>(from: D) -> Result<Option<SlcConfig>, D::Error> {
    Ok(Option::<SlcConfig>::deserialize(from)?.filter(|slc| slc.blocks > 0))
}

impl SlcConfig {
    /// Pages of a block of the region, if others have `pages` pages.
    pub(crate) fn pages(&self, pages: u32, timing: &TimingConfig) -> u32 {
        pages / timing.read.len() as u32
    }

    /// Check the values, and that the cells can hold more than one bit.
    pub(crate) fn check(&self, timing: &TimingConfig, pages: u32) -> Result<(), ConfigProblem> {
        if self.blocks == 0 {
            return refuse("slc.blocks", "0: a region has at least one block in each plane");
        }
        let bits = timing.read.len() as u32;
        if bits < 2 {
            let problem =
                "timing.read has one page type, so that all cells hold one bit: leave the table out";
            return refuse("slc", problem);
        }
        if pages < bits {
            let problem = format!("a block of {pages} pages of {bits} types has no page with one bit a cell");
            return refuse("slc", problem);
        }
        check_time("slc.read", self.read)?;
        check_time("slc.program", self.program)?;
        if self.erase > LONGEST_PULSE {
            return refuse("slc.erase", format!("{} ns: at most 4s", self.erase.0));
        }
        check_time("slc.fold_idle", self.fold_idle)?;
        if self.fold_idle < SHORTEST_IDLE {
            return refuse("slc.fold_idle", "at least 1ms");
        }
        let others = others(&timing.erase);
        if self.erase.0 < others {
            let problem = format!(
                "{} ns is less than ramp-up, recovery and verify of one loop of timing.erase, which take {others} ns",
                self.erase.0
            );
            return refuse("slc.erase", problem);
        }
        if !(0.0..=1.0).contains(&self.fold_below) {
            return refuse("slc.fold_below", "a share from 0% to 100%");
        }
        Ok(())
    }
}

/// The shortest idle time before a fold. A shorter one would cost too many timers.
const SHORTEST_IDLE: Span = Span(1_000_000);

/// Ramp-up, recovery and verify of one loop, ns.
fn others(erase: &EraseTiming) -> u64 {
    erase.ramp_up.0.saturating_add(erase.recovery.0).saturating_add(erase.verify.0)
}

/// The array times of blocks in SLC mode, ns.
#[derive(Clone, Copy, Debug)]
pub(super) struct SlcTimes {
    pub read: u64,
    pub program: u64,
    /// Length of the pulse of a program; the rest is its verify.
    pub pulse: u64,
    /// The loops of an erase.
    pub loops: Loops,
    pub erase: u64,
}

impl SlcTimes {
    /// The times of a region, on a drive with these times.
    pub fn new(slc: &SlcConfig, timing: &TimingConfig) -> SlcTimes {
        let read = slc.read.0;
        let (program, erase) = match timing.program_erase {
            ProgramErase::Timed => (slc.program.0, slc.erase.0),
            ProgramErase::AsRead => (read, read),
            ProgramErase::Zero => (0, 0),
        };
        let pulse = program.saturating_sub(timing.program.verify.0);
        SlcTimes { read, program, pulse, loops: loops(&timing.erase, slc.erase.0), erase }
    }
}

/// The loops of an erase that takes `total` ns: as many as ordinary erases have, or one if it is too short for that.
fn loops(erase: &EraseTiming, total: u64) -> Loops {
    let others = others(erase);
    let count = if total > u64::from(erase.loops) * others { u64::from(erase.loops) } else { 1 };
    let pulses = total - count * others;
    let pulse = |i: u64| (pulses * (i + 1) / count - pulses * i / count).min(u64::from(u32::MAX)) as u32;
    Loops::of(erase).with_pulses((0..count).map(pulse))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_erase_has_the_time_asked_for() {
        let erase = |loops| EraseTiming {
            loops,
            ramp_up: Span(1),
            execution: vec![Span(6)],
            recovery: Span(1),
            verify: Span(2),
        };
        for (count, total, most) in [(3, 30, 3), (3, 31, 3), (3, 12, 1), (3, 4, 1), (1, 50, 1)] {
            let loops = loops(&erase(count), total);
            assert_eq!(loops.total(), total);
            let ends: Vec<u64> = (0..total).filter_map(|at| loops.around(at)).map(|l| l.end).collect();
            let distinct: std::collections::BTreeSet<u64> = ends.into_iter().collect();
            assert_eq!(distinct.len(), most, "{count} loops, {total} ns");
        }
    }
}
