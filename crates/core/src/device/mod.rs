//! The drive as one state machine.
//!
//! [`Device`] has no clock, thread or I/O: a driver tells it what the host did and when
//! ([`Device::submit`]), lets time pass ([`Device::advance`]) and asks when to come back
//! ([`Device::next_deadline`]).
//!
//! A read goes `host` (queue, controller) → `read` (look-up, one operation a row) →
//! `dispatch` (die, channel, array) → `read` (decoder, host link) → `host` (completion).
//! A write goes `host` → `write` (buffer) → `flush` (write units) → `dispatch`.
//! With parity, `stripe` takes whole or partial stripes to flash instead of `flush`, and
//! `rebuild` reads round collections. `collect` moves and erases, `scrub` reads again
//! what it moved; `wear` moves stripes to colder lanes; `suspend` interrupts programs and erases and resumes them.

mod age;
mod audit;
mod capacity;
mod checks;
pub mod config;
mod counters;
mod diagnosis;
mod drive;
mod facts;
mod gc;
mod host;
mod limits;
pub mod medium;
mod parity;
mod payload;
mod policies;
mod scrub;
mod shape;
mod snapshot;
mod usage;
mod write;

pub use crate::flash::{ChannelTime, FlashCounters, Suspension};
pub use crate::nand::OpKind;
pub use crate::observer::{Closing, Observer, RequestEvent, RequestStep, Step, StepEvent};
pub use crate::observer::{QueueEvent, QueueStep, WriteEvent, WriteStep};
pub use crate::problem::ConfigProblem;
pub use capacity::Capacity;
pub use counters::Counters;
pub use drive::{Device, Gauges, SuspensionWear};
pub use host::commands::{Completion, QueueFull};
pub use medium::{InMemory, Medium, NoData};

pub use age::precondition::{AgeReport, aged_key};
pub use gc::group_time::GroupTime;
pub use shape::Shape;
pub use snapshot::SnapshotError;
pub use usage::Usage;
