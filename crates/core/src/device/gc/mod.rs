//! Garbage collection: when a collection starts, which units it moves, which dies and channels it closes to host
//! operations, and when a waiting collection continues.
//!
//! A lane has at most one collection at a time. The collection moves the valid units out of one victim extent (a
//! block, superblock or line: `ftl.extent`) and erases it. In these files a *unit* is a mapping unit, a *row* is
//! what one program writes, a *write unit* is the data of a row, and a *busy unit* is a die or a plane.
//!
//! Read `collect` first: it has the steps of a collection. The other files:
//!
//! - `moves`, `erase` and `voltage`: the flash operations of a collection. `drain`: the erase waits for reads.
//! - `scope`, `space` and `wake`: when a collection blocks the host, yields to it, and continues.
//! - `level`: victims for wear levelling. `gain`: lanes whose collections free nothing. `instant`: collections in zero
//!   time.
//! - `duration`: predicted times for read paths. `pace` and `group_time`: totals.

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
