//! A drive: the controller above the flash, as one state machine.
//!
//! [`Device`] has no clock, thread or I/O; only the start of an aged state may use threads, and the reverse map of a
//! very large drive a temporary file as its memory. A driver
//! submits the host's commands with their times ([`Device::submit`]), lets time pass
//! ([`Device::advance`]) and asks when the next timer fires ([`Device::next_deadline`]).
//!
//! A read goes `host::commands` (queue, controller) → `host::read` (look-up, one operation for each
//! row) → [`crate::flash`] (die, channel, array, decoder) → `facts` → `host::read` (host link) →
//! `host::commands` (completion). A write goes `host::commands` → `write::hold` (buffer) →
//! `write::path` (rows: `write_unit`; stripes: `stripe`, `stripe_commit`) → flash. `gc` moves units
//! and erases extents. `parity` rebuilds units, replaces a failed plane and levels wear. `scrub`
//! reads again what collection moved. `age` makes the aged state. `facts` handles all that the
//! flash returns.

mod age;
mod audit;
mod capacity;
mod checks;
mod copies;
mod diagnosis;
mod drive;
mod facts;
mod faults;
mod gc;
mod host;
mod limits;
mod parity;
mod payload;
mod policies;
mod refresh;
mod scrub;
mod shape;
mod slc;
mod snapshot;
mod usage;
mod work;
mod write;

pub use crate::config;
pub use crate::figures::{AgeReport, Capacity, Counters, Gauges, PulseWear, SuspensionWear, Until, Usage};
pub use crate::flash::{ChannelTime, FlashCounters, Suspension};
pub use crate::front::{Completion, SubmitError};
pub use crate::medium::{InMemory, Medium, NoData};
pub use crate::nand::blocks::BlockCounts;
pub use crate::nand::{ErasePart, OpKind};
pub use crate::observer::{Change, Closing, Observer, RequestEvent, RequestStep, RingWait, Step, StepEvent};
pub use crate::observer::{QueueEvent, QueueStep, WriteEvent, WriteStep};
pub use crate::problem::ConfigProblem;
pub use copies::Copies;
pub use drive::Device;
pub(crate) use payload::over;

pub use crate::snapshot::SnapshotError;
pub use age::precondition::{UniformStart, aged_key};
pub use gc::group_time::GroupTime;
pub use shape::Shape;
