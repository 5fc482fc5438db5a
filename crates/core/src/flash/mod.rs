//! All dies, channels and decoders of a drive, with their operations. The flash decides which operations run, in which
//! order, and when.
//!
//! The controller above ([`crate::device`]) reserves an operation ([`Flash::order`]), submits it
//! ([`Flash::submit`]), fires the timers that are due ([`Flash::fire`]) and handles the facts that
//! they return ([`Fact`]). The flash alone decides which operation is next at each die and channel,
//! which operations join over planes, and which operations are suspended for others. It carries
//! physical addresses and computes nothing with them. It knows no logical address, map, buffer or
//! host request.
//!
//! An operation goes through `dispatch` (its die), `transfer` (command and data in on its channel),
//! the array, `events` (sensed, or ended) and, for a read, `transfer` again (data out, decoder).
//! `suspend` interrupts programs and erases and resumes them.

mod account;
mod ahead;
mod attempts;
mod audit;
mod cache;
mod channel;
mod commands;
mod counters;
mod decode;
mod dispatch;
mod erase;
mod events;
mod failures;
mod gates;
mod join;
mod load;
mod observe;
mod op;
mod plain;
mod plane_reads;
mod queue;
mod queues;
mod senses;
pub mod setup;
mod state;
mod suspend;
mod transfer;
mod unit;
mod usage;
mod voltage;

pub use crate::array::senses::{SenseTotals, Senses};
pub use account::{DieTimes, SLOTS};
pub use commands::Met;
pub use counters::{FlashCounters, Suspension};
pub use dispatch::{HostOpEnded, Submitted};
pub use events::Fact;
pub use join::Joins;
pub(crate) use op::owners;
pub use op::{CopyTo, FlashCommand, Op, OpId, Owner, Target};
pub use state::{Flash, FlashState, Setup};
pub use unit::HostLoad;
pub use usage::ChannelTime;
