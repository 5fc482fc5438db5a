//! The common parts of erase schemes: full pulses, and the erase-timing table of AERO, which predicts the next pulse
//! from the fail bits of the last verify (FELP).

use super::PolicyContext;
use super::erase_scheme::{BlockView, EraseContext, Pulse, VerifyView};
use serde::{Deserialize, Serialize};
use tailcut_units::Span;
use tailcut_units::quantity::format_time;

const LEFT: &str = "policy.erase_scheme.aero.left";

impl EraseContext {
    /// The constants of the array, which a scheme needs from the configuration.
    ///
    /// # Errors
    /// If the configuration does not give them.
    pub(super) fn of(x: &PolicyContext) -> Result<EraseContext, String> {
        x.erase.ok_or_else(|| "needs the table `erase`, which says how blocks erase: leave this member out, or take a device that has it (tlc-3d)".to_string())
    }

    /// A full pulse at a level, or at the last one.
    pub(super) fn full(&self, level: u32) -> Pulse {
        Pulse { level: level.min(self.levels), steps: self.steps_per_level }
    }
}

/// The table, and the pulses around it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct EraseTiming {
    /// The erase-timing table: the largest number of fail bits with which 1, 2, ... further steps erase a block. Larger
    /// numbers do not show how many steps are needed.
    table: Vec<u32>,
    /// Steps of the first pulse of a block whose flag is set.
    shallow: u32,
    /// Whether every erase begins with the short pulse.
    always_shallow: bool,
    steps_per_level: u32,
    levels: u32,
    /// Number of steps by which an erase may stay incomplete, by level from 1.
    left: Vec<u32>,
    /// By number of missing steps, from 1: the errors that they add, in 1/16.
    added_errors: Vec<u32>,
    /// Largest allowed number of errors of a block, in 1/16.
    requirement: u32,
}

impl EraseTiming {
    /// The table for a member of the family: `table` or, if that is empty, the one that follows from the slope of the
    /// fail bits.
    ///
    /// # Errors
    /// If a time or the table makes no sense; the message names it.
    pub fn new(x: &EraseContext, shallow: Span, table: &[u32], member: &str) -> Result<EraseTiming, String> {
        let key = format!("policy.erase_scheme.{member}.shallow");
        let steps = steps_of(shallow, x, &key)?;
        if steps == 0 || steps >= x.steps_per_level {
            let most = format_time(Span(u64::from(x.steps_per_level) * x.step_ns));
            return Err(format!("{key} = {}: more than 0ns, less than {most}", format_time(shallow)));
        }
        let table = if table.is_empty() { by_slope(x) } else { table.to_vec() };
        if table.len() > 255 || table.windows(2).any(|pair| pair[0] >= pair[1]) {
            return Err(format!("policy.erase_scheme.{member}.table: at most 255 numbers, which rise"));
        }
        Ok(EraseTiming {
            table,
            shallow: steps,
            always_shallow: false,
            steps_per_level: x.steps_per_level,
            levels: x.levels,
            left: vec![0; x.levels as usize + 1],
            added_errors: Vec::new(),
            requirement: 0,
        })
    }

    /// Allow erases to stay incomplete by the given number of steps (one entry for each level, from 1), as long as the
    /// block then has at most `requirement` errors.
    ///
    /// # Errors
    /// If a time makes no sense; the message names it.
    pub fn leaving(self, x: &EraseContext, left: &[Span], requirement: u32) -> Result<EraseTiming, String> {
        if left.is_empty() || left.len() > x.levels as usize {
            return Err(format!(
                "{LEFT} has {} times: give 1 to {}, one for each level",
                left.len(),
                x.levels
            ));
        }
        let mut steps = vec![0];
        for &time in left {
            let n = steps_of(time, x, LEFT)?;
            if n > x.steps_per_level || n < *steps.last().expect("there is one") {
                return Err(format!(
                    "{LEFT}: no time is longer than a whole pulse, nor shorter than the one before"
                ));
            }
            steps.push(n);
        }
        steps.resize(x.levels as usize + 1, *steps.last().expect("there is one"));
        let errors_of = |n: u32| {
            let bits = u64::from(x.gamma) + u64::from(x.delta) * u64::from(n - 1);
            let errors = bits * 16 * u64::from(x.residual_errors) / u64::from(x.delta);
            u32::try_from(errors).unwrap_or(u32::MAX)
        };
        let most = *steps.last().expect("there is one");
        let added_errors = (1..=most).map(errors_of).collect();
        Ok(EraseTiming { left: steps, added_errors, requirement: 16 * requirement, ..self })
    }

