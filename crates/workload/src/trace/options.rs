//! How a trace is read and laid on a drive.

use super::error::TraceError;
use crate::interrupt::Interrupt;
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

/// How the devices (volumes, address spaces) of a trace share the drive.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum DeviceRule {
    /// One behind another: the devices among the first 65,536 requests, in order of first
    /// appearance, get equal slices of the drive (a multiple of 4 KiB). A device first
    /// seen later shares the slice numbered by its own order modulo their count.
    #[default]
    Slices,
    /// All devices on the same addresses: the whole drive.
    Overlay,
}

/// Where the pages that a trace touches go on the drive.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Remap {
    /// To their own address, modulo the size of their device's part of the drive: distances
    /// stay, and pages that are far apart may meet.
    #[default]
    Modulo,
    /// To a range without holes, in order of device number and address: what is touched
    /// keeps its order and its neighbours, and no two pages meet while the drive is large
    /// enough. A page is touched if it is read or written.
    Dense,
}

/// Options of reading. The defaults replay the file as it is, once.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct TraceOptions {
    /// Name of the format; by content when absent.
    pub format: Option<String>,
    /// Unit of the time column; the format's own when absent.
    pub time_unit: Option<TimeUnit>,
    /// Arrival times are divided by this: 10 is ten times the rate. Finite, above 0.
    pub rate_scale: f64,
    /// Sizes are multiplied by this and rounded up to 512 bytes, held at 4 GiB - 512;
    /// offsets stay. Exactly 1 leaves sizes untouched. Finite, above 0.
    pub size_scale: f64,
    /// Laps over the trace, at least 1.
    pub loop_count: u32,
    /// Only the first so many requests of each lap (after the filters below).
    pub limit: Option<u64>,
    /// Only requests from this trace time (ns since the first record, before scaling);
    /// it becomes time 0.
    pub start_ns: u64,
    /// Only requests before this trace time (ns since the first record, before scaling).
    pub end_ns: Option<u64>,
    /// Only this device of the trace.
    pub device: Option<u32>,
    /// How several devices share the drive.
    pub device_rule: DeviceRule,
    /// Records up to this much older than the newest are sorted in; more is an error.
    pub sort_window_ns: u64,
    /// At most this many records are held for sorting, 1 to 16,777,216.
    pub sort_records: usize,
    /// Ignore arrival times: every request may be issued at once.
    pub closed_loop: bool,
    /// Where addresses go.
    pub remap: Remap,
    /// Times between records that are longer than this, ns, are shortened to it, and jumps
    /// back of the clock beyond it and the sort window are taken out. All other times
    /// (`start_ns`, `end_ns`, the span) are those that this leaves.
    pub skip_gaps_ns: Option<u64>,
    /// Who may stop the reading.
    #[serde(skip)]
    pub interrupt: Interrupt,
}

impl Default for TraceOptions {
    fn default() -> TraceOptions {
        TraceOptions {
            format: None,
            time_unit: None,
            rate_scale: 1.0,
            size_scale: 1.0,
            loop_count: 1,
            limit: None,
            start_ns: 0,
            end_ns: None,
            device: None,
            device_rule: DeviceRule::Slices,
            sort_window_ns: 1_000_000_000,
            sort_records: 65_536,
            closed_loop: false,
            remap: Remap::Modulo,
            skip_gaps_ns: None,
            interrupt: Interrupt::default(),
        }
    }
}

impl TraceOptions {
    /// A text that differs where the requests read differ.
    pub fn identity(&self) -> String {
        format!("{:?}", TraceOptions { interrupt: Interrupt::default(), ..self.clone() })
    }

    /// Fails with [`TraceError::Option`] on a value outside its bounds.
    pub fn check(&self) -> Result<(), TraceError> {
        for (option, value) in [("rate_scale", self.rate_scale), ("size_scale", self.size_scale)] {
            if !(value.is_finite() && value > 0.0) {
                return Err(bad(option, value, "a finite number above 0"));
            }
        }
        if self.loop_count == 0 {
            return Err(bad("loop", 0, "1 or more"));
        }
        if self.limit == Some(0) {
            return Err(bad("limit", 0, "1 or more"));
        }
        if self.skip_gaps_ns == Some(0) {
            return Err(bad("skip_gaps", 0, "a time above 0"));
        }
        if self.end_ns.is_some_and(|end| end <= self.start_ns) {
            return Err(bad("end_ns", self.end_ns.unwrap_or(0), "a time after start_ns"));
        }
        if !(1..=1 << 24).contains(&self.sort_records) {
            return Err(bad("sort_records", self.sort_records, "1 to 16777216"));
        }
        Ok(())
    }
}

/// An option error.
pub(crate) fn bad(option: &'static str, value: impl ToString, allowed: &'static str) -> TraceError {
    TraceError::Option { option, value: value.to_string(), allowed }
}
