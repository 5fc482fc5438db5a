//! All dies, channels and decoders of a drive: what is done there, in which order, and when.
//!
//! The controller above ([`crate::device`]) reserves an operation ([`Flash::order`]), submits it
//! ([`Flash::submit`]), fires the timers that are due ([`Flash::fire`]) and answers what these tell
//! it ([`Fact`]). The flash decides by itself who is next at each die and channel, what joins over
//! planes, and what gives way to what. It knows physical addresses only as numbers that it carries:
//! no logical address, no map, no buffer and no host request.
//!
//! An operation goes through `dispatch` (its die), `transfer` (command and data in on its channel),
//! the array, `events` (sensed, or over) and, for a read, `transfer` again (data out, decoder).
//! `suspend` interrupts programs and erases and resumes them.

mod account;
mod audit;
mod channel;
mod commands;
mod counters;
mod dispatch;
mod events;
mod gates;
mod join;
mod load;
mod observe;
mod op;
mod queue;
mod queues;
mod state;
mod suspend;
mod transfer;
mod unit;
mod usage;

pub use account::{Held, SLOTS};
pub use commands::Met;
pub use counters::{FlashCounters, Suspension};
pub use dispatch::{HostOpEnded, Submitted};
pub use events::Fact;
pub use join::Joins;
pub use op::{FlashCommand, Op, OpId, Owner};
pub use state::{Flash, FlashState, Setup};
pub use unit::HostLoad;
pub use usage::ChannelTime;
