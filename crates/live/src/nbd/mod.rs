//! The NBD protocol, without sockets: bytes in, requests out, replies in, bytes out.
//!
//! A [`Session`] is one connection. It trusts nothing that the client sends: every field is checked, and nothing is
//! allocated by a client's number beyond a bound. A client that breaks the protocol ends its own session only.

mod handshake;
mod session;
mod wire;

pub use session::{Export, ProtocolError, Request, RequestKind, Session};
pub use wire::{Errno, PAYLOAD_MAX};
