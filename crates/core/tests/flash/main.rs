//! Tests of the flash alone, without map, buffer and host. Every expected number is computed by
//! hand from the times in `parts`.

mod asks;
mod cache;
mod channel;
mod driver;
mod erase;
mod gates;
mod join;
mod laws;
mod parts;
mod plane_reads;
mod schedule;
mod senses;
mod suspension;
mod timing;
mod watch;
