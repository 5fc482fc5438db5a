//! Measures a table.

use super::{Row, Table, Weights};
use crate::channel::Errors;
use crate::code::{CODE_SEED, Code};
use crate::decoder::{Factor, Method, Schedule, Settings};
use crate::measure::{Job, Tally, WeightSums, measure};
use crate::sensing::Sensing;

/// What a table is measured with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// Seed of the code.
    pub code_seed: u64,
    /// Seed of the error patterns.
    pub seed: u64,
    /// Schedule of the decoder.
    pub schedule: Schedule,
    /// Factor of the decoder.
    pub factor: Factor,
    /// Largest number of iterations.
    pub iterations: u8,
    /// Rows: the number of errors, and frames.
    pub rows: Vec<(u32, u32)>,
}

impl Plan {
    /// The plan of the shipped table.
    ///
    /// Below 216 errors no frame fails, and the iterations vary little. Most frames are in the waterfall,
    /// from 216 to 360 errors, where the failure rate goes from below 0.001 to 1.
    pub fn shipped() -> Plan {
        let below = (0..216).step_by(8).map(|errors| (errors, 1000));
        let waterfall = (216..=360).step_by(4).map(|errors| (errors, 6000));
        let above = (376..=568).step_by(16).map(|errors| (errors, 300));
        Plan {
            code_seed: CODE_SEED,
            seed: 1,
            schedule: Schedule::Flooding,
            factor: Factor::DEFAULT,
            iterations: Settings::DEFAULT.iterations,
            rows: below.chain(waterfall).chain(above).collect(),
        }
    }

    /// Number of frames in all rows.
    pub fn frames(&self) -> u64 {
        self.rows.iter().map(|&(_, frames)| u64::from(frames)).sum()
    }
}

impl Table {
    /// Measure the rows of a plan on `threads` threads. The result does not depend on their number.
    ///
    /// `progress` is called with the number of frames that are newly done, and returns whether to go on.
    /// `None` if it ever said no.
    pub fn measure(plan: &Plan, threads: usize, progress: &(dyn Fn(u64) -> bool + Sync)) -> Option<Table> {
        let code = Code::new(plan.code_seed);
        let method = Method::MinSum { schedule: plan.schedule, factor: plan.factor };
        let row = |&(errors, frames): &(u32, u32)| {
            let job = Job {
                seed: plan.seed,
                settings: Settings { method, iterations: plan.iterations },
                errors: Errors::Exactly(errors),
                sensing: Sensing::hard(),
                frames: u64::from(frames),
            };
            Some(Row::new(errors, frames, &measure(&code, &job, threads, progress)?))
        };
        Some(Table {
            code_seed: plan.code_seed,
            seed: plan.seed,
            schedule: plan.schedule,
            factor: plan.factor,
            iterations: plan.iterations,
            rows: plan.rows.iter().map(row).collect::<Option<_>>()?,
        })
    }

    /// The plan that gives this table.
    pub fn plan(&self) -> Plan {
        Plan {
            code_seed: self.code_seed,
            seed: self.seed,
            schedule: self.schedule,
            factor: self.factor,
            iterations: self.iterations,
            rows: self.rows.iter().map(|row| (row.errors, row.frames)).collect(),
        }
    }
}

impl Row {
    /// A row of `frames` frames; a tally counts no more of anything.
    fn new(errors: u32, frames: u32, tally: &Tally) -> Row {
        Row {
            errors,
            frames,
            failed: tally.failed as u32,
            all: Weights::new(&tally.all, tally.frames),
            first: Weights::new(&tally.first, tally.frames),
            decoded_in: tally.decoded_in.iter().map(|&count| count as u32).collect(),
        }
    }

    /// Share of the frames that failed.
    pub fn failure_rate(&self) -> f64 {
        f64::from(self.failed) / f64::from(self.frames)
    }

    /// Mean iterations of decoded frames; 0 if there are none.
    pub fn mean_iterations(&self) -> f64 {
        let sum: u64 =
            self.decoded_in.iter().enumerate().map(|(i, &count)| i as u64 * u64::from(count)).sum();
        sum as f64 / f64::from((self.frames - self.failed).max(1))
    }
}

impl Weights {
    /// In integers, so that a table has the same bytes on every machine.
    fn new(sums: &WeightSums, frames: u64) -> Weights {
        let n = u128::from(frames);
        let (sum, squares) = (u128::from(sums.sum), u128::from(sums.squares));
        // The variance times the square of the number of frames.
        let scaled = n * squares - sum * sum;
        Weights {
            mean: ((200 * sum + n) / (2 * n)) as u32,
            deviation: (scaled * 10_000 / (n * n)).isqrt() as u32,
        }
    }
}
