//! A modelled drive on the wall clock: real programs use it as a block device with real data.
//!
//! - [`engine`]: the drive with its data, for requests of any length, without clock and sockets.
//! - [`nbd`]: the NBD protocol, without sockets.
//! - [`fuse`]: the drive as a file. [`port`]: how front ends without sockets send requests to the server's thread.
//! - [`listen`]: addresses and sockets at which clients connect.
//! - [`server`]: one thread that owns a drive and its sockets; the only user of [`clock`].
//! - [`floor`]: the round trip on this machine without a drive.
//! - [`control`]: requests to a running server by HTTP.
//! - [`store`]: the drive's data and the controller's state in files.
//! - [`lateness`]: the lateness of completions.
//!
//! Each event of the drive happens at its own time in the model, however late the thread is. Lateness therefore changes
//! no result of the model. It is added to the latency that the client sees, and it is measured.

pub mod clock;
pub mod control;
pub mod engine;
pub mod floor;
#[cfg(target_os = "linux")]
pub mod fuse;
pub mod lateness;
pub mod listen;
pub mod nbd;
pub mod port;
pub mod server;
pub mod store;

pub use control::{Answer, Asked, Control, ControlAddress, Method};
pub use engine::{Ended, Engine, Event, IntervenedError};
pub use lateness::Lateness;
pub use listen::{Address, ListenError, Listener};
pub use nbd::Export;
pub use port::Port;
pub use server::{ServeOptions, Served, Server};
pub use store::{Keeper, Kept, StoreError, StoreHeader};
