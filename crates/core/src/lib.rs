//! The drive model.
//!
//! The modules, lowest layer first. The test `house` enforces which module may use which:
//!
//! - [`address`]: the types of addresses;
//! - [`containers`]: indexed containers that allocate nothing after construction;
//! - [`nand`]: the physics of the array: times, suspend points, blocks, erases, raw bit errors, faults;
//! - [`policy`]: the decisions, one folder for each family, one file for each policy;
//! - [`array`]: the models of erase pulses and of senses, each with the scheme that acts on it;
//! - [`flash`]: all dies, channels and decoders with their operations: which run, in which order, and when;
//! - [`ftl`]: the tables of the translation layer, without time: addresses, map, extents, write
//!   buffer, stripes;
//! - [`front`]: the parts between the host and a translation layer: commands, the controller, the host link;
//! - [`medium`]: the bytes on flash and in the write buffer, or none;
//! - `overwrites`: the writes that age a drive in zero time, and when write amplification is steady;
//! - [`figures`]: the figures that a drive reports, under either translation layer;
//! - [`device`]: a page-mapping controller; it combines the above into one state machine without clock, thread or I/O;
//! - [`pblk`]: the same for Linux's translation layer on the host, over an open-channel device;
//! - [`drive`]: a drive with either of the two; the API that drivers use.
//!
//! Beside them are the configuration of a whole drive ([`config`]), the changes that are possible in a running drive
//! ([`intervention`]), and the format of snapshots.
//!
//! `device -> flash -> array -> nand, policy`, `device -> ftl -> policy` and `device -> front`; the same for `pblk`. `flash`, `ftl`
//! and `front` never use each other, nor do `device` and `pblk`: a controller issues operations to `flash` from the tables
//! of `ftl`, and handles the facts that `flash` returns. [`observer`] defines the events that `flash` and the controllers report to
//! an observer.

#[macro_use]
mod law;

pub mod address;
pub mod array;
pub mod config;
pub mod containers;
pub mod device;
mod divider;
pub mod drive;
pub mod figures;
pub mod flash;
pub mod front;
pub mod ftl;
pub mod intervention;
pub mod medium;
pub mod nand;
pub mod observer;
mod overwrites;
pub mod pblk;
pub mod policy;
mod problem;
pub mod snapshot;
