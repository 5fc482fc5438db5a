//! pblk: Linux's translation layer on the host, over an open-channel device.
//!
//! Without time: how lines lie on the device ([`array`]), how much of it users get ([`provision`]), the states of lines
//! ([`lines`]), the ring ([`ring`]), and who may write into it ([`limiter`]). With time ([`Pblk`]): `interface` is what
//! stands between host and flash, `requests` are those of the host, `writer` programs what is in the ring, `collect` moves
//! valid sectors of lines back into it. `age` makes the aged state.
//!
//! The names are those of its code (Linux 4.12 to 5.14, `drivers/lightnvm`). Versions of the kernel differ in two rules,
//! the size of the ring and the reserve; the default is 5.1, which RAIL is compared with (TOS 18(1), 2022).

mod age;
pub mod array;
mod audit;
mod collect;
pub mod config;
mod drive;
mod failures;
mod interface;
pub mod limiter;
pub mod lines;
mod lost;
mod payload;
pub mod provision;
mod rail;
mod requests;
pub mod ring;
mod shape;
mod snapshot;
mod turns;
mod writer;

pub use drive::Pblk;
pub(crate) use payload::over;
pub use shape::Shape;
