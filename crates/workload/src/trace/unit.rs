//! The units of the times of traces.

use super::error::{TraceError, bad};
use serde::{Deserialize, Serialize};
use std::str::FromStr;

/// The unit of a trace's time column.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum TimeUnit {
    /// Nanoseconds.
    #[serde(rename = "ns")]
    Ns,
    /// 100 ns, the tick of a Windows file time.
    #[serde(rename = "100ns")]
    Tick,
    /// Microseconds.
    #[serde(rename = "us")]
    Us,
    /// Milliseconds.
    #[serde(rename = "ms")]
    Ms,
    /// Seconds.
    #[serde(rename = "s")]
    S,
}

impl TimeUnit {
    /// Nanoseconds in one unit.
    pub const fn nanos(self) -> u64 {
        match self {
            TimeUnit::Ns => 1,
            TimeUnit::Tick => 100,
            TimeUnit::Us => 1_000,
            TimeUnit::Ms => 1_000_000,
            TimeUnit::S => 1_000_000_000,
        }
    }

    /// The name used in options and output.
    pub const fn name(self) -> &'static str {
        match self {
            TimeUnit::Ns => "ns",
            TimeUnit::Tick => "100ns",
            TimeUnit::Us => "us",
            TimeUnit::Ms => "ms",
            TimeUnit::S => "s",
        }
    }
}

impl FromStr for TimeUnit {
    type Err = TraceError;
    fn from_str(text: &str) -> Result<TimeUnit, TraceError> {
        [TimeUnit::Ns, TimeUnit::Tick, TimeUnit::Us, TimeUnit::Ms, TimeUnit::S]
            .into_iter()
            .find(|u| u.name() == text)
            .ok_or_else(|| bad("time_unit", text, "ns, 100ns, us, ms or s"))
    }
}
