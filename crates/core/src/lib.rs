//! The drive.
//!
//! Four rooms, with arrows that a test holds:
//!
//! - [`nand`]: what dies, channels and ECC engines do and how long it takes;
//! - [`policy`]: the decisions, one folder a family, one file a policy;
//! - [`ftl`]: the mechanisms of the translation layer (mapping, extents, buffer,
//!   collection bookkeeping, ageing);
//! - [`device`]: composes the above into one state machine without clock, thread
//!   or I/O, and is the API that drivers use.
//!
//! `nand` and `ftl` never see each other; `device` carries operations between them.

#[macro_use]
mod law;

pub mod containers;
pub mod device;
pub mod flash;
pub mod ftl;
pub mod nand;
pub mod observer;
pub mod policy;
mod problem;
