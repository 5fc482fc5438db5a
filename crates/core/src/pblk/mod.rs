//! pblk: Linux's translation layer on the host, over an open-channel device.
//!
//! Parts without time: the layout of lines on the device ([`array`]), capacity and metadata ([`provision`]), the
//! states of lines ([`lines`]), the ring ([`ring`]), and the rate limiter ([`limiter`]). Parts with time ([`Pblk`]):
//! `interface` is the path between host and flash, `requests` handles the commands of the host, `writer` programs the
//! sectors of the ring, and `collect` moves valid sectors of victims back into the ring. `age` ages a drive.
//!
//! Names are those of the kernel's code (Linux 4.12 to 5.14, `drivers/lightnvm`). Kernel versions differ in two
//! rules, the size of the ring and the reserve. The default is 5.1, the version to which the authors of RAIL compare
//! it (TOS 18(1), 2022).

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
