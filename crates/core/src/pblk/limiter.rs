//! The rate limiter: how many slots of the ring users and collection may have, by the number of free chunks.
//!
//! pblk calls a chunk a block. A slot counts for users or for collection until it is reused, not only until it is
//! programmed. In the steady state nearly every slot of the ring counts. Below `high` free chunks users and
//! collection therefore enter in the ratio of their limits at every rate, and users wait for collection too.

use serde::{Deserialize, Serialize};

/// Slots of a window. Limits are multiples of a window.
const WINDOW: u32 = 64;
/// Time after the last write of a user in which collection obeys its limit, ns.
pub const QUIET_NS: u64 = 5_000_000_000;

/// Whether collection runs, and why.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum State {
    /// It does not run.
    Off,
    /// It collects only lines with write errors.
    WriteErrors,
    /// It collects lines for space.
    Low,
}

/// The limits, and the slots that count.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Limiter {
    /// Slots of the ring.
    budget: u32,
    /// With `high` free chunks or more nobody is limited. With `reserve` or fewer no user writes.
    high: u32,
    reserve: u32,
    state: State,
    user_max: u32,
    gc_max: u32,
    user: u32,
    gc: u32,
    /// Collection obeys its limit up to this time, ns.
    limited_until: u64,
}

/// The base-2 logarithm of a number, rounded up.
fn log2_up(n: u32) -> u32 {
    n.next_power_of_two().trailing_zeros()
}

impl Limiter {
    /// The limiter of a ring of `budget` slots. `high` and `reserve` are in chunks.
    pub fn new(budget: u32, high: u32, reserve: u32) -> Limiter {
        Limiter {
            budget,
            high,
            reserve,
            state: State::Off,
            user_max: budget,
            gc_max: 0,
            user: 0,
            gc: 0,
            limited_until: 0,
        }
    }

    /// Set the limits for this number of free chunks. `write_errors`: a closed line has a write error.
    pub fn update(&mut self, free: u32, write_errors: bool) {
        let windows = log2_up(self.budget / WINDOW);
        (self.state, self.user_max) = if free >= self.high {
            match write_errors {
                true => (State::WriteErrors, self.budget - (1 << windows)),
                false => (State::Off, self.budget),
            }
        } else if free > self.reserve {
            let shift = log2_up(self.high).saturating_sub(windows);
            (State::Low, ((free >> shift) * WINDOW).min(self.budget))
        } else {
            (State::Low, 0)
        };
        self.gc_max = self.budget - self.user_max;
    }

    /// Whether collection runs, and why.
    pub fn state(&self) -> State {
        self.state
    }

    /// The limits of users and of collection, in slots.
    pub fn limits(&self) -> (u32, u32) {
        (self.user_max, self.gc_max)
    }

    /// The slots of users and of collection that count.
    pub fn counted(&self) -> (u32, u32) {
        (self.user, self.gc)
    }

    /// Whether a write of a user may enter. The whole write enters, even if it exceeds the limit.
    pub fn admits_user(&self) -> bool {
        self.user < self.user_max
    }

    /// Whether a sector of collection may enter at `now`. Without recent writes of users collection is not limited.
    pub fn admits_gc(&self, now: u64) -> bool {
        self.gc < self.gc_max || now >= self.limited_until
    }

    /// Whether collection is below its limit.
    #[inline]
    pub fn wants_gc(&self) -> bool {
        self.gc < self.gc_max
    }

    /// When collection is no longer limited if no user writes until then.
    pub fn limited_until(&self) -> u64 {
        self.limited_until
    }

    /// Count a write of a user that enters at `now`.
    pub fn user_enters(&mut self, sectors: u32, now: u64) {
        self.user += sectors;
        self.limited_until = now + QUIET_NS;
    }

    /// Count a sector of collection.
    pub fn gc_enters(&mut self) {
        self.gc += 1;
    }

    /// Stop counting slots that are reused.
    pub fn leaves(&mut self, user: u32, gc: u32) {
        self.user -= user;
        self.gc -= gc;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 1,067 lines of 128 chunks with 11 % over-provisioning, and the reserve of Linux 5.2 to 5.14, ten lines.
    fn final_kernel() -> Limiter {
        Limiter::new(8192, 14_625, 1280)
    }

    fn limits(mut l: Limiter, free: u32, errors: bool) -> (State, u32, u32) {
        l.update(free, errors);
        (l.state(), l.limits().0, l.limits().1)
    }

    #[test]
    fn reference_points() {
        let table = [
            (14_625, (State::Off, 8192, 0)),
            (14_624, (State::Low, 7296, 896)),
            (7312, (State::Low, 3648, 4544)),
            (1281, (State::Low, 640, 7552)),
            (1280, (State::Low, 0, 8192)),
        ];
        for (free, expected) in table {
            assert_eq!(limits(final_kernel(), free, false), expected, "{free} chunks are free");
        }
        // Linux 5.1 reserves one line.
        let kernel_5_1 = || Limiter::new(8192, 14_625, 128);
        assert_eq!(limits(kernel_5_1(), 128, false), (State::Low, 0, 8192));
        assert_eq!(limits(kernel_5_1(), 129, false), (State::Low, 64, 8128));
        // If there is space, only lines with write errors are collected, with a limit of 128 slots.
        assert_eq!(limits(final_kernel(), 14_625, true), (State::WriteErrors, 8064, 128));
    }

    /// In the steady state every slot of the ring counts, and writes enter in the ratio of the limits. The free lines
    /// times the write amplification are 128.
    #[test]
    fn free_lines_times_write_amplification_are_constant() {
        for free_lines in [25, 56, 80, 110] {
            let (_, user, _) = limits(final_kernel(), free_lines * 128, false);
            let amplification = 8192.0 / f64::from(user);
            let product = f64::from(free_lines) * amplification;
            assert!((product / 128.0 - 1.0).abs() < 0.03, "{free_lines} lines: {product}");
        }
    }

    #[test]
    fn collection_is_limited_for_five_seconds_after_a_write() {
        let mut l = final_kernel();
        l.update(7312, false);
        l.user_enters(4544, 1_000);
        assert!(!l.admits_user(), "beyond the limit by its own size");
        (0..4544).for_each(|_| l.gc_enters());
        assert!(!l.admits_gc(1_000 + QUIET_NS - 1) && l.admits_gc(1_000 + QUIET_NS));
        assert_eq!(l.counted(), (4544, 4544));
        l.leaves(897, 1);
        assert!(l.admits_user() && l.admits_gc(2_000));
    }
}