    /// Begin every erase with the short pulse.
    pub fn always_shallow(self, always_shallow: bool) -> EraseTiming {
        EraseTiming { always_shallow, ..self }
    }

    /// The first pulse: short if the block's flag is set.
    pub fn first(&self, block: &BlockView) -> Pulse {
        let short = block.shallow || self.always_shallow;
        Pulse { level: 1, steps: if short { self.shallow } else { self.steps_per_level } }
    }

    /// Number of steps that erase a block with these fail bits. If there are too many fail bits for a prediction, this
    /// is more than any pulse has.
    fn predicted(&self, fail_bits: u32) -> u32 {
        let steps = self.table.partition_point(|&most| most < fail_bits);
        if steps == self.table.len() { u32::MAX } else { 1 + steps as u32 }
    }

    /// Number of steps by which the erase of a block with these errors may stay incomplete at a level.
    pub fn may_leave(&self, level: u32, errors: u32) -> u32 {
        let allows = |added: &&u32| errors.saturating_add(**added) <= self.requirement;
        let allowed = self.added_errors.iter().take_while(allows).count() as u32;
        self.left[level as usize].min(allowed)
    }

    /// The pulse after a verify; `None` ends the erase.
    pub fn next(&self, block: &BlockView, verify: &VerifyView) -> Option<Pulse> {
        let (level, left) = match verify.left {
            0 => ((verify.level + 1).min(self.levels), self.steps_per_level),
            left => (verify.level, left),
        };
        let needed = self.predicted(verify.fail_bits);
        // The level of the last pulse counts, not that of the next one.
        let ends = self.may_leave(verify.level, block.errors);
        if needed <= ends {
            return None;
        }
        let steps = needed.saturating_sub(self.may_leave(level, block.errors)).max(1);
        Some(Pulse { level, steps: steps.min(left) })
    }

    /// Largest allowed number of errors of a block, in bits per KiB.
    pub fn requirement(&self) -> u32 {
        self.requirement / 16
    }
}

/// The table of an array whose fail bits fall by `delta` per step, down to `gamma` when one step remains. Fail bits
/// above `high` do not show how many steps are needed.
fn by_slope(x: &EraseContext) -> Vec<u32> {
    let limits = (0u64..255).map(|step| u64::from(x.gamma) + step * u64::from(x.delta));
    let mut table: Vec<u32> = limits.take_while(|&most| most < u64::from(x.high)).map(|n| n as u32).collect();
    table.push(x.high);
    table
}

fn steps_of(time: Span, x: &EraseContext, key: &str) -> Result<u32, String> {
    if !time.0.is_multiple_of(x.step_ns) {
        return Err(format!("{key}: {} is no multiple of erase.step", format_time(time)));
    }
    u32::try_from(time.0 / x.step_ns).map_err(|_| format!("{key}: {} is too long", format_time(time)))
}

#[cfg(test)]
mod tests {
    use super::*;

    const X: EraseContext = EraseContext {
        step_ns: 500_000,
        steps_per_level: 7,
        levels: 5,
        gamma: 500,
        delta: 5000,
        high: 30_500,
        residual_errors: 10,
    };
    const FRESH: BlockView = BlockView { pulses: 0, shallow: true, errors: 320 };

    fn next(
        table: &EraseTiming,
        block: &BlockView,
        level: u32,
        left: u32,
        fail_bits: u32,
    ) -> Option<(u32, u32)> {
        table.next(block, &VerifyView { level, left, fail_bits }).map(|pulse| (pulse.level, pulse.steps))
    }

