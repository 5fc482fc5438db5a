//! The mechanisms of the translation layer: address arithmetic, the map, extents and
//! their free space, stripes and the write buffer.

pub mod buffer;
pub mod config;
pub mod dirty_stripes;
pub mod extents;
pub mod holes;
pub mod layout;
pub mod map;
pub mod open_row;
pub mod readers;
pub mod slc;
pub mod stripe_places;
pub mod stripes;

pub use layout::Layout;
