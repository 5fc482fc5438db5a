//! Quantities with units: `"100us"`, `"16KiB"`, `"7%"`, `"1.2GB/s"`.
//!
//! [`time`], [`times`], [`time_or_times`], [`maybe_time`], [`time_limit`], [`count_limit`], [`bytes`],
//! [`maybe_bytes`], [`fraction`], [`maybe_fraction`], [`maybe_rate`], [`maybe_ratio`], [`rate`] and [`power`] are for
//! `#[serde(with = "quantity::…")]`; [`Level`] is a type of its own. The `parse_*` functions read
//! what the `format_*` functions write, to the last bit, and fit clap's value parsers. The
//! `human_*` functions round values for display: capacities and lengths in binary units, rates in
//! decimal units, as is usual in the field.
//!
//! A bare number is always refused, since a reader could not tell microseconds from nanoseconds.

mod decimal;
mod error;
mod human;
mod level;
mod limit;
mod share;
mod size;
mod span;
#[cfg(test)]
mod tests;
mod watt;
mod with;

pub use error::{Kind, QuantityError};
pub use human::{human_bytes, human_rate, human_time};
pub use level::{Level, parse_level};
pub use limit::{count_limit, time_limit};
pub use share::{format_fraction, parse_fraction, parse_ratio};
pub use size::{format_bytes, format_rate, parse_bytes, parse_rate};
pub use span::{format_time, parse_time};
pub use watt::{format_power, parse_power};
pub use with::{
    bytes, fraction, maybe_bytes, maybe_fraction, maybe_rate, maybe_ratio, maybe_time, power, rate, ratio,
    time, time_or_times, times,
};