    #[test]
    fn a_pulse_is_as_long_as_the_fail_bits_tell() {
        let table = EraseTiming::new(&X, Span(1_000_000), &[], "aero").expect("it makes sense");
        assert_eq!(table.first(&FRESH), Pulse { level: 1, steps: 2 });
        let tried = BlockView { shallow: false, ..FRESH };
        assert_eq!(table.first(&tried), Pulse { level: 1, steps: 7 });
        assert_eq!(table.clone().always_shallow(true).first(&tried), Pulse { level: 1, steps: 2 });
        let tables = [(101, 1), (500, 1), (501, 2), (5500, 2), (5501, 3), (20_501, 5), (900_000, 5)];
        for (fail_bits, steps) in tables {
            assert_eq!(next(&table, &FRESH, 1, 5, fail_bits), Some((1, steps)), "{fail_bits}");
        }
        assert_eq!(next(&table, &FRESH, 1, 0, 5501), Some((2, 3)), "the next level");
        assert_eq!(next(&table, &FRESH, 5, 0, 5501), Some((5, 3)), "the last level again");
        let blind = EraseTiming::new(&EraseContext { high: 5500, ..X }, Span(1_000_000), &[], "aero");
        let blind = blind.expect("it makes sense");
        assert_eq!(next(&blind, &FRESH, 1, 5, 5500), Some((1, 2)));
        assert_eq!(next(&blind, &FRESH, 2, 0, 5501), Some((3, 7)), "too many to tell");
        let own = |table: &[u32]| EraseTiming::new(&X, Span(1_000_000), table, "aero");
        let given = own(&[300, 4000]).expect("it rises");
        let tables = [(300, (1, 1)), (301, (1, 2)), (4000, (1, 2)), (4001, (1, 5))];
        for (fail_bits, pulse) in tables {
            assert_eq!(next(&given, &FRESH, 1, 5, fail_bits), Some(pulse), "{fail_bits}");
        }
        assert!(own(&[300, 300]).unwrap_err().contains("aero.table"));
    }

    #[test]
    fn steps_are_left_while_the_errors_allow_it() {
        let left = [Span(500_000), Span(1_000_000)];
        let table = EraseTiming::new(&X, Span(1_000_000), &[], "aero")
            .and_then(|t| t.leaving(&X, &left, 63))
            .expect("sense");
        let may_leave = |level| table.may_leave(level, FRESH.errors);
        assert_eq!((may_leave(1), may_leave(2), may_leave(5), table.may_leave(5, 16 * 63)), (1, 2, 2, 0));
        assert_eq!(next(&table, &FRESH, 1, 5, 500), None, "one step is left");
        assert_eq!(next(&table, &FRESH, 1, 5, 5500), Some((1, 1)));
        assert_eq!(next(&table, &FRESH, 2, 3, 5500), None, "two steps are left");
        assert_eq!(next(&table, &FRESH, 1, 0, 15_500), Some((2, 2)));
        // Two steps left add 11 errors, one step adds 1.
        for (errors, steps) in [(52, 2), (53, 3), (62, 3), (63, 4)] {
            let worn = BlockView { errors: 16 * errors, ..FRESH };
            assert_eq!(next(&table, &worn, 2, 7, 15_500), Some((2, steps)), "{errors}");
        }
        assert!(
            EraseTiming::new(&X, Span(3_500_000), &[], "aero").is_err()
                && EraseTiming::new(&X, Span(1), &[], "aero").is_err()
        );
        let refused = |left: &[Span]| {
            EraseTiming::new(&X, Span(500_000), &[], "aero").unwrap().leaving(&X, left, 63).is_err()
        };
        assert!(refused(&[]) && refused(&[Span(1)]) && refused(&[Span(1_000_000), Span(500_000)]));
        assert!(refused(&[Span(0); 6]) && refused(&[Span(4_000_000)]));
    }
}
