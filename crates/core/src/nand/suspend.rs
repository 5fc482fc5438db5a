//! The suspension of an operation in the array: where it may stop, what stopping and resuming cost, and which work is
//! lost. A policy decides whether to stop.

use super::loops::Loops;
use super::timing::{Phase, Timing};
use std::ops::Range;

/// The way in which an operation stops at a point of its nominal time. All values are in ns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stop {
    /// Time for which the operation continues first.
    pub after: u64,
    /// Time from then until the die is free.
    pub cost: u64,
    /// The point of the nominal time at which the operation resumes. If this is the end, nothing is left to resume, and
    /// the operation is not stopped.
    pub keep: u64,
    /// Cost of resuming, before the array continues.
    pub resume: Resume,
}

/// The cost of resuming: two steps, one after the other, in ns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Resume {
    /// Time of a verify, or of the reload of a page register. Cancelling this step costs nothing.
    pub check: u64,
    /// Time to raise the voltage. Cancelling this step costs `abort`.
    pub ramp: u64,
    /// Cost of aborting the ramp.
    pub abort: u64,
}

impl Resume {
    /// Time of both steps.
    pub fn total(self) -> u64 {
        self.check + self.ramp
    }

    /// Cost of cancelling the resume after `elapsed` nanoseconds.
    pub fn cancel(self, elapsed: u64) -> u64 {
        if elapsed <= self.check { 0 } else { self.abort }
    }
}

impl Timing {
    /// Stop an erase at once and later resume the exact remainder (ES of Wu and He). A recovery
    /// under way is finished first, because it frees the die by itself. A ramp-up or a verify is
    /// cancelled and repeated.
    pub fn erase_stop_exactly(&self, loops: &Loops, at: u64) -> Stop {
        let s = &self.suspend.erase;
        match self.erase_phase(loops, at) {
            Some((Phase::EraseRampUp, _)) if loops.start(at) == at => stop(at),
            Some((Phase::EraseRampUp, _)) => Stop { cost: s.suspend.0, ..stop(loops.start(at)) },
            Some((Phase::EraseExecution, _)) => {
                Stop { cost: s.suspend.0, resume: self.erase_ramp(), ..stop(at) }
            }
            Some((Phase::EraseRecovery, end)) => Stop { after: end - at, ..stop(end) },
            Some((_, end)) => stop(end - self.erase_verify()),
            None => stop(at),
        }
    }

    /// Stop an erase at once, at no cost (the ideal of ATC'19).
    pub fn erase_stop_free(&self, at: u64) -> Stop {
        stop(at)
    }

    /// Cancel the loop under way, verify before resuming and repeat the loop (I-ES). A
    /// recovery under way is finished first.
    pub fn erase_cancel_loop(&self, loops: &Loops, at: u64) -> Stop {
        let s = &self.suspend.erase;
        let keep = loops.start(at);
        if keep == at {
            return stop(at);
        }
        let resume = Resume { check: s.verify.0, ramp: s.resume.0, abort: s.suspend.0 };
        match self.erase_phase(loops, at) {
            Some((Phase::EraseRecovery, end)) => Stop { after: 0, cost: end - at, keep, resume },
            Some((Phase::EraseVerify, _)) => Stop { after: 0, cost: 0, keep, resume },
            _ => Stop { after: 0, cost: s.suspend.0, keep, resume },
        }
    }

    /// Finish the loop under way (D-ES): no cost, nothing lost. `since` is the point at which the
    /// erase last resumed; a loop that starts there is already under way.
    pub fn erase_end_loop(&self, loops: &Loops, at: u64, since: u64) -> Stop {
        let Some(Range { start, end }) = loops.around(at) else { return stop(at) };
        if start == at && at != since {
            return stop(at);
        }
        Stop { after: end - at, ..stop(end) }
    }

    /// Finish the phase of a program that is under way (IPS).
    pub fn program_end_phase(&self, page: u32, at: u64) -> Stop {
        let keep = match self.program_phase(page, at) {
            Some((_, end)) if self.phase_start(page, at) != at => end,
            _ => at,
        };
        Stop { after: keep - at, resume: self.reload(), ..stop(keep) }
    }

