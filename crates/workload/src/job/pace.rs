//! The due times of requests: one schedule per paced direction.

use super::spec::{Block, JobSpec, Limit};
use tailcut_units::Stream;

const SECOND: u64 = 1_000_000_000;

/// The due times of one direction, exact to the nanosecond over any length: remainders of
/// divisions are carried over to the next request.
#[derive(Clone, Debug)]
pub(super) struct Schedule {
    /// Due time of the next request, in ns.
    pub due: u64,
    step: Step,
}

#[derive(Clone, Debug)]
enum Step {
    /// `whole + part / of` nanoseconds a request.
    Fixed { whole: u64, part: u64, of: u64, carry: u64 },
    /// `bytes / per_second` seconds a request.
    PerByte { per_second: u64, carry: u64 },
    /// Exponential gaps with this mean, in ns.
    Poisson { mean: f64, carry: f64, draws: Stream },
}

impl Schedule {
    /// The schedule of a direction, from `start` (ns); `None` if the direction has no
    /// rate.
    pub fn new(spec: &JobSpec, direction: usize, start: u64, mut draws: Stream) -> Option<Schedule> {
        let limit = spec.limit(direction)?;
        let step = if spec.poisson {
            let mean = SECOND as f64 / spec.paced_iops(direction)?;
            Step::Poisson { mean, carry: 0.0, draws: draws.clone() }
        } else {
            linear(limit, &spec.block[direction])
        };
        let mut schedule = Schedule { due: start, step };
        match &schedule.step {
            // A Poisson process has no event at its start.
            Step::Poisson { .. } => schedule.advance(0),
            Step::Fixed { whole, .. } if spec.random_phase => {
                schedule.due = schedule.due.saturating_add(draws.below(whole + 1));
            }
            _ => {}
        }
        Some(schedule)
    }

    /// Move to the due time of the next request, after a request of `bytes`.
    #[inline]
    pub fn advance(&mut self, bytes: u32) {
        let gap = match &mut self.step {
            Step::Fixed { whole, part, of, carry } => {
                *carry += *part;
                let extra = u64::from(*carry >= *of);
                *carry -= *of * extra;
                *whole + extra
            }
            Step::PerByte { per_second, carry } => {
                // Below 2^60 + 2^50, so nothing overflows.
                let cost = u64::from(bytes) * SECOND + *carry;
                *carry = cost % *per_second;
                cost / *per_second
            }
            Step::Poisson { mean, carry, draws } => {
                let gap = *mean * -libm::log(1.0 - draws.unit()) + *carry;
                let whole = libm::floor(gap);
                *carry = gap - whole;
                whole as u64
            }
        };
        self.due = self.due.saturating_add(gap);
    }
}

fn linear(limit: Limit, block: &Block) -> Step {
    let fixed = |cost: u64, of: u64| Step::Fixed { whole: cost / of, part: cost % of, of, carry: 0 };
    match (limit, block) {
        (Limit::Requests(rate), _) => fixed(SECOND * rate.scale, rate.per_second),
        (Limit::Bytes(per_second), Block::Fixed(bytes)) => fixed(u64::from(*bytes) * SECOND, per_second),
        (Limit::Bytes(per_second), _) => Step::PerByte { per_second, carry: 0 },
    }
}
