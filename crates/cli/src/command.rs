//! The smaller commands, one file each.

pub mod demo;
pub mod explain;
pub mod show;
pub mod trace;
