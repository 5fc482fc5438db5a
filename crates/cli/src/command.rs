//! The smaller commands, one file each.

pub mod advise;
pub mod check;
pub mod compare;
pub mod demo;
pub mod explain;
pub mod ldpc;
pub mod lifetime;
pub mod manual;
pub mod rain_bound;
pub mod report;
pub mod reproduce;
pub mod serve;
pub mod show;
pub mod sweep;
pub mod trace;
