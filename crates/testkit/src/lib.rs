//! Shared by Tailcut's own tests: small drives, harnesses for one device, and oracles.

mod amplification;
pub mod bytes;
mod configs;
pub mod erases;
mod host;
pub mod keys;
mod load;
#[cfg(unix)]
pub mod nbd;
mod network;
mod operations;
pub mod oracle;
pub mod replay;
mod restored;
pub mod rig;
mod shared;
pub mod skew;
mod stage;
pub mod swarm;
mod traces;

pub use amplification::Spare;
pub use configs::{
    cross_check_drive, drive_with_holes, erase_table, errors_table, parity_drive, slc_drive, small_drive,
};
pub use host::{Done, Host};
pub use load::{arrivals, closed_loop};
pub use network::{Flow, Network, Visit};
pub use operations::{Operation, Stretch, operations, waveform};
pub use restored::use_restored;
pub use shared::SharedChannels;
pub use stage::{Played, Stage, one_die};
pub use traces::traces;
