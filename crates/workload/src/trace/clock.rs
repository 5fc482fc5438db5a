//! The step of a trace's clock: the largest time of which all times are multiples.

use tailcut_units::Span;
use tailcut_units::quantity::{format_time, human_time};

/// A step from which it is longer than a drive needs for a request, ns.
const COARSE: u64 = 20_000;

/// The times of a trace, in order.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Clock {
    last: Option<u64>,
    /// Greatest common divisor of the times between requests; 0 if all are at one time.
    step: u64,
    requests: u64,
    /// Times at which a request arrives.
    times: u64,
}

impl Clock {
    #[inline]
    pub fn add(&mut self, time: u64) {
        self.requests += 1;
        let gap = time.saturating_sub(self.last.unwrap_or(time));
        if self.last.is_none() || gap > 0 {
            self.times += 1;
        }
        self.last = Some(time);
        if self.step == 0 {
            self.step = gap;
        } else if self.step > 1 && !gap.is_multiple_of(self.step) {
            self.step = divisor(self.step, gap);
        }
    }

    /// The step in ns; `None` if all requests arrive at one time.
    pub fn step(&self) -> Option<u64> {
        (self.step > 0).then_some(self.step)
    }

    /// Requests at each time at which one arrives; 0 without requests.
    pub fn per_time(&self) -> f64 {
        self.requests as f64 / self.times.max(1) as f64
    }

    /// The warning about a clock that is coarser than the times of a drive.
    pub fn warning(&self) -> Option<String> {
        let coarse = self.step >= COARSE && self.per_time() >= 1.5 && self.requests >= 16;
        coarse.then(|| {
            let step = human_time(Span(self.step));
            format!(
                "the clock's step is {step}, far coarser than the times of a drive, and {:.1} requests share each \
                 time: latencies measure the step, since all requests of a step arrive at once; --spread {} spreads \
                 them evenly over it",
                self.per_time(),
                format_time(Span(self.step))
            )
        })
    }
}

fn divisor(mut a: u64, mut b: u64) -> u64 {
    while b > 0 {
        (a, b) = (b, a % b);
    }
    a
}
