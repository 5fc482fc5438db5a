//! Garbage collection: when it starts, what it moves, what it closes, and when waiting collections
//! continue.

mod audit;
pub(super) mod collect;
mod drain;
pub(super) mod erase;
pub(super) mod gain;
pub(super) mod group_time;
pub(super) mod instant;
mod level;
mod moves;
pub(super) mod pace;
pub(super) mod scope;
pub(super) mod space;
pub(super) mod state;
mod voltage;
pub(super) mod wake;
