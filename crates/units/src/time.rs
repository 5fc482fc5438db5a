//! Virtual time in integer nanoseconds.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::ops::{Add, AddAssign, Sub};

/// A point in virtual time: nanoseconds since the run began.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct SimTime(pub u64);

/// A length of virtual time in nanoseconds. `SimTime - SimTime = Span`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Span(pub u64);

impl SimTime {
    /// The start of every run.
    pub const ZERO: SimTime = SimTime(0);
    /// Later than any event: "no deadline".
    pub const NEVER: SimTime = SimTime(u64::MAX);
    /// The latest time of an event from outside, 146 years. Two such times can be added without overflow.
    pub const LATEST: SimTime = SimTime((1 << 62) - 1);
}

impl Span {
    /// No time at all.
    pub const ZERO: Span = Span(0);

    /// The time that a payload takes on a link: `bytes / bytes_per_second`, rounded up once to
    /// whole nanoseconds. A rate of `u64::MAX` is an infinitely fast link.
    pub fn transfer(bytes: u64, bytes_per_second: u64) -> Span {
        if bytes_per_second == u64::MAX {
            return Span::ZERO;
        }
        let ns = (u128::from(bytes) * 1_000_000_000).div_ceil(u128::from(bytes_per_second));
        Span(u64::try_from(ns).unwrap_or(u64::MAX))
    }
}

impl Add<Span> for SimTime {
    type Output = SimTime;
    fn add(self, rhs: Span) -> SimTime {
        SimTime(self.0 + rhs.0)
    }
}

impl AddAssign<Span> for SimTime {
    fn add_assign(&mut self, rhs: Span) {
        self.0 += rhs.0;
    }
}

impl Sub for SimTime {
    type Output = Span;
    fn sub(self, rhs: SimTime) -> Span {
        debug_assert!(self.0 >= rhs.0, "time ran backwards: {self} - {rhs}");
        Span(self.0 - rhs.0)
    }
}

impl Add for Span {
    type Output = Span;
    fn add(self, rhs: Span) -> Span {
        Span(self.0 + rhs.0)
    }
}

impl AddAssign for Span {
    fn add_assign(&mut self, rhs: Span) {
        self.0 += rhs.0;
    }
}

impl fmt::Display for SimTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ns", self.0)
    }
}

impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ns", self.0)
    }
}
