//! The flash driven alone: no map, no buffer, no host. Every number is worked out by hand from
//! the times in `parts`.

mod asks;
mod driver;
mod gates;
mod join;
mod laws;
mod parts;
mod schedule;
mod suspension;
mod timing;
mod watch;
