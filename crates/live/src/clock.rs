//! Maps the wall clock to the time of the model.

use std::time::{Duration, Instant};
use tailcut_units::SimTime;

/// The wall clock in time of the model, which runs `speed` times as fast as the wall clock.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    /// When the clock was first started.
    first: Instant,
    start: Instant,
    /// The time of the model at `start`.
    from: SimTime,
    speed: f64,
}

impl Clock {
    /// A clock that shows `from` now.
    pub fn starting(from: SimTime, speed: f64) -> Clock {
        let start = Instant::now();
        Clock { first: start, start, from, speed }
    }

    /// Continue from now at another speed.
    pub fn change_speed(&mut self, speed: f64) {
        let now = Instant::now();
        *self = Clock { first: self.first, start: now, from: self.at(now), speed };
    }

    /// Speed of the model's time relative to the clock.
    pub fn speed(&self) -> f64 {
        self.speed
    }

    /// The time of the model now.
    #[inline]
    pub fn now(&self) -> SimTime {
        self.at(Instant::now())
    }

    #[inline]
    fn at(&self, now: Instant) -> SimTime {
        let wall = now.duration_since(self.start).as_nanos() as u64;
        let model = if self.speed == 1.0 { wall } else { (wall as f64 * self.speed) as u64 };
        SimTime(self.from.0.saturating_add(model))
    }

    /// Seconds of the wall clock since it was first started.
    pub fn seconds(&self) -> f64 {
        self.first.elapsed().as_secs_f64()
    }

    /// Wall-clock time until a time of the model; zero if that time has passed.
    pub fn until(&self, at: SimTime) -> Duration {
        let model = at.0.saturating_sub(self.now().0);
        Duration::from_nanos(if self.speed == 1.0 {
            model
        } else {
            (model as f64 / self.speed).min(1e18) as u64
        })
    }

    /// Convert a duration of the model to the wall clock, ns.
    pub fn wall_ns(&self, model: u64) -> u64 {
        if self.speed == 1.0 { model } else { (model as f64 / self.speed) as u64 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_stops_at_the_end_of_time() {
        assert_eq!(Clock::starting(SimTime(u64::MAX - 1), 1e6).now(), SimTime::NEVER);
    }
}
