//! The drive model.
//!
//! The modules, lowest layer first. The test `house` enforces which module may use which:
//!
//! - [`address`]: the types of addresses;
//! - [`containers`]: indexed containers that allocate nothing after construction;
//! - [`nand`]: array operation times, suspend points, and the counts of each block;
//! - [`policy`]: the decisions, one folder for each family, one file for each policy;
//! - [`flash`]: all dies, channels and decoders, and the operations there: which run, in which
//!   order, and when;
//! - [`ftl`]: the tables of the translation layer, without time: addresses, map, extents, write
//!   buffer, stripes;
//! - [`front`]: what stands between the host and a translation layer: commands, the controller, the host link;
//! - [`medium`]: the bytes on flash and in the write buffer, or none;
//! - `overwrites`: the writes that age a drive in zero time, and when write amplification is steady;
//! - [`figures`]: what a drive tells of itself, whichever translation layer it has;
//! - [`device`]: a controller that maps pages; it combines the above into one state machine without clock, thread or I/O;
//! - [`pblk`]: the same of Linux's translation layer on the host, over an open-channel device;
//! - [`drive`]: either of the two, the API that drivers use.
//!
//! The configuration of a whole drive ([`config`]), what may be done to a drive that runs ([`intervention`]) and the format
//! of snapshots stand beside them.
//!
//! `device -> flash -> nand, policy`, `device -> ftl -> policy` and `device -> front`; the same for `pblk`. `flash`, `ftl`
//! and `front` never use each other, nor do `device` and `pblk`: a controller issues operations to `flash` from the tables
//! of `ftl`, and handles the facts that `flash` returns. [`observer`] defines the events that `flash` and the controllers report to
//! an observer.

#[macro_use]
mod law;

pub mod address;
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