    /// Cancel the phase of a program that is under way, and repeat it later (IPC).
    pub fn program_cancel_phase(&self, page: u32, at: u64) -> Stop {
        let keep = self.phase_start(page, at);
        let cost = if keep == at { 0 } else { self.suspend.program.suspend.0 };
        Stop { cost, resume: self.reload(), ..stop(keep) }
    }

    fn erase_ramp(&self) -> Resume {
        let s = &self.suspend.erase;
        Resume { check: 0, ramp: s.resume.0, abort: s.suspend.0 }
    }

    fn reload(&self) -> Resume {
        Resume { check: self.suspend.program.reload.0, ramp: 0, abort: 0 }
    }
}

/// Stop at `keep` at once: no cost, nothing lost.
fn stop(keep: u64) -> Stop {
    Stop { after: 0, cost: 0, keep, resume: Resume::default() }
}

#[cfg(test)]
mod tests {
    use super::super::timing::tests::timing;
    use super::*;

    /// Loops of 10 ns: ramp-up 1, execution 6, recovery 1, verify 2.
    #[test]
    fn an_erase_stops_by_phase() {
        let t = timing();
        let ramp = Resume { check: 0, ramp: 4, abort: 3 };
        let again = Resume { check: 2, ramp: 4, abort: 3 };
        // At the start of a loop there is nothing to lose.
        for at in [0, 10] {
            assert_eq!(t.erase_stop_exactly(&t.loops, at), stop(at));
            assert_eq!(t.erase_cancel_loop(&t.loops, at), stop(at));
        }
        assert_eq!(t.erase_end_loop(&t.loops, 10, 0), stop(10));
        assert_eq!(t.erase_end_loop(&t.loops, 10, 10), Stop { after: 10, ..stop(20) });
        assert_eq!(t.erase_stop_exactly(&t.loops, 14), Stop { after: 0, cost: 3, keep: 14, resume: ramp });
        assert_eq!(t.erase_cancel_loop(&t.loops, 14), Stop { after: 0, cost: 3, keep: 10, resume: again });
        assert_eq!(t.erase_end_loop(&t.loops, 14, 0), Stop { after: 6, ..stop(20) });
        // Recovery: 17..18. Verify: 18..20.
        assert_eq!(t.erase_stop_exactly(&t.loops, 17), Stop { after: 1, ..stop(18) });
        assert_eq!(t.erase_cancel_loop(&t.loops, 17), Stop { after: 0, cost: 1, keep: 10, resume: again });
        assert_eq!(t.erase_stop_exactly(&t.loops, 19), stop(18));
        assert_eq!(t.erase_cancel_loop(&t.loops, 19), Stop { after: 0, cost: 0, keep: 10, resume: again });
        assert_eq!(t.erase_stop_free(19), stop(19));
    }

    /// Pulse 8, verify 2; a reload takes 1, a cancel 5.
    #[test]
    fn a_program_stops_by_phase() {
        let t = timing();
        let resume = Resume { check: 1, ramp: 0, abort: 0 };
        assert_eq!(t.program_end_phase(0, 3), Stop { after: 5, cost: 0, keep: 8, resume });
        assert_eq!(t.program_end_phase(0, 8), Stop { after: 0, cost: 0, keep: 8, resume });
        assert_eq!(t.program_end_phase(0, 9), Stop { after: 1, cost: 0, keep: 10, resume });
        assert_eq!(t.program_cancel_phase(0, 3), Stop { after: 0, cost: 5, keep: 0, resume });
        assert_eq!(t.program_cancel_phase(0, 9), Stop { after: 0, cost: 5, keep: 8, resume });
        assert_eq!(t.program_cancel_phase(0, 10), Stop { after: 0, cost: 0, keep: 10, resume });
    }

    #[test]
    fn cancelling_a_resume_costs_only_in_the_ramp() {
        let r = Resume { check: 2, ramp: 4, abort: 3 };
        assert_eq!([r.cancel(0), r.cancel(2), r.cancel(3)], [0, 0, 3]);
    }
}
