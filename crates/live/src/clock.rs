//! The wall clock, as time of the model.

use std::time::{Duration, Instant};
use tailcut_units::SimTime;

/// Maps the wall clock to the time of the model, which runs `speed` times as fast.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    start: Instant,
    /// The time of the model at `start`.
    from: SimTime,
    speed: f64,
}

impl Clock {
    /// A clock that shows `from` now.
    pub fn starting(from: SimTime, speed: f64) -> Clock {
        Clock { start: Instant::now(), from, speed }
    }

    /// The time of the model now.
    #[inline]
    pub fn now(&self) -> SimTime {
        let wall = self.start.elapsed().as_nanos() as u64;
        SimTime(self.from.0 + if self.speed == 1.0 { wall } else { (wall as f64 * self.speed) as u64 })
    }

    /// Seconds of the wall clock since it was started.
    pub fn seconds(&self) -> f64 {
        self.start.elapsed().as_secs_f64()
    }

    /// How long it is by the wall clock until a time of the model; zero if that has passed.
    pub fn until(&self, at: SimTime) -> Duration {
        let model = at.0.saturating_sub(self.now().0);
        Duration::from_nanos(if self.speed == 1.0 {
            model
        } else {
            (model as f64 / self.speed).min(1e18) as u64
        })
    }

    /// A length of the model's time by the wall clock, ns.
    pub fn wall_ns(&self, model: u64) -> u64 {
        if self.speed == 1.0 { model } else { (model as f64 / self.speed) as u64 }
    }
}
