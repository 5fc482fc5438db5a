//! A modelled drive under the wall clock: real programs use it as a block device with real bytes.
//!
//! - [`engine`]: the drive with its bytes, behind requests of any length. No clock, no socket.
//! - [`nbd`]: the NBD protocol, without sockets.
//! - [`fuse`]: the drive as a file, and [`port`]: how such front ends reach the server's thread.
//! - [`listen`]: where clients connect.
//! - [`server`]: one thread that owns a drive and its sockets; the only user of [`clock`].
//! - [`floor`]: what a round trip takes on this machine without a drive.
//! - [`control`]: questions to a running server, by HTTP.
//! - [`store`]: the drive's data and the controller's state in files.
//! - [`lateness`]: how late completions reach their clients.
//!
//! The drive does what is due at its own time, however late the thread is, so lateness bends no result of the model: it is
//! added to what the client sees, and measured.

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
