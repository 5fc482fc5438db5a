//! How a trace is read and laid on a drive.

use super::error::{TraceError, bad};
use super::formats::columns::Columns;
use crate::interrupt::Interrupt;
use serde::{Deserialize, Serialize};

pub use super::unit::TimeUnit;

/// The longest step of a clock, ns.
const DAY_NS: u64 = 86_400_000_000_000;

/// How the devices (volumes, address spaces) of a trace share the drive.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum DeviceRule {
    /// The devices get separate parts of the drive, one after another. The devices among
    /// the first 65,536 requests get equal slices (a multiple of 4 KiB), in order of first
    /// appearance. A device first seen later shares the slice numbered by the device's own
    /// order modulo the number of slices.
    #[default]
    Slices,
    /// All devices use the same addresses: the whole drive.
    Overlay,
}

/// How the pages that a trace touches are placed on the drive.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Remap {
    /// At their own address modulo the size of their device's part of the drive: distances
    /// stay, and pages that are far apart may be placed on the same address.
    #[default]
    Modulo,
    /// On a range without holes, in order of device number and address. Touched pages keep
    /// their order and their neighbours, and no two pages share an address if the drive is
    /// large enough. A page is touched if it is read or written.
    Dense,
}

/// Options of reading a trace. The defaults replay the file unchanged, once.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct TraceOptions {
    /// Name of the format; detected from the content if absent.
    pub format: Option<String>,
    /// The columns of a text in a format of the user's own, instead of a named format.
    pub columns: Option<Columns>,
    /// Unit of the time column; the format's own unit if absent.
    pub time_unit: Option<TimeUnit>,
    /// Arrival times are divided by this factor: 10 gives ten times the rate. Finite, above
    /// 0.
    pub rate_scale: f64,
    /// Sizes are multiplied by this factor, rounded up to 512 bytes and limited to 4 GiB -
    /// 512; offsets stay. Exactly 1 leaves sizes unchanged. Finite, above 0.
    pub size_scale: f64,
    /// Laps over the trace, at least 1.
    pub loop_count: u32,
    /// Keep only this many requests of each lap, the first ones after the filters below.
    pub limit: Option<u64>,
    /// Keep only requests from this trace time on (ns since the first record, before
    /// scaling); this time becomes time 0.
    pub start_ns: u64,
    /// Keep only requests before this trace time (ns since the first record, before
    /// scaling).
    pub end_ns: Option<u64>,
    /// Keep only requests of this device of the trace.
    pub device: Option<u32>,
    /// How several devices share the drive.
    pub device_rule: DeviceRule,
    /// A record that is older than the newest by up to this time (ns) is sorted; an older
    /// record is an error.
    pub sort_window_ns: u64,
    /// The most records held for sorting, 1 to 16,777,216.
    pub sort_records: usize,
    /// Ignore arrival times: every request may be issued immediately.
    pub closed_loop: bool,
    /// How addresses are placed on the drive.
    pub remap: Remap,
    /// Times between records that are longer than this, in ns, are shortened to it. Jumps
    /// back of the clock that are longer than this and than the sort window are removed.
    /// All other times (`start_ns`, `end_ns`, the span) are times after these cuts.
    pub skip_gaps_ns: Option<u64>,
    /// Spread the requests of each step of the clock, which is so long (ns), evenly over the step.
    pub spread_ns: Option<u64>,
    /// The seed of the places within a step.
    pub seed: u64,
    /// The interrupt that can stop the reading.
    #[serde(skip)]
    pub interrupt: Interrupt,
}

impl Default for TraceOptions {
    fn default() -> TraceOptions {
        TraceOptions {
            format: None,
            columns: None,
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
            spread_ns: None,
            seed: 1,
            interrupt: Interrupt::default(),
        }
    }
}

impl TraceOptions {
    /// Check all bounds; fails with [`TraceError::Option`].
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
        if let Some(step) = self.spread_ns
            && !(1..=DAY_NS).contains(&step)
        {
            return Err(bad("spread", format!("{step} ns"), "a time above 0, up to a day"));
        }
        if let (Some(format), Some(_)) = (&self.format, &self.columns) {
            return Err(bad("format", format, "nothing beside --columns, which describes the format"));
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
