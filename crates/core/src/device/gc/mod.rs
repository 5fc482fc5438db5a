//! Garbage collection: when a collection starts, which units it moves, which dies and channels it closes to host
//! operations, and when a waiting collection continues.

mod audit;
pub(super) mod collect;
mod drain;
pub(super) mod duration;
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
