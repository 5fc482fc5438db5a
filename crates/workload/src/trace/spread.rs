//! Spreads the requests of one step of a coarse clock evenly over the step.

use super::error::{TraceError, bad};
use super::record::Record;
use std::collections::VecDeque;
use tailcut_units::Stream;

/// The most requests of one step that are held.
const MOST: usize = 1 << 20;

/// The step, and the requests of the one being handed out.
pub(super) struct Spread {
    /// ns.
    step: u64,
    draws: Stream,
    ready: VecDeque<Record>,
    /// The first request after them.
    ahead: Option<Record>,
}

impl Spread {
    pub fn new(step: u64, seed: u64) -> Spread {
        Spread { step, draws: Stream::new(seed, "trace.spread", 0), ready: VecDeque::new(), ahead: None }
    }

    /// The next request, with its time; `next` gives the requests in order of time. The n requests of a
    /// step get one place each in the n equal parts of the step, at random within the part.
    ///
    /// # Errors
    /// Those of `next`, and a step with too many requests.
    pub fn next(
        &mut self,
        mut next: impl FnMut() -> Result<Option<Record>, TraceError>,
    ) -> Result<Option<Record>, TraceError> {
        if let Some(record) = self.ready.pop_front() {
            return Ok(Some(record));
        }
        let Some(first) = self.ahead.take().map_or_else(&mut next, |r| Ok(Some(r)))? else { return Ok(None) };
        let number = first.time / self.step;
        self.ready.push_back(first);
        while let Some(record) = next()? {
            if record.time / self.step != number {
                self.ahead = Some(record);
                break;
            }
            if self.ready.len() == MOST {
                return Err(bad(
                    "spread",
                    format!("{} ns", self.step),
                    "a step with at most 1048576 requests",
                ));
            }
            self.ready.push_back(record);
        }
        let (start, count) = (number * self.step, self.ready.len() as u128);
        for (part, record) in (0u128..).zip(&mut self.ready) {
            let inside = part * u128::from(self.step) + u128::from(self.draws.below(self.step));
            record.time = start + (inside / count) as u64;
        }
        Ok(self.ready.pop_front())
    }
}
