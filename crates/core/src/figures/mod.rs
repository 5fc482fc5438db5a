//! The figures that a drive reports, under either translation layer: dimensions, capacity, counters, levels, use, wear
//! and failures.

mod ageing;
mod capacity;
mod counters;
mod dimensions;
mod faults;
mod gauges;
mod usage;
mod wear;

pub use ageing::{AgeReport, Until};
pub use capacity::Capacity;
pub use counters::Counters;
pub use dimensions::Dimensions;
pub use faults::{BlockReport, FaultReport, ReadOnly};
pub use gauges::Gauges;
pub use usage::Usage;
pub use wear::{PulseWear, SuspensionWear};
