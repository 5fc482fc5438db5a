//! A store of a drive's data in a folder of files, which outlives the process.
//!
//! All changes between two commits are a *turn*. [`FileStore::commit`] writes a whole turn with its checksum
//! alternately to one of two turn files. It then applies the turn to the files of the flash and of the controller's
//! memory. If a process is killed, its last turn file may be complete. The turn is then applied again when the store
//! is opened. If the file is incomplete, none of its changes was acknowledged to a client, and the previous turn is
//! in the other file. The page cache of the operating system survives a killed process, so that nothing is
//! synchronised to the disk. A power loss of the host may damage a store.
//!
//! Files, all integers little-endian:
//! - `flash`: the bytes of each unit, by address; sparse;
//! - `oob`: a record of 64 bytes a unit ([`record`]);
//! - `epochs`: u64 per extent, the number of its erases. A record of an older epoch belongs to an erased unit;
//! - `memory`: the controller's memory, see [`layout`];
//! - `turn.0`, `turn.1`: see [`turn`];
//! - `size`: the dimensions (postcard), and the units of the sequential fill.
//!
//! [`folder`] adds the state of the controller, with which a drive continues.

pub mod files;
pub mod folder;
mod layout;
mod record;
pub mod scan;
pub mod turn;

pub use files::{FileStore, Kept};
pub use folder::{Keeper, Opened, StoreError, StoreHeader};
pub use turn::Note;
