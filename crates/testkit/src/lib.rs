//! What Tailcut's own tests share: small drives and a harness around one device.

mod configs;
mod host;

pub use configs::{cross_check_drive, small_drive};
pub use host::{Done, Host};
