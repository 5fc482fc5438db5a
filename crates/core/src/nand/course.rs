//! The course of one program or erase in the array: its progress, its suspensions and its end.
//!
//! *Nominal* time is the array time of an operation that is never suspended.

use super::config::SuspendLimits;
use super::loops::Loops;
use super::suspend::{Resume, Stop};
use serde::{Deserialize, Serialize};

/// The progress of an operation, and the costs of its last suspension.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Course {
    /// Suspensions so far.
    pub suspends: u32,
    /// Nominal time done, ns, when the operation last entered the array, resumed or was stopped.
    pub done: u64,
    /// When the operation last entered the array or continued, or when its current resume began,
    /// ns.
    pub since: u64,
    /// Nominal time in all, ns.
    pub total: u64,
    /// The loops of this erase, as planned at its start; none for a program.
    pub loops: Loops,
    /// Time from the suspend point until the die is free, ns.
    pub cost: u64,
    /// Cost of resuming.
    pub resume: Resume,
}

impl Course {
    /// The value without an operation.
    pub const NONE: Course = Course::new(0, 0, Loops::NONE);

    /// The course of an operation of `total` ns that enters the array at `since`. `loops` are those
    /// of an erase.
    pub const fn new(since: u64, total: u64, loops: Loops) -> Course {
        let resume = Resume { check: 0, ramp: 0, abort: 0 };
        Course { suspends: 0, done: 0, since, total, loops, cost: 0, resume }
    }

    /// Nominal time done at `at`, ns, while the operation is in the array.
    pub fn progress(&self, at: u64) -> u64 {
        self.done + at - self.since
    }

    /// Nominal time left, ns, while the operation is suspended.
    pub fn left(&self) -> u64 {
        self.total - self.done
    }

    /// Continue the operation at `now`. Returns when it ends.
    pub fn go_on(&mut self, now: u64) -> u64 {
        self.since = now;
        now + self.left()
    }

    /// The earliest time from `now` on at which the operation may begin to stop. `None` if the limits of suspension
    /// allow no further one, or if the operation has ended by then.
    pub fn may_stop_from(&self, now: u64, limits: &SuspendLimits) -> Option<u64> {
        if limits.most.is_some_and(|most| self.suspends >= most) {
            return None;
        }
        let spacing = limits.spacing.filter(|_| self.suspends > 0).map_or(0, |s| s.0);
        let from = now.max(self.since + spacing);
        (self.progress(from) < self.total).then_some(from)
    }

    /// Whether an erase is in its last loop at `at`.
    pub fn is_in_last_loop(&self, at: u64) -> bool {
        self.loops.around(self.progress(at)).is_some_and(|around| around.end == self.total)
    }

    /// Whether the loop of an erase that is under way at `at` has at least `least` ns left.
    pub fn loop_has_left(&self, at: u64, least: u64) -> bool {
        let progress = self.progress(at);
        self.loops.around(progress).is_some_and(|around| around.end - progress >= least)
    }

    /// Whether enough work is left if the operation begins to stop at `from` in the way of `stop`: more than none, and
    /// at least `least` ns. A stop that first finishes a phase or loop may leave too little, or nothing.
    pub fn is_worth(&self, from: u64, stop: &Stop, least: u64) -> bool {
        let left = self.total.saturating_sub(self.progress(from) + stop.after);
        left > 0 && left >= least
    }

    /// Begin to stop at `from` in the way of `stop`. Returns the nominal time that is lost and must be repeated, ns.
    pub fn stops(&mut self, from: u64, stop: &Stop) -> u64 {
        let lost = self.progress(from) + stop.after - stop.keep;
        self.suspends += 1;
        self.done = stop.keep;
        self.cost = stop.cost;
        self.resume = stop.resume;
        lost
    }

    /// Whether an operation that arrives now may cancel the resume.
    pub fn may_cancel_resume(&self, limits: &SuspendLimits) -> bool {
        let spaced = self.suspends > 0 && limits.spacing.is_some_and(|spacing| spacing.0 > 0);
        !spaced && limits.most.is_none_or(|most| self.suspends < most)
    }

    /// Cancel the resume at `now`. Returns its duration so far, ns.
    pub fn cancels_resume(&mut self, now: u64) -> u64 {
        let elapsed = now - self.since;
        self.suspends += 1;
        self.cost = self.resume.cancel(elapsed);
        elapsed
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tailcut_units::Span;

    const FREE: SuspendLimits = SuspendLimits { most: None, spacing: None, least_left: None };

    fn stop(after: u64, keep: u64) -> Stop {
        Stop { after, cost: 3, keep, resume: Resume { check: 2, ramp: 4, abort: 1 } }
    }

    #[test]
    fn what_is_done_and_lost_adds_up() {
        let mut c = Course::new(100, 50, Loops::NONE);
        assert_eq!((c.progress(120), c.may_stop_from(120, &FREE)), (20, Some(120)));
        // The operation continues for 5 ns and is set back to 10: 15 ns are lost.
        assert_eq!(c.stops(120, &stop(5, 10)), 15);
        assert_eq!((c.left(), c.suspends), (40, 1));
        assert_eq!(c.go_on(200), 240);
        assert_eq!(c.may_stop_from(240, &FREE), None, "it is over");
        c.since = 250;
        assert_eq!(c.cancels_resume(253), 3, "in the ramp, after a check of 2");
        assert_eq!((c.cost, c.suspends), (1, 2));
    }

    #[test]
    fn the_last_loop_begins_where_the_one_before_it_ends() {
        let loops = Loops::NONE.with_pulses([20, 10].into_iter());
        let mut c = Course::new(100, loops.total(), loops);
        assert!(!c.is_in_last_loop(119) && c.is_in_last_loop(120) && c.is_in_last_loop(129));
        assert!(c.loop_has_left(115, 5) && !c.loop_has_left(115, 6) && c.loop_has_left(120, 10));
        assert!(!c.loop_has_left(130, 0), "it is over");
        // It resumes 5 ns before the end of the first loop.
        c.stops(115, &stop(0, 15));
        c.go_on(200);
        assert!(!c.is_in_last_loop(204) && c.is_in_last_loop(205));
    }

    #[test]
    fn limits_hold() {
        let mut c = Course::new(0, 50, Loops::NONE);
        let limits = SuspendLimits { most: Some(2), spacing: Some(Span(8)), least_left: None };
        assert_eq!(c.may_stop_from(3, &limits), Some(3), "spacing counts from a suspension");
        assert!(c.is_worth(35, &stop(5, 40), 10) && !c.is_worth(35, &stop(6, 41), 10));
        c.stops(3, &stop(0, 3));
        c.go_on(20);
        assert_eq!(c.may_stop_from(21, &limits), Some(28));
        assert!(!c.may_cancel_resume(&limits) && c.may_cancel_resume(&FREE));
        c.stops(28, &stop(0, 11));
        assert_eq!(c.may_stop_from(60, &limits), None, "two are the most");
    }
}
