//! A store of a drive's data in a folder of files, which outlives the process.
//!
//! All changes between two commits are a *turn*. [`FileStore::commit`] writes a whole turn, with its checksum, to one
//! of two turn files in alternation, and then applies it to the files of the flash and of the controller's memory. A
//! process that is killed leaves either a whole turn, which is applied once more when the store is opened, or a part of
//! one, whose changes have been acknowledged to no client; the turn before it is in the other file. The page cache of
//! the operating system stays when a process is killed, so nothing is synchronised to the disk; a loss of power of the
//! host may damage a store.
//!
//! Files, all integers little-endian:
//! - `flash`: the bytes of each unit, by address; sparse;
//! - `oob`: a record of 64 bytes a unit ([`record`]);
//! - `epochs`: u64 an extent, the number of its erases; a record of an older epoch is of an erased unit;
//! - `memory`: what the controller holds, see [`layout`];
//! - `turn.0`, `turn.1`: see [`turn`];
//! - `size`: the dimensions (postcard), and the units of the sequential fill.
//!
//! [`folder`] adds the state of the controller, from which a drive goes on.

pub mod files;
pub mod folder;
mod layout;
mod record;
pub mod scan;
pub mod turn;

pub use files::{FileStore, Kept};
pub use folder::{Keeper, Opened, StoreError, StoreHeader};
pub use turn::Note;
