//! The drive.
//!
//! Rooms, from below to above, with arrows that a test (`house`) holds:
//!
//! - [`address`]: the types of addresses;
//! - [`containers`]: indexed containers that allocate nothing once they are made;
//! - [`nand`]: how long array operations take, where they may stop, and what blocks remember;
//! - [`policy`]: the decisions, one folder a family, one file a policy;
//! - [`flash`]: all dies, channels and decoders with the operations at them: what is done there, in
//!   which order, and when;
//! - [`ftl`]: the tables of the translation layer, without time: addresses, map, extents, write
//!   buffer, stripes;
//! - [`device`]: composes the above into one state machine without clock, thread or I/O, and is the
//!   API that drivers use.
//!
//! `device -> flash -> nand, policy` and `device -> ftl -> policy`. `flash` and `ftl` never see each
//! other: `device` orders operations of the one by the tables of the other, and answers the facts
//! that the flash tells it. [`observer`] names the events that an onlooker is told of, by `flash` and
//! `device`.

#[macro_use]
mod law;

pub mod address;
pub mod containers;
pub mod device;
pub mod flash;
pub mod ftl;
pub mod nand;
pub mod observer;
pub mod policy;
mod problem;
