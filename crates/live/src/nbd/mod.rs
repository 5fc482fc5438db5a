//! The NBD protocol without sockets: it turns bytes into requests, and replies into bytes.
//!
//! A [`Session`] is one connection. It does not trust the client: every field is checked, and a number from the
//! client never allocates more than a fixed bound. A client that violates the protocol only ends its own session.

mod handshake;
mod session;
mod wire;

pub use session::{Export, ProtocolError, Request, RequestKind, Session};
pub use wire::{Errno, PAYLOAD_MAX};
